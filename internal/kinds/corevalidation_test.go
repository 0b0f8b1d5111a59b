package kinds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	notQuota    = "must be a standard resource for quota"
	standard    = "must be a standard resource type or fully qualified"
	sealedField = "field is immutable when `immutable` is set"
)

func TestValidateConfigMaps(t *testing.T) {
	testVerdicts(t, "configmaps", []verdict{
		{"valid", "", `{"data":{"a":"b"},"binaryData":{"c":"ZA=="}}`, ""},
		{"a key twice", "", `{"data":{"a":"b"},"binaryData":{"a":"ZA=="}}`, `data[a]: Invalid value: "a": duplicate of key present in binaryData`},
		{"a key that is a directory", "", `{"data":{"..":"b"}}`, `data[..]: Invalid value: "..": must not be '..'`},
		{"too long", "", `{"data":{"a":"` + strings.Repeat("x", maxSecret+1) + `"}}`, ": Too long: may not be more than 1048576 bytes"},
		{"sealed", `{"metadata":{"name":"a","resourceVersion":"1"},"immutable":true,"data":{"a":"b"}}`, `{"metadata":{"name":"a","namespace":"n","resourceVersion":"1"},"data":{"a":"c"},"binaryData":{"b":"ZA=="}}`,
			"[immutable: Forbidden: " + sealedField + ", data: Forbidden: " + sealedField + ", binaryData: Forbidden: " + sealedField + "]"},
		{"sealed and the same", `{"immutable":true,"data":{}}`, `{"metadata":{"name":"a","namespace":"n"},"immutable":true}`, ""},
	})
}

func TestValidateSecrets(t *testing.T) {
	update := `"metadata":{"name":"a","namespace":"n"}`
	testVerdicts(t, "secrets", []verdict{
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
	typ := typeOf(t, "secrets")
	assert.Equal(t, []string{"tls: failed to find any PEM data in certificate input"}, typ.Warn(decoded(t, typ, `{"type":"kubernetes.io/tls"}`), nil))
	assert.Empty(t, typ.Warn(decoded(t, typ, `{}`), nil))
}

func TestValidateNamespaces(t *testing.T) {
	const form = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	testVerdicts(t, "namespaces", []verdict{
		{"valid", "", `{}`, ""},
		{"unqualified", "", `{"spec":{"finalizers":["a"]}}`, `spec.finalizers: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified`},
		{"no name", "", `{"spec":{"finalizers":["a/b/c"]}}`, `spec.finalizers: Invalid value: "a/b/c": ` + form},
	})
	assert.Equal(t, `spec.finalizers[1]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified`,
		ValidateFinalize(map[string]any{"spec": map[string]any{"finalizers": []any{"kubernetes", "a"}}}).Message())
	testStatusVerdicts(t, "namespaces", []verdict{
		{"alive", `{}`, `{"status":{"phase":"Terminating"}}`, "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"},
		{"going", `{}`, `{"metadata":{"deletionTimestamp":"2024-01-02T03:04:05Z"},"status":{"phase":"Active"}}`, "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"},
	})
}

func TestValidateLimitRanges(t *testing.T) {
	limits := func(item string) string { return `{"spec":{"limits":[` + item + `]}}` }
	testVerdicts(t, "limitranges", []verdict{
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
	testVerdicts(t, "resourcequotas", []verdict{
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
	typ := typeOf(t, "resourcequotas")
	obj := decoded(t, typ, `{"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}}`)
	assert.Equal(t, []string{"ResourceQuota cpu (2) should be less than limits.cpu (1)"}, typ.Warn(obj, nil))
	assert.Empty(t, typ.Warn(obj, obj))
}

func TestValidateNodes(t *testing.T) {
	update := func(rest string) string { return `{"metadata":{"name":"a"},` + rest + `}` }
	testVerdicts(t, "nodes", []verdict{
		{"valid", "", `{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]},"status":{"capacity":{"cpu":"1"}}}`, ""},
		{"taints", "", `{"spec":{"taints":[{"key":"a","value":"-","effect":"No"},{"key":"a","effect":"No"}]}}`,
			`[metadata.taints[0].value: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), ` +
				`metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute", metadata.taints[1].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute", ` +
				`metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"No","TimeAdded":null}: taints must be unique by key and effect pair]`},
		{"capacity", "", `{"status":{"capacity":{"pods":"100m"}}}`, `[status.capacity.pods: Invalid value: "100m": must be an integer, status.allocatable.pods: Invalid value: "100m": must be an integer]`},
		{"networks", "", `{"spec":{"podCIDRs":["10.0.0.0/24","10.0.1.0/24"]}}`, `spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family`},
		{"features", "", `{"status":{"declaredFeatures":["B","A","A","a"]}}`, `[status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically, status.declaredFeatures[2]: Duplicate value: "A", ` +
			`status.declaredFeatures[3]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes]`},
		{"swap", "", `{"status":{"nodeInfo":{"swap":{"capacity":0}}}}`, "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"},
		{"assigned once", `{"metadata":{"name":"a"},"spec":{"podCIDR":"10.0.0.0/24","providerID":"p","externalID":"e"}}`, update(`"spec":{"providerID":"q"}`),
			`[spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid, spec.providerID: Forbidden: node updates may not change providerID except from "" to valid, spec.externalID: Forbidden: may not be updated]`},
	})
	testStatusVerdicts(t, "nodes", []verdict{
		{"an address twice", `{}`, `{"status":{"addresses":[{"type":"t","address":"a"},{"type":"t","address":"a"}]}}`, `status.addresses[1]: Duplicate value: {"Type":"t","Address":"a"}`},
	})
	typ := typeOf(t, "nodes")
	assert.Equal(t, []string{"spec.externalID: this field is deprecated, and is unused by Kubernetes"}, typ.Warn(decoded(t, typ, `{"spec":{"externalID":"e"}}`), nil))
}

func TestValidateEndpoints(t *testing.T) {
	testVerdicts(t, "endpoints", []verdict{
		{"valid", "", `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`, ""},
		{"empty", "", `{"subsets":[{}]}`, "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
		{"addresses", "", `{"subsets":[{"addresses":[{"ip":"0.0.0.0"},{"ip":"127.0.0.1"},{"ip":"fe80::1"},{"ip":"224.0.0.1"}],"notReadyAddresses":[{"ip":"a"}]}]}`,
			`[subsets[0].addresses[0].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0), subsets[0].addresses[1].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128), ` +
				`subsets[0].addresses[2].ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10), subsets[0].addresses[3].ip: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10), ` +
				`subsets[0].notReadyAddresses[0].ip: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), subsets[0].notReadyAddresses[0].ip: Invalid value: "a": must be a valid IP address]`},
		{"ports", "", `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":0,"protocol":"X"},{"name":"b","port":1}]}]}`,
			`[subsets[0].ports[0].name: Required value, subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"]`},
		{"once valid", `{"metadata":{"name":"a","namespace":"n"},"subsets":[{}]}`, `{"metadata":{"name":"a","namespace":"n"},"subsets":[{}]}`, ""},
	})
	typ := typeOf(t, "endpoints")
	odd := `"subsets":[{"addresses":[{"ip":"FD00::1"}]}]`
	assert.Equal(t, []string{`subsets[0].addresses[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")`}, typ.Warn(decoded(t, typ, `{`+odd+`}`), nil))
	assert.Empty(t, typ.Warn(decoded(t, typ, `{"metadata":{"labels":{"endpoints.kubernetes.io/managed-by":"endpoint-controller"}},`+odd+`}`), nil))
}

func TestValidateEvents(t *testing.T) {
	timed := `"metadata":{"name":"a","namespace":"n"},"eventTime":"2024-01-02T03:04:05.000000Z","involvedObject":{"namespace":"n"}`
	testVerdicts(t, "events", []verdict{
		{"old form", "", `{"metadata":{"namespace":"n"},"involvedObject":{"namespace":"n"}}`, ""},
		{"old form of the cluster", "", `{"metadata":{"namespace":"default"},"involvedObject":{}}`, ""},
		{"elsewhere", "", `{"metadata":{"namespace":"n"},"involvedObject":{"namespace":"o"}}`, `involvedObject.namespace: Invalid value: "o": does not match event.namespace`},
		{"new form", "", `{` + timed + `,"reportingComponent":"c","reportingInstance":"i","action":"a","reason":"r"}`, ""},
		{"new form without anything", "", `{` + timed + `}`, "[reportingComponent: Required value, reportingComponent: Invalid value: \"\": name part must be non-empty, reportingComponent: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), reportingInstance: Required value, action: Required value, reason: Required value]"},
		{"new form at length", "", `{` + timed + `,"reportingComponent":"c","reportingInstance":"i","action":"` + strings.Repeat("a", 129) + `","reason":"r","message":"` + strings.Repeat("a", 1025) + `"}`, `[action: Invalid value: "": can have at most 128 characters, message: Invalid value: "": can have at most 1024 characters]`},
	})
}
