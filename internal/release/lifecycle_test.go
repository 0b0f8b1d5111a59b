package release

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLifecycleOf(t *testing.T) {
	for _, row := range []struct {
		apiVersion, kind string
		want             Lifecycle
	}{
		{"apps/v1", "Deployment", Lifecycle{Known: true, Since: 32}},
		{"extensions/v1beta1", "Ingress", Lifecycle{Known: true, Removed: 22}},
		{"extensions/v1beta1", "Deployment", Lifecycle{Known: true, Removed: 16}},
		{"policy/v1beta1", "PodSecurityPolicy", Lifecycle{Known: true, Removed: 25}},
		{"resource.k8s.io/v1", "DeviceClass", Lifecycle{Known: true, Since: 34}},
		{"admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", Lifecycle{Known: true, Removed: 34}},
		{"example.com/v1", "Widget", Lifecycle{}},
	} {
		t.Run(row.apiVersion+" "+row.kind, func(t *testing.T) {
			assert.Equal(t, row.want, LifecycleOf(row.apiVersion, row.kind))
		})
	}
}

// Each kind that a recorded release has, and a later one does not, is known as removed, and no
// older table says so of a kind that a release has.
func TestRemovals(t *testing.T) {
	for _, r := range releases() {
		for _, typ := range r.Types() {
			l := LifecycleOf(typ.GroupVersion.String(), typ.Kind)
			assert.True(t, l.Known, "%s: %s %s", r.Name(), typ.GroupVersion, typ.Kind)
			assert.True(t, l.Removed == 0 || l.Removed > r.Minor(), "%s: %s %s is removed in v1.%d", r.Name(), typ.GroupVersion, typ.Kind, l.Removed)
		}
	}
}
