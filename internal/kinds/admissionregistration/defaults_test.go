package admissionregistration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultAdmission(t *testing.T) {
	const group = ".admissionregistration.k8s.io"
	for _, kind := range []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"} {
		kindtest.TestDefaults(t, kind+group, []kindtest.Row{
			{kind + " fail", `{}`, "spec.failurePolicy", `"Fail"`},
			{kind + " match", `{"spec":{"matchConstraints":{"resourceRules":[{}],"excludeResourceRules":[{"scope":"Cluster"}]}}}`, "spec.matchConstraints", `{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[{"scope":"*"}],"excludeResourceRules":[{"scope":"Cluster"}]}`},
		})
	}
	kindtest.TestDefaults(t, "validatingadmissionpolicybindings"+group, []kindtest.Row{
		{"no matchResources", `{}`, "spec.matchResources", ``},
		{"matchResources", `{"spec":{"matchResources":{}}}`, "spec.matchResources", `{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{}}`},
		{"parameters", `{"spec":{"paramRef":{"name":"p"}}}`, "spec.paramRef", `{"name":"p"}`},
	})
	const service = `{"webhooks":[{"name":"w","clientConfig":{"service":{"name":"s","namespace":"n"}}}]}`
	kindtest.TestDefaults(t, "validatingwebhookconfigurations"+group, []kindtest.Row{
		{"webhook", service, "webhooks.0", `{"name":"w","admissionReviewVersions":null,"sideEffects":null,"clientConfig":{"service":{"name":"s","namespace":"n","port":443}},"failurePolicy":"Fail","matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"timeoutSeconds":10}`},
	})
	kindtest.TestDefaults(t, "mutatingwebhookconfigurations"+group, []kindtest.Row{{"reinvocation", service, "webhooks.0.reinvocationPolicy", `"Never"`}})
}

func TestDefaultParamRefInV1alpha1(t *testing.T) {
	obj := map[string]any{"apiVersion": "admissionregistration.k8s.io/v1alpha1", "spec": map[string]any{"paramRef": map[string]any{}}}
	kindtest.TypeOf(t, "mutatingadmissionpolicybindings.admissionregistration.k8s.io").Default(obj)
	assert.Equal(t, "Deny", kindtest.At(obj, "spec.paramRef.parameterNotFoundAction"))
}
