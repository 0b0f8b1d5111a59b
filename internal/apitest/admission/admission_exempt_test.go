package admission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
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
