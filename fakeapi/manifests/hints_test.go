package manifests_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// A kind without a definition says what has become of it, and what is served instead.
func TestMissingKindHints(t *testing.T) {
	for _, row := range []struct{ name, apiVersion, kind, want string }{
		{"removed before all releases here", "extensions/v1beta1", "Ingress", "; removed in v1.22, served in networking.k8s.io/v1"},
		{"removed with its kind", "policy/v1beta1", "PodSecurityPolicy", "; removed in v1.25"},
		{"removed in a release here", "admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", "; removed in v1.34, served in admissionregistration.k8s.io/v1"},
		{"off by default", "internal.apiserver.k8s.io/v1alpha1", "StorageVersion", "; off by default"},
		{"a version that never was", "apps/v1beta9", "Deployment", "; served in apps/v1"},
		{"another group of Kubernetes", "batch/v1", "Deployment", "; served in apps/v1"},
		{"a group that does not exist", "app/v1", "Deployment", "; served in apps/v1"},
		{"the core group", "apps/v1", "Pod", "; served in v1"},
		{"a misspelled kind", "apps/v1", "Deploymnet", "; did you mean Deployment?"},
		{"of another project with the same name", "batch.volcano.sh/v1alpha1", "Job", ""},
		{"another version of a definition", "example.com/v2", "Widget", "; served in example.com/v1"},
		{"unknown", "example.org/v1", "Gadget", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := validate(t, manifests.Config{}, "apiVersion: "+row.apiVersion+"\nkind: "+row.kind+"\nmetadata: {name: a}\n---\n"+`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)[0]
			require.Equal(t, manifests.MissingKind, r.Outcome)
			assert.Equal(t, `no matches for kind "`+row.kind+`" in version "`+row.apiVersion+`"`+row.want, r.Findings[0].Message)
		})
	}
}
