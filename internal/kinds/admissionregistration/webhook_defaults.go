package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
)

func defaultValidatingWebhooks(obj map[string]any) {
	for webhook := range object.Each(obj["webhooks"]) {
		defaultWebhook(webhook)
	}
}

func defaultMutatingWebhooks(obj map[string]any) {
	for webhook := range object.Each(obj["webhooks"]) {
		defaultWebhook(webhook)
		object.SetDefault(webhook, "reinvocationPolicy", "Never")
	}
}

func defaultWebhook(webhook map[string]any) {
	object.SetDefault(webhook, "failurePolicy", "Fail")
	object.SetDefault(webhook, "matchPolicy", "Equivalent")
	object.EnsureMap(webhook, "namespaceSelector")
	object.EnsureMap(webhook, "objectSelector")
	object.SetDefault(webhook, "timeoutSeconds", int64(10))
	kind.DefaultServiceReference(object.Map(webhook, "clientConfig", "service"))
	defaultScope(webhook["rules"])
}
