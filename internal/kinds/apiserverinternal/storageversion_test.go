package apiserverinternal_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateStorageVersions(t *testing.T) {
	status := func(members string) string { return `{"status":{` + members + `}}` }
	const server = `{"apiServerID":"a","encodingVersion":"g.io/v1","decodableVersions":["g.io/v1","v2"],"servedVersions":["v2"]}`
	kindtest.TestStatusValidation(t, "storageversions.internal.apiserver.k8s.io", []kindtest.ValidationRow{
		{"valid", `{}`, status(`"commonEncodingVersion":"g.io/v1","storageVersions":[` + server + `]`), ""},
		{"no servers", `{}`, status(`"commonEncodingVersion":"v1"`), `status.commonEncodingVersion: Invalid value: "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet`},
		{"missing common version", `{}`, status(`"storageVersions":[` + server + `]`), `status.commonEncodingVersion: Invalid value: null: the common encoding version is g.io/v1`},
		{"other common version", `{}`, status(`"commonEncodingVersion":"v1","storageVersions":[` + server + `]`), `status.commonEncodingVersion: Invalid value: "v1": the actual common encoding version is g.io/v1`},
		{"no version", `{}`, status(`"commonEncodingVersion":"v1","storageVersions":[{"apiServerID":"a","decodableVersions":["v1"]}]`), `[status.storageVersions[0].encodingVersion: Invalid value: "": version part: must be non-empty, status.storageVersions[0].decodableVersions: Invalid value: ["v1"]: decodableVersions must include encodingVersion , status.commonEncodingVersion: Invalid value: "v1": the actual common encoding version is ]`},
		{"duplicate server", `{}`, status(`"commonEncodingVersion":"g.io/v1","storageVersions":[` + server + `,` + server + `]`), `status.storageVersions[1].apiServerID: Duplicate value: "a"`},
		{"servers differ", `{}`, status(`"storageVersions":[` + server + `,{"apiServerID":"b","encodingVersion":"v3","decodableVersions":["v3"]}]`), ""},
		{"versions", `{}`, status(`"commonEncodingVersion":"V1","storageVersions":[{"apiServerID":"a","encodingVersion":"V1","decodableVersions":["/v1"],"servedVersions":["a/b/c"]}]`), `[status.storageVersions[0].encodingVersion: Invalid value: "V1": version part: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'), status.storageVersions[0].decodableVersions[0]: Invalid value: "/v1": group part: must be non-empty, status.storageVersions[0].decodableVersions: Invalid value: ["/v1"]: decodableVersions must include encodingVersion V1, status.storageVersions[0].servedVersions[0]: Invalid value: "a/b/c": an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion'), status.storageVersions[0].servedVersions[0]: Invalid value: "a/b/c": individual served version : a/b/c must be included in decodableVersions : [/v1]]`},
		{"conditions", `{}`, status(`"conditions":[{"type":"a","status":"b","reason":"c","message":"d"},{"type":"a","status":"b"}]`), `[status[1].type: Invalid value: "a": the type of the condition is not unique, it also appears in conditions[0], status[1].reason: Required value, status[1].message: Required value]`},
	})
}
