package release

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/resource"
)

func TestDeprecationWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, group, version, kind string
		minor                      int
		want                       []string
	}{
		{"deprecated, not removed", "", "v1", "ComponentStatus", 36, []string{"v1 ComponentStatus is deprecated in v1.19+"}},
		{"replaced", "", "v1", "Endpoints", 33, []string{"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}},
		{"deprecated by a later release", "", "v1", "Endpoints", 32, nil},
		{"removed", "resource.k8s.io", "v1beta1", "ResourceClaim", 36, []string{"resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+"}},
		{"removed and replaced", "storage.k8s.io", "v1beta1", "VolumeAttributesClass", 36, []string{"storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass"}},
		{"replaced by a later release", "storage.k8s.io", "v1alpha1", "VolumeAttributesClass", 33, []string{"storage.k8s.io/v1alpha1 VolumeAttributesClass is deprecated in v1.32+, unavailable in v1.35+"}},
		{"not deprecated", "apps", "v1", "Deployment", 36, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kind := resource.Kind{GroupVersion: resource.GroupVersion{Group: tt.group, Version: tt.version}, Kind: tt.kind}
			assert.Equal(t, tt.want, deprecationWarnings(kind, tt.minor))
		})
	}
}
