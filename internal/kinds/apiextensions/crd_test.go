package apiextensions_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultDefinition(t *testing.T) {
	kindtest.TestDefaults(t, "customresourcedefinitions.apiextensions.k8s.io", []kindtest.Row{
		{"names", `{"spec":{"names":{"kind":"Widget","plural":"widgets"}}}`, "spec.names", `{"kind":"Widget","listKind":"WidgetList","plural":"widgets","singular":"widget"}`},
		{"conversion", `{}`, "spec.conversion", `{"strategy":"None"}`},
		{"webhook", `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"s","namespace":"n"}}}}}}`, "spec.conversion.webhook.clientConfig.service.port", `443`},
	})
}

func TestWarnDefinition(t *testing.T) {
	typ := kindtest.TypeOf(t, "customresourcedefinitions.apiextensions.k8s.io")
	definition := func(schema string) map[string]any {
		return kindtest.Decode(t, typ, `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":`+schema+`}},{"name":"v2","schema":{"openAPIV3Schema":`+schema+`}},{"name":"v3"}]}}`)
	}
	formats := definition(`{"format":"date","properties":{"a":{"type":"string","format":"nope"},"b":{"type":"integer","format":"date","allOf":[{"format":"int32"}]},"c":{"type":"array","items":{"type":"number","format":"float"}}}}`)
	assert.Equal(t, []string{`unrecognized format "nope"`, `unrecognized format "date"`, `unrecognized format "int32"`}, typ.WarningsOnWrite(formats, object.View{}))
	assert.Equal(t, []string{`unrecognized format "date"`, `unrecognized format "int32"`}, typ.WarningsOnWrite(formats, object.ViewOf(definition(`{"format":"nope"}`))))
	assert.Empty(t, typ.WarningsOnWrite(formats, object.ViewOf(formats)))
}

func TestStoredVersions(t *testing.T) {
	versions := func(stored string) string {
		return `{"spec":{"names":{"kind":"K"},"versions":[{"name":"v1","storage":` + stored + `},{"name":"v2","storage":true}]}}`
	}
	kindtest.TestCreates(t, "customresourcedefinitions.apiextensions.k8s.io", []kindtest.Row{
		{"storage version", versions("true"), "status.storedVersions", `["v1"]`},
		{"status is reset", `{"status":{"storedVersions":["v9"]},` + versions("false")[1:], "status.storedVersions", `["v2"]`},
	})
	kindtest.TestUpdates(t, "customresourcedefinitions.apiextensions.k8s.io", []kindtest.Change{
		{"new storage version", versions("true"), versions("false"), "status.storedVersions", `["v1","v2"]`},
		{"same storage version", versions("true"), versions("true"), "status.storedVersions", `["v1"]`},
	})
}
