package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDefaultDefinition(t *testing.T) {
	testDefaults(t, "customresourcedefinitions.apiextensions.k8s.io", []row{
		{"names", `{"spec":{"names":{"kind":"Widget","plural":"widgets"}}}`, "spec.names", `{"kind":"Widget","listKind":"WidgetList","plural":"widgets","singular":"widget"}`},
		{"conversion", `{}`, "spec.conversion", `{"strategy":"None"}`},
		{"webhook", `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"s","namespace":"n"}}}}}}`, "spec.conversion.webhook.clientConfig.service.port", `443`},
	})
}

func TestWarnDefinition(t *testing.T) {
	typ := typeOf(t, "customresourcedefinitions.apiextensions.k8s.io")
	definition := func(schema string) map[string]any {
		return decoded(t, typ, `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":`+schema+`}},{"name":"v2","schema":{"openAPIV3Schema":`+schema+`}},{"name":"v3"}]}}`)
	}
	formats := definition(`{"format":"date","properties":{"a":{"type":"string","format":"nope"},"b":{"type":"integer","format":"date","allOf":[{"format":"int32"}]},"c":{"type":"array","items":{"type":"number","format":"float"}}}}`)
	assert.Equal(t, []string{`unrecognized format "nope"`, `unrecognized format "date"`, `unrecognized format "int32"`}, warnDefinition(formats, nil))
	assert.Equal(t, []string{`unrecognized format "date"`, `unrecognized format "int32"`}, warnDefinition(formats, definition(`{"format":"nope"}`)))
	assert.Empty(t, warnDefinition(formats, formats))
}

func TestStoredVersions(t *testing.T) {
	versions := func(stored string) string {
		return `{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","storage":` + stored + `},{"name":"v2","storage":true}]}}`
	}
	testCreates(t, "customresourcedefinitions.apiextensions.k8s.io", []row{
		{"stored", versions("true"), "status.storedVersions", `["v1"]`},
		{"not its author's", `{"status":{"storedVersions":["v9"]},` + versions("false")[1:], "status.storedVersions", `["v2"]`},
	})
	testUpdates(t, "customresourcedefinitions.apiextensions.k8s.io", []change{
		{"another", versions("true"), versions("false"), "status.storedVersions", `["v1","v2"]`},
		{"the same", versions("true"), versions("true"), "status.storedVersions", `["v1"]`},
	})
}

func TestAPIServices(t *testing.T) {
	const name = "apiservices.apiregistration.k8s.io"
	testDefaults(t, name, []row{{"port", `{"spec":{"service":{"name":"s"}}}`, "spec.service.port", `443`}})
	testCreates(t, name, []row{
		{"local", `{}`, "status.conditions.0.reason", `"Local"`},
		{"remote", `{"spec":{"service":{"name":"s"}}}`, "status", `{}`},
	})
}

func TestValidateAPIServices(t *testing.T) {
	spec := func(members string) string {
		return `{"metadata":{"name":"v1.g.io"},"spec":{"group":"g.io","version":"v1","groupPriorityMinimum":1,"versionPriority":1` + members + `}}`
	}
	testVerdicts(t, "apiservices.apiregistration.k8s.io", []verdict{
		{"local", "", spec(``), ""},
		{"remote", "", spec(`,"service":{"name":"a","namespace":"b"},"caBundle":"YQ=="`), ""},
		{"local with trust", "", spec(`,"caBundle":"YQ==","insecureSkipTLSVerify":true`), `[spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle, spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify]`},
		{"remote with both", "", spec(`,"service":{"port":-1},"caBundle":"YQ==","insecureSkipTLSVerify":true`), `[spec.service.namespace: Required value, spec.service.name: Required value, spec.service.port: Invalid value: -1: port is not valid: must be between 1 and 65535, inclusive, spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present]`},
		{"prefix of a name", "", `{"metadata":{"generateName":"a","name":"v1.g.io"},"spec":{"group":"g.io","version":"v1","groupPriorityMinimum":1,"versionPriority":1}}`, "metadata.generateName: Invalid value: \"a\": must be `spec.version+\".\"+spec.group`: \"v1.g.io\""},
		{"empty", "", `{"metadata":{"name":"."}}`, "[metadata.name: Invalid value: \".\": may not be '.', spec.group: Required value: only v1 may have an empty group and it better be legacy kube, spec.version: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'), spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000, spec.versionPriority: Invalid value: 0: must be positive and less than 1000]"},
		{"name", "", `{"metadata":{"name":"a"},"spec":{"version":"v1","groupPriorityMinimum":20001,"versionPriority":1001}}`, "[metadata.name: Invalid value: \"a\": must be `spec.version+\".\"+spec.group`: \"v1.\", spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000, spec.versionPriority: Invalid value: 1001: must be positive and less than 1000]"},
	})
	testStatusVerdicts(t, "apiservices.apiregistration.k8s.io", []verdict{
		{"condition", `{}`, `{"status":{"conditions":[{"type":"a","status":"b"}]}}`, `status.conditions[0].status: Unsupported value: "b": supported values: "True", "False", "Unknown"`},
	})
}

func TestValidateStorageVersions(t *testing.T) {
	status := func(members string) string { return `{"status":{` + members + `}}` }
	const server = `{"apiServerID":"a","encodingVersion":"g.io/v1","decodableVersions":["g.io/v1","v2"],"servedVersions":["v2"]}`
	testStatusVerdicts(t, "storageversions.internal.apiserver.k8s.io", []verdict{
		{"valid", `{}`, status(`"commonEncodingVersion":"g.io/v1","storageVersions":[` + server + `]`), ""},
		{"none", `{}`, status(`"commonEncodingVersion":"v1"`), `status.commonEncodingVersion: Invalid value: "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet`},
		{"untold", `{}`, status(`"storageVersions":[` + server + `]`), `status.commonEncodingVersion: Invalid value: null: the common encoding version is g.io/v1`},
		{"another", `{}`, status(`"commonEncodingVersion":"v1","storageVersions":[` + server + `]`), `status.commonEncodingVersion: Invalid value: "v1": the actual common encoding version is g.io/v1`},
		{"twice", `{}`, status(`"commonEncodingVersion":"g.io/v1","storageVersions":[` + server + `,` + server + `]`), `status.storageVersions[1].apiServerID: Duplicate value: "a"`},
		{"no agreement", `{}`, status(`"storageVersions":[` + server + `,{"apiServerID":"b","encodingVersion":"v3","decodableVersions":["v3"]}]`), ""},
		{"versions", `{}`, status(`"commonEncodingVersion":"V1","storageVersions":[{"apiServerID":"a","encodingVersion":"V1","decodableVersions":["/v1"],"servedVersions":["a/b/c"]}]`), `[status.storageVersions[0].encodingVersion: Invalid value: "V1": version part: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'), status.storageVersions[0].decodableVersions[0]: Invalid value: "/v1": group part: must be non-empty, status.storageVersions[0].decodableVersions: Invalid value: ["/v1"]: decodableVersions must include encodingVersion V1, status.storageVersions[0].servedVersions[0]: Invalid value: "a/b/c": an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion'), status.storageVersions[0].servedVersions[0]: Invalid value: "a/b/c": individual served version : a/b/c must be included in decodableVersions : [/v1]]`},
		{"conditions", `{}`, status(`"conditions":[{"type":"a","status":"b","reason":"c","message":"d"},{"type":"a","status":"b"}]`), `[status[1].type: Invalid value: "a": the type of the condition is not unique, it also appears in conditions[0], status[1].reason: Required value, status[1].message: Required value]`},
	})
}
