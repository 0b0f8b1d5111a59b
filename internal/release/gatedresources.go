package release

import (
	"slices"

	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
)

// resourceGates are the gates of resources, by resource and group. Without its gate a
// resource is not served, whatever the runtime configuration says.
var resourceGates = map[string]string{
	"podgroups.scheduling.k8s.io": "GenericWorkload",
	"workloads.scheduling.k8s.io": "GenericWorkload",
}

// notServed are the recorded resources of gates that this server does not serve.
//
// Differs from kube-apiserver: resources of some gates: ClusterTrustBundles,
// PodCertificateRequests and StorageVersionMigrations are not served. Request: GET
// /apis/storagemigration.k8s.io/v1beta1/storageversionmigrations with
// --feature-gates=StorageVersionMigrator=true.
var notServed = map[string]bool{
	"clustertrustbundles.certificates.k8s.io":          true,
	"podcertificaterequests.certificates.k8s.io":       true,
	"storageversionmigrations.storagemigration.k8s.io": true,
}

// withoutGated returns a surface without the resources whose gates are off, and without the
// versions that have no other resources.
func (r *Release) withoutGated(s surface.Surface) surface.Surface {
	off := func(t *resource.Type) bool {
		name := t.Name + "." + t.GroupVersion.Group
		gate, gated := resourceGates[name]
		return notServed[name] || gated && !r.Enabled(gate)
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
