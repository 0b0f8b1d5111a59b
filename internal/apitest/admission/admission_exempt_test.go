package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A policy for the whole group handles the configurations of webhooks, but no policies.
func TestPolicyForAdmissionConfigurations(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: none}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["admissionregistration.k8s.io"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: "false"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: none}
spec: {policyName: none, validationActions: [Deny]}
`))
	for _, row := range []struct {
		resource, body string
		want           int
	}{
		{"validatingwebhookconfigurations", `{"metadata":{"name":"a"}}`, 422},
		{"mutatingwebhookconfigurations", `{"metadata":{"name":"a"}}`, 422},
		{"validatingadmissionpolicybindings", `{"metadata":{"name":"a"},"spec":{"policyName":"x","validationActions":["Deny"]}}`, 201},
	} {
		t.Run(row.resource, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "POST", "/apis/admissionregistration.k8s.io/v1/"+row.resource, row.body)
			assert.Equal(t, row.want, code, answer["message"])
		})
	}
}

// Webhooks handle no reviews, by the gate of v1.37, and a rule that names one is warned of.
func TestWebhookForReviews(t *testing.T) {
	const webhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: broken}
webhooks:
- name: broken.example.com
  admissionReviewVersions: [v1]
  clientConfig: {url: "https://127.0.0.1:1/"}
  failurePolicy: Fail
  sideEffects: None
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
`
	const reviews, gate = "/apis/authentication.k8s.io/v1/selfsubjectreviews", "ExcludeAdmissionWebhookVirtualResources"
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
		want    int
	}{
		{"v1.37", nil, 201},
		{"gate off", []fakeapi.Option{fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{gate: false}})}, 500},
		{"v1.36", []fakeapi.Option{fakeapi.WithRelease("v1.36")}, 500},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(row.options, fakeapi.WithInMemory(), fakeapi.WithObjects(webhooks))...)
			code, answer := apitest.Do(t, srv, "POST", reviews, `{}`)
			assert.Equal(t, row.want, code, answer["message"])
			code, _ = apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
			assert.Equal(t, 500, code)

			const rules = `{"operations":["*"],"apiVersions":["v1"],"apiGroups":["authentication.k8s.io","apps"],"resources":["tokenreviews","tokenreviews","deployments"]},
				{"operations":["*"],"apiVersions":["v1"],"apiGroups":["*"],"resources":["tokenreviews"]}`
			resp, err := srv.Client().Post(srv.URL+"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", "application/json", strings.NewReader(`{"metadata":{"name":"a"},"webhooks":[
				{"name":"a.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","clientConfig":{"url":"https://127.0.0.1:1/"},"rules":[`+rules+`]}]}`))
			require.NoError(t, err)
			resp.Body.Close()
			var want []string
			if row.want == 201 {
				want = []string{`299 - "webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this rule will have no effect"`}
			}
			assert.Equal(t, want, resp.Header.Values("Warning"))
		})
	}
}
