package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/core"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

const (
	notQuota    = "must be a standard resource for quota"
	standard    = "must be a standard resource type or fully qualified"
	sealedField = "field is immutable when `immutable` is set"
)

func TestValidateConfigMaps(t *testing.T) {
	kindtest.TestValidation(t, "configmaps", []kindtest.ValidationRow{
		{"valid", "", `{"data":{"a":"b"},"binaryData":{"c":"ZA=="}}`, ""},
		{"a key twice", "", `{"data":{"a":"b"},"binaryData":{"a":"ZA=="}}`, `data[a]: Invalid value: "a": duplicate of key present in binaryData`},
		{"a key that is a directory", "", `{"data":{"..":"b"}}`, `data[..]: Invalid value: "..": must not be '..'`},
		{"too long", "", `{"data":{"a":"` + strings.Repeat("x", 1<<20+1) + `"}}`, ": Too long: may not be more than 1048576 bytes"},
		{"sealed", `{"metadata":{"name":"a","resourceVersion":"1"},"immutable":true,"data":{"a":"b"}}`, `{"metadata":{"name":"a","namespace":"n","resourceVersion":"1"},"data":{"a":"c"},"binaryData":{"b":"ZA=="}}`,
			"[immutable: Forbidden: " + sealedField + ", data: Forbidden: " + sealedField + ", binaryData: Forbidden: " + sealedField + "]"},
		{"sealed and the same", `{"immutable":true,"data":{}}`, `{"metadata":{"name":"a","namespace":"n"},"immutable":true}`, ""},
	})
}

func TestValidateSecrets(t *testing.T) {
	update := `"metadata":{"name":"a","namespace":"n"}`
	kindtest.TestValidation(t, "secrets", []kindtest.ValidationRow{
		{"opaque", "", `{"data":{"a":"YQ=="}}`, ""},
		{"token", "", `{"type":"kubernetes.io/service-account-token"}`, "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
		{"dockercfg", "", `{"type":"kubernetes.io/dockercfg"}`, "data[.dockercfg]: Required value"},
		{"dockercfg that is no JSON", "", `{"type":"kubernetes.io/dockercfg","data":{".dockercfg":"YQ=="}}`, `data[.dockercfg]: Invalid value: "<secret contents redacted>": invalid character 'a' looking for beginning of value`},
		{"dockerconfigjson", "", `{"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"e30="}}`, ""},
		{"basic auth", "", `{"type":"kubernetes.io/basic-auth"}`, "[data[username]: Required value, data[password]: Required value]"},
		{"basic auth by name", "", `{"type":"kubernetes.io/basic-auth","data":{"username":""}}`, ""},
		{"ssh", "", `{"type":"kubernetes.io/ssh-auth","data":{"ssh-privatekey":""}}`, "data[ssh-privatekey]: Required value"},
		{"tls", "", `{"type":"kubernetes.io/tls","data":{"tls.key":""}}`, "data[tls.crt]: Required value"},
		{"another type", `{"type":"a"}`, `{` + update + `,"type":"b"}`, `type: Invalid value: "b": field is immutable`},
		{"sealed", `{"immutable":true,"data":{"a":"YQ=="}}`, `{` + update + `,"immutable":true}`, "data: Forbidden: " + sealedField},
	})
	typ := kindtest.TypeOf(t, "secrets")
	assert.Equal(t, []string{"tls: failed to find any PEM data in certificate input"}, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{"type":"kubernetes.io/tls"}`), nil))
	assert.Empty(t, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{}`), nil))
}

func TestValidateNamespaces(t *testing.T) {
	const form = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	kindtest.TestValidation(t, "namespaces", []kindtest.ValidationRow{
		{"valid", "", `{}`, ""},
		{"unqualified", "", `{"spec":{"finalizers":["a"]}}`, `spec.finalizers: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified`},
		{"no name", "", `{"spec":{"finalizers":["a/b/c"]}}`, `spec.finalizers: Invalid value: "a/b/c": ` + form},
	})
	assert.Equal(t, `spec.finalizers[1]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified`,
		core.ValidateFinalize(map[string]any{"spec": map[string]any{"finalizers": []any{"kubernetes", "a"}}}).Message())
	kindtest.TestStatusValidation(t, "namespaces", []kindtest.ValidationRow{
		{"alive", `{}`, `{"status":{"phase":"Terminating"}}`, "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"},
		{"going", `{}`, `{"metadata":{"deletionTimestamp":"2024-01-02T03:04:05Z"},"status":{"phase":"Active"}}`, "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"},
	})
}

func TestValidateLimitRanges(t *testing.T) {
	limits := func(item string) string { return `{"spec":{"limits":[` + item + `]}}` }
	kindtest.TestValidation(t, "limitranges", []kindtest.ValidationRow{
		{"valid", "", limits(`{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"2"}}`), ""},
		{"a type twice", "", limits(`{"type":"Pod"},{"type":"Pod"}`), `spec.limits[1].type: Duplicate value: "Pod"`},
		{"a type unknown", "", limits(`{"type":"Node"}`), `spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified`},
		{"a resource unknown", "", limits(`{"type":"Pod","max":{"a":"1"}}`), `[spec.limits[0].max[a]: Invalid value: "a": ` + standard + `, spec.limits[0].max[a]: Invalid value: "a": must be a standard resource for containers]`},
		{"defaults of pods", "", limits(`{"type":"Pod","default":{"cpu":"1"},"defaultRequest":{"cpu":"1"}}`), "[spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod', spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod']"},
		{"claims", "", limits(`{"type":"PersistentVolumeClaim"}`), "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"},
		{"min above max", "", limits(`{"type":"Pod","max":{"cpu":"1"},"min":{"cpu":"2"}}`), `spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`},
		{"ratio below one", "", limits(`{"type":"Pod","maxLimitRequestRatio":{"cpu":"500m"}}`), `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`},
		{"ratio out of reach", "", limits(`{"type":"Pod","max":{"cpu":"2"},"min":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"3"}}`), `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`},
		{"huge pages", "", limits(`{"type":"Container","default":{"hugepages-2Mi":"4Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}}`), `spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "2Mi": default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi`},
	})
}

func TestValidateQuotas(t *testing.T) {
	kindtest.TestValidation(t, "resourcequotas", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"hard":{"pods":"1","count/a.b":"2"},"scopes":["BestEffort"]}}`, ""},
		{"unknown", "", `{"spec":{"hard":{"a":"1","storage":"1"}}}`, `[spec.hard[a]: Invalid value: "a": ` + standard + `, spec.hard[a]: Invalid value: "a": ` + notQuota + `, spec.hard[storage]: Invalid value: "storage": ` + notQuota + `]`},
		{"quantities", "", `{"spec":{"hard":{"pods":"1500m","cpu":"-1"}}}`, `[spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0, spec.hard[pods]: Invalid value: "1500m": must be an integer]`},
		{"scopes", "", `{"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort","NotBestEffort"]}}`, `[spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: unsupported scope applied to resource, spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes]`},
		{"selector", "", `{"spec":{"scopeSelector":{"matchExpressions":[{"scopeName":"Odd","operator":"In"},{"scopeName":"PriorityClass","operator":"Exists","values":["a"]},{"scopeName":"Terminating","operator":"Is"}]}}}`,
			"[spec.scopeSelector.matchExpressions.scopeName: Invalid value: \"Odd\": unsupported scope, spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector, " +
				"spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector, " +
				"spec.scopeSelector.matchExpressions.operator: Invalid value: \"Is\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity, " +
				"spec.scopeSelector.matchExpressions.operator: Invalid value: \"Is\": not a valid selector operator]"},
		{"other scopes", `{"spec":{"scopes":["BestEffort"]}}`, `{"spec":{}}`, "spec.scopes: Invalid value: null: field is immutable"},
	})
	typ := kindtest.TypeOf(t, "resourcequotas")
	obj := kindtest.Decode(t, typ, `{"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}}`)
	assert.Equal(t, []string{"ResourceQuota cpu (2) should be less than limits.cpu (1)"}, typ.WarningsOnWrite(obj, nil))
	assert.Empty(t, typ.WarningsOnWrite(obj, obj))
}
