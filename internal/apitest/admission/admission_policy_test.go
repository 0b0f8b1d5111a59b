//go:build go1.24

package admission_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Policies see a TokenRequest with its metadata, and the ports of a connection.
func TestPoliciesOfSubresources(t *testing.T) {
	policy := func(name, operation, resource, message string) []any {
		return []any{
			fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":%q},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":[%q],"resources":[%q]}]},"validations":[{"expression":"false","messageExpression":%q}]}}`, name, operation, resource, message),
			fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":%[1]q},"spec":{"policyName":%[1]q,"validationActions":["Deny"]}}`, name),
		}
	}
	objects := append(policy("token", "CREATE", "serviceaccounts/token", `object.metadata.name + ' ' + string(has(object.metadata.uid)) + ' ' + string(object.spec.expirationSeconds)`),
		policy("ports", "CONNECT", "pods/portforward", `object.ports.map(p, string(p)).join('+')`)...)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(objects...), fakeapi.WithObjects(
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"sa","namespace":"default"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"default"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`))
	for _, tt := range []struct{ path, want string }{
		{"serviceaccounts/sa/token", "sa true 3600"},
		{"pods/x/portforward?ports=80,81", "80+81"},
		{"pods/x/portforward?ports=80&ports=81", "80+81"},
	} {
		_, obj := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/"+tt.path, `{}`)
		assert.Contains(t, obj["message"], "denied request: "+tt.want, tt.path)
	}
}
