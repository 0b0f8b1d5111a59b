package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultSecrets(t *testing.T) {
	kindtest.TestDefaults(t, "secrets", []kindtest.Row{
		{"type", `{}`, "type", `"Opaque"`},
		{"stringData", `{"stringData":{"a":"text"}}`, "data", `{"a":"dGV4dA=="}`},
		{"stringData overrides data", `{"stringData":{"a":"text"},"data":{"a":"eA==","b":"eA=="}}`, "data", `{"a":"dGV4dA==","b":"eA=="}`},
		{"stringData is removed", `{"stringData":{"a":"text"}}`, "stringData", ``},
	})
}

func TestValidateSecrets(t *testing.T) {
	update := `"metadata":{"name":"a","namespace":"n"}`
	kindtest.TestValidation(t, "secrets", []kindtest.ValidationRow{
		{"opaque", "", `{"data":{"a":"YQ=="}}`, ""},
		{"service account token", "", `{"type":"kubernetes.io/service-account-token"}`, "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
		{"dockercfg", "", `{"type":"kubernetes.io/dockercfg"}`, "data[.dockercfg]: Required value"},
		{"dockercfg with invalid JSON", "", `{"type":"kubernetes.io/dockercfg","data":{".dockercfg":"YQ=="}}`, `data[.dockercfg]: Invalid value: "<secret contents redacted>": invalid character 'a' looking for beginning of value`},
		{"dockerconfigjson", "", `{"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"e30="}}`, ""},
		{"basic auth", "", `{"type":"kubernetes.io/basic-auth"}`, "[data[username]: Required value, data[password]: Required value]"},
		{"basic auth with username", "", `{"type":"kubernetes.io/basic-auth","data":{"username":""}}`, ""},
		{"ssh", "", `{"type":"kubernetes.io/ssh-auth","data":{"ssh-privatekey":""}}`, "data[ssh-privatekey]: Required value"},
		{"tls", "", `{"type":"kubernetes.io/tls","data":{"tls.key":""}}`, "data[tls.crt]: Required value"},
		{"changed type", `{"type":"a"}`, `{` + update + `,"type":"b"}`, `type: Invalid value: "b": field is immutable`},
		{"immutable bytes become null", `{"immutable":true,"data":{"a":""}}`, `{` + update + `,"immutable":true,"data":{"a":null}}`, "data: Forbidden: " + immutableDetail},
		{"changed immutable data", `{"immutable":true,"data":{"a":"YQ=="}}`, `{` + update + `,"immutable":true}`, "data: Forbidden: " + immutableDetail},
	})
	typ := kindtest.TypeOf(t, "secrets")
	assert.Equal(t, []string{"tls: failed to find any PEM data in certificate input"}, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{"type":"kubernetes.io/tls"}`), object.View{}))
	assert.Empty(t, typ.WarningsOnWrite(kindtest.Decode(t, typ, `{}`), object.View{}))
}

// What kube-apiserver stores for null bytes is not what it stores for the empty bytes that it reads.
func TestReadBackNilBytes(t *testing.T) {
	for name, field := range map[string]string{"secrets": "data", "configmaps": "binaryData"} {
		typ := kindtest.TypeOf(t, name)
		data := map[string]any{"a": nil, "b": "eA=="}
		obj := map[string]any{field: data}
		assert.True(t, typ.ReadBack(obj), name)
		assert.Equal(t, map[string]any{"a": "", "b": "eA=="}, obj[field], name)
		assert.Equal(t, map[string]any{"a": nil, "b": "eA=="}, data, "values that others may share")
		assert.False(t, typ.ReadBack(obj), name)
	}
}
