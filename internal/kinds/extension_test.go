package kinds

import "testing"

func TestDefaultDefinition(t *testing.T) {
	testDefaults(t, "customresourcedefinitions.apiextensions.k8s.io", []row{
		{"names", `{"spec":{"names":{"kind":"Widget","plural":"widgets"}}}`, "spec.names", `{"kind":"Widget","listKind":"WidgetList","plural":"widgets","singular":"widget"}`},
		{"conversion", `{}`, "spec.conversion", `{"strategy":"None"}`},
		{"webhook", `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"s","namespace":"n"}}}}}}`, "spec.conversion.webhook.clientConfig.service.port", `443`},
	})
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
