package manifests_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// validate returns the results of a text.
func validate(t *testing.T, c manifests.Config, text string) []*manifests.Result {
	t.Helper()
	c.Stdin = strings.NewReader(text)
	return results(t, c, "-")
}

// results returns the results of paths.
func results(t *testing.T, c manifests.Config, paths ...string) []*manifests.Result {
	t.Helper()
	var out []*manifests.Result
	for r, err := range manifests.Validate(context.Background(), c, paths...) {
		require.NoError(t, err)
		out = append(out, r)
	}
	return out
}

// lines returns each result in a line, and each finding.
func lines(results []*manifests.Result) string {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "%s:%d:%d: %s %s/%s %s\n", r.File, r.Line, r.Column, r.Kind, r.Namespace, r.Name, r.Outcome)
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "  %d:%d: %s: %s: %s%s\n", f.Line, f.Column, f.Severity, f.Reason, f.Message, strings.Join(f.Releases, ","))
		}
	}
	return b.String()
}

// Objects take effect on others wherever they stand.
func TestEffects(t *testing.T) {
	for _, row := range []struct{ name, input, want string }{
		{"definition", `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: a}
spec: {size: 11}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 10}}}}}}
`, `<stdin>:2:1: Widget default/a invalid
  5:8: error: FieldValueInvalid: spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10
<stdin>:7:1: CustomResourceDefinition /widgets.shop.example.com valid
`},
		{"PodSecurity of a namespace", `
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec: {hostNetwork: true, containers: [{name: a, image: a}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}
`, `<stdin>:2:1: Pod shop/a invalid
  2:1: error: Forbidden: pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)
<stdin>:7:1: Namespace /shop valid
`},
		{"policy with a parameter", `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {replicas: "4"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits}
data: {replicas: "3"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny], paramRef: {name: limits, namespace: default, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  validations: [{expression: "int(object.data.replicas) <= int(params.data.replicas)", message: too many replicas}]
`, `<stdin>:2:1: ConfigMap default/a invalid
  2:1: error: Invalid: configmaps "a" is forbidden: ValidatingAdmissionPolicy 'replicas' with binding 'replicas' denied request: too many replicas
<stdin>:7:1: ConfigMap default/limits valid
<stdin>:12:1: ValidatingAdmissionPolicyBinding /replicas valid
<stdin>:17:1: ValidatingAdmissionPolicy /replicas valid
`},
		{"quota", `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: none}
spec: {hard: {configmaps: "0"}}
`, `<stdin>:2:1: ConfigMap default/a invalid
  2:1: error: Forbidden: configmaps "a" is forbidden: exceeded quota: none, requested: configmaps=1, used: configmaps=0, limited: configmaps=0
<stdin>:6:1: ResourceQuota default/none valid
`},
		{"conversion without its webhook", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
---
{apiVersion: shop.example.com/v1beta1, kind: Widget, metadata: {name: a}}
`, `<stdin>:2:1: CustomResourceDefinition /widgets.shop.example.com valid
<stdin>:16:1: Widget default/a valid
`},
		{"the same object twice", `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
`, `<stdin>:2:1: ConfigMap default/a valid
<stdin>:6:1: ConfigMap default/a valid
  6:1: warning: Duplicate: the same object is at <stdin>:2; the last one that is written stays
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, lines(validate(t, manifests.Config{}, row.input)))
		})
	}
}

// A user may write what the roles of the input permit.
func TestUser(t *testing.T) {
	input := `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: Secret
metadata: {name: a}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: deployer}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [create, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: pipeline}]
`
	input += `---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namespaces}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [create, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: namespaces}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: namespaces}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: ci}]
`
	assert.Equal(t, `<stdin>:2:1: ConfigMap default/a valid
<stdin>:6:1: Secret default/a invalid
  6:1: error: Forbidden: secrets "a" is forbidden: User "pipeline" cannot patch resource "secrets" in API group "" in the namespace "default"
<stdin>:10:1: Role default/deployer valid
<stdin>:15:1: RoleBinding default/deployer valid
<stdin>:21:1: Namespace /shop valid
<stdin>:25:1: ClusterRole /namespaces valid
<stdin>:30:1: ClusterRoleBinding /namespaces valid
`, lines(validate(t, manifests.Config{User: &fakeapi.User{Name: "pipeline", Groups: []string{"ci"}}}, input)))
}

// A finding that some of the releases have names them.
func TestReleases(t *testing.T) {
	input := `
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a}, spec: {selectors: []}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a}]}}
`
	assert.Equal(t, `<stdin>:2:1: DeviceClass /a missing-kind
  2:34: error: MissingKind: no matches for kind "DeviceClass" in version "resource.k8s.io/v1"; served from v1.34 onv1.33.13
<stdin>:4:1: Pod default/a invalid
  4:70: error: FieldValueRequired: spec.containers[0].image: Required value
`, lines(validate(t, manifests.Config{Releases: []string{"1.33", "1.36"}}, input)))
}

func TestFiles(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"chart/Chart.yaml":             "apiVersion: v2\nname: shop\n",
		"chart/values.yaml":            "a: 1\n",
		"chart/templates/web.yaml":     "kind: Pod\nmetadata: {name: \"{{ .Release.Name }}\"}\n",
		"deploy/kustomization.yaml":    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
		"deploy/a.json":                `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`,
		"deploy/b.yml":                 "# only a comment\n",
		"deploy/broken.yaml":           "kind: ConfigMap\nmetadata:\n  name: a\n   namespace: b\n",
		"deploy/.hidden.yaml":          "kind: Pod\n",
		"deploy/latin.yaml":            "kind: Pod\nmetadata: {name: \xe9}\n",
		"deploy/README.md":             "text",
		"deploy/separator.yaml":        "--- text\n",
		"deploy/no-version.yaml":       "kind: Pod\n",
		"deploy/package.json":          "{\"name\": \"a\" // comment\n}",
		"deploy/nested/list/list.yaml": "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: b}\n- metadata: {name: C}\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	assert.Equal(t, `chart/Chart.yaml:1:1:  / no-object
  1:1: note: NoObject: it has no kind
chart/templates/web.yaml:1:1:  / no-object
  1:1: note: NoObject: a template of a Helm chart: helm template renders it
chart/values.yaml:1:1:  / no-object
  1:1: note: NoObject: it has no kind
deploy/a.json:1:1: ConfigMap default/a valid
deploy/b.yml:0:0:  / no-object
  0:0: note: NoObject: the file has no documents
deploy/broken.yaml:4:1:  / unreadable
  4:1: error: Syntax: yaml: line 4: mapping values are not allowed in this context
deploy/kustomization.yaml:1:1:  / no-object
  1:1: note: NoObject: a kustomization: kustomize build renders it
deploy/latin.yaml:2:1:  / unreadable
  2:1: error: Syntax: the text is not UTF-8
deploy/nested/list/list.yaml:4:3: ConfigMap default/b valid
deploy/nested/list/list.yaml:5:3: ConfigMap default/C invalid
  5:14: error: FieldValueInvalid: metadata.name: Invalid value: "C": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
deploy/no-version.yaml:1:1:  / unreadable
  1:1: error: Syntax: apiVersion not set
deploy/package.json:1:1:  / no-object
  1:1: note: NoObject: it is neither JSON nor an object of Kubernetes
deploy/separator.yaml:1:1:  / unreadable
  1:1: error: Syntax: invalid Yaml document separator: text
missing:0:0:  / unreadable
  0:0: error: File: file does not exist
`, lines(results(t, manifests.Config{Files: files}, "chart", "deploy", "deploy/a.json", "missing")))
}

func TestInvalidConfig(t *testing.T) {
	for r, err := range manifests.Validate(context.Background(), manifests.Config{FieldValidation: "strict"}, "-") {
		assert.Nil(t, r)
		assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
	}
}
