package release

import (
	"slices"

	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
)

// resourceGates are the gates of resources, by resource and group. Without its gate a
// resource is not served, whatever the runtime configuration says.
var resourceGates = map[string]string{
	"clustertrustbundles.certificates.k8s.io":          "ClusterTrustBundle",
	"compositepodgroups.scheduling.k8s.io":             "CompositePodGroup",
	"evictionrequests.lifecycle.k8s.io":                "EvictionRequestAPI",
	"evictions.lifecycle.k8s.io":                       "EvictionRequestAPI",
	"podcertificaterequests.certificates.k8s.io":       "PodCertificateRequest",
	"podgroups.scheduling.k8s.io":                      "GenericWorkload",
	"workloads.scheduling.k8s.io":                      "GenericWorkload",
	"storageversionmigrations.storagemigration.k8s.io": "StorageVersionMigrator",
}

// withoutGated returns a surface without the resources whose gates are off, and without the
// versions that have no other resources.
func (r *Release) withoutGated(s surface.Surface) surface.Surface {
	off := func(t *resource.Type) bool {
		gate, gated := resourceGates[t.Name+"."+t.GroupVersion.Group]
		return gated && !r.Enabled(gate)
	}
	if !slices.ContainsFunc(s.Types, off) {
		return s
	}
	out := surface.Surface{Types: slices.DeleteFunc(slices.Clone(s.Types), off)}
	for _, gv := range s.GroupVersions {
		if slices.ContainsFunc(out.Types, func(t *resource.Type) bool { return t.GroupVersion == gv }) {
			out.GroupVersions = append(out.GroupVersions, gv)
		}
	}
	return out
}
