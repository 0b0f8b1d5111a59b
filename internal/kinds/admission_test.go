package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDefaultAdmission(t *testing.T) {
	const group = ".admissionregistration.k8s.io"
	for _, kind := range []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"} {
		testDefaults(t, kind+group, []row{
			{kind + " fail", `{}`, "spec.failurePolicy", `"Fail"`},
			{kind + " match", `{"spec":{"matchConstraints":{"resourceRules":[{}],"excludeResourceRules":[{"scope":"Cluster"}]}}}`, "spec.matchConstraints", `{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[{"scope":"*"}],"excludeResourceRules":[{"scope":"Cluster"}]}`},
		})
	}
	testDefaults(t, "validatingadmissionpolicybindings"+group, []row{
		{"everything", `{}`, "spec.matchResources", ``},
		{"something", `{"spec":{"matchResources":{}}}`, "spec.matchResources", `{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{}}`},
		{"parameters", `{"spec":{"paramRef":{"name":"p"}}}`, "spec.paramRef", `{"name":"p"}`},
	})
	const service = `{"webhooks":[{"name":"w","clientConfig":{"service":{"name":"s","namespace":"n"}}}]}`
	testDefaults(t, "validatingwebhookconfigurations"+group, []row{
		{"webhook", service, "webhooks.0", `{"name":"w","admissionReviewVersions":null,"sideEffects":null,"clientConfig":{"service":{"name":"s","namespace":"n","port":443}},"failurePolicy":"Fail","matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"timeoutSeconds":10}`},
	})
	testDefaults(t, "mutatingwebhookconfigurations"+group, []row{{"again", service, "webhooks.0.reinvocationPolicy", `"Never"`}})
}

func TestParametersOfTheAlphaVersion(t *testing.T) {
	obj := map[string]any{"apiVersion": "admissionregistration.k8s.io/v1alpha1", "spec": map[string]any{"paramRef": map[string]any{}}}
	defaultPolicyBinding(obj)
	assert.Equal(t, "Deny", at(obj, "spec.paramRef.parameterNotFoundAction"))
}
