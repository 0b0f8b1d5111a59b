package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/apitest"
)

// Who writes a policy, or a binding, may read the parameters.
func TestParamsAuthorization(t *testing.T) {
	srv := apitest.StartRBAC(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: policies}
rules:
- {apiGroups: [admissionregistration.k8s.io], resources: ['*'], verbs: ['*']}
- {apiGroups: [''], resources: [secrets], verbs: [get]}
- {apiGroups: [''], resources: [configmaps], verbs: [get], resourceNames: [allowed]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: policies}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: policies}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
`)
	const group = "/apis/admissionregistration.k8s.io/v1/"
	for kind, fields := range map[string][2]string{
		"Validating": {`"validations":[{"expression":"true"}]`, `"validationActions":["Deny"],`},
		"Mutating":   {`"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: \"test\", path: \"/kind\", value: \"Pod\"}]"}}],"reinvocationPolicy":"Never"`, ""},
	} {
		policies := group + strings.ToLower(kind) + "admissionpolicies"
		policy := func(name, params string) string {
			return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s,"paramKind":%s,"failurePolicy":"Fail","matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]}}}`, name, fields[0], params)
		}
		binding := func(name, policy, params string) string {
			return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s"policyName":%q,"paramRef":{%s,"parameterNotFoundAction":"Deny"}}}`, name, fields[1], policy, params)
		}
		bindings := group + strings.ToLower(kind) + "admissionpolicybindings"
		const configMap, secret, none = `{"apiVersion":"v1","kind":"ConfigMap"}`, `{"apiVersion":"v1","kind":"Secret"}`, `{"apiVersion":"v1","kind":"None"}`
		const must = `user &{alice 1 [devs system:authenticated] map[]} must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=v1)`
		refused := func(verb string) string {
			user := "&{alice 1 [devs system:authenticated] map[]}"
			if kind == "Mutating" {
				user, verb = verb, user
			}
			return fmt.Sprintf(`user %s does not have "%s" permission on the object referenced by paramRef`, user, verb)
		}
		const unable = `to determine minimum required permissions and user &{alice 1 [devs system:authenticated] map[]} does not have "get" permission for all groups, versions and resources`
		for _, tt := range []struct {
			name                        string
			user                        []string
			method, path, body, message string
		}{
			{"kind", apitest.AsAlice, "POST", policies, policy("secret", secret), ""},
			{"kind that may not be read", apitest.AsAlice, "POST", policies, policy("a", configMap), fmt.Sprintf(must, "ConfigMap")},
			{"kind that is not served", apitest.AsAlice, "POST", policies, policy("a", none), fmt.Sprintf(must, "None")},
			{"kind of an administrator", apitest.AsRoot, "POST", policies, policy("configmap", configMap), ""},
			{"kind that is not served, of an administrator", apitest.AsRoot, "POST", policies, policy("none", none), ""},
			{"another kind", apitest.AsAlice, "PATCH", policies + "/secret", `{"spec":{"paramKind":` + configMap + `}}`, fmt.Sprintf(must, "ConfigMap")},
			{"the same kind", apitest.AsAlice, "PATCH", policies + "/configmap", `{"spec":{"failurePolicy":"Ignore"}}`, ""},
			{"object", apitest.AsAlice, "POST", bindings, binding("a", "configmap", `"name":"allowed","namespace":"default"`), ""},
			{"object that may not be read", apitest.AsAlice, "POST", bindings, binding("b", "configmap", `"name":"b"`), refused("get")},
			{"objects", apitest.AsAlice, "POST", bindings, binding("b", "secret", `"selector":{}`), refused("list")},
			{"object of an administrator", apitest.AsRoot, "POST", bindings, binding("b", "configmap", `"name":"b"`), ""},
			{"the same object", apitest.AsAlice, "PATCH", bindings + "/b", `{"metadata":{"labels":{"a":"b"}}}`, refused("get")},
			{"unknown policy", apitest.AsAlice, "POST", bindings, binding("c", "unknown", `"name":"b"`), "unable to get policy unknown " + unable},
			{"policy with a kind that is not served", apitest.AsAlice, "POST", bindings, binding("c", "none", `"name":"b"`), "unable to resolve paramKind &{v1 None} " + unable},
		} {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				code, answer := apitest.DoWithHeaders(t, srv, tt.method, tt.path, tt.body, tt.user...)
				if tt.message == "" {
					assert.Less(t, code, 300, answer["message"])
					return
				}
				assert.Equal(t, 422, code)
				assert.Contains(t, answer["message"], "Forbidden: "+tt.message)
			})
		}
	}
}
