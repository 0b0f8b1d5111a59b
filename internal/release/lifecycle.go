package release

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
)

// A Lifecycle says which releases have a kind in a version.
type Lifecycle struct {
	Known   bool // some release has it
	Since   int  // the minor number of the first release that serves it by default; 0 if none of those here does
	Removed int  // the minor number of the first release that does not have it any more; 0 if it is not removed

	// Instead is the API version and the kind that its deprecation names, "" if that is unknown.
	Instead string
}

// LifecycleOf returns the life cycle of a kind in a version, as far as the releases here and the
// table of older ones know it.
func LifecycleOf(apiVersion, kind string) Lifecycle {
	l := Lifecycle{Instead: deprecations()[apiVersion+" "+kind].instead}
	if minor := removedBefore(apiVersion, kind); minor > 0 {
		l.Known, l.Removed = true, minor
		return l
	}
	for _, r := range releases() {
		_, all := cutAll(r.name)
		has := slices.ContainsFunc(r.Types(), func(t *resource.Type) bool { return t.Kind == kind && t.GroupVersion.String() == apiVersion })
		switch {
		case has && all:
			l.Known, l.Removed = true, 0
		case has && l.Since == 0:
			l.Since = r.Minor()
		case all && l.Known && l.Removed == 0:
			l.Removed = r.Minor()
		}
	}
	return l
}

// IsKubernetesGroup reports whether Kubernetes owns the name of an API group: no definition may have
// one without a dot, and those that end in .k8s.io are Kubernetes' to give away.
func IsKubernetesGroup(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// removals are what releases before the recorded ones have removed, by the minor number of the
// first release without it. An API version without kinds is all of it.
var removals = []struct {
	minor   int
	version string
	kinds   []string
}{
	{16, "apps/v1beta1", nil},
	{16, "apps/v1beta2", nil},
	{16, "extensions/v1beta1", []string{"DaemonSet", "Deployment", "NetworkPolicy", "PodSecurityPolicy", "ReplicaSet"}},
	{22, "admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}},
	{22, "apiextensions.k8s.io/v1beta1", nil},
	{22, "apiregistration.k8s.io/v1beta1", nil},
	{22, "authentication.k8s.io/v1beta1", []string{"TokenReview"}},
	{22, "authorization.k8s.io/v1beta1", nil},
	{22, "certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}},
	{22, "coordination.k8s.io/v1beta1", []string{"Lease"}},
	{22, "extensions/v1beta1", []string{"Ingress"}},
	{22, "networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}},
	{22, "rbac.authorization.k8s.io/v1alpha1", nil},
	{22, "rbac.authorization.k8s.io/v1beta1", nil},
	{22, "scheduling.k8s.io/v1beta1", []string{"PriorityClass"}},
	{22, "storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}},
	{25, "autoscaling/v2beta1", nil},
	{25, "batch/v1beta1", nil},
	{25, "discovery.k8s.io/v1beta1", nil},
	{25, "events.k8s.io/v1beta1", nil},
	{25, "node.k8s.io/v1beta1", nil},
	{25, "policy/v1beta1", nil},
	{26, "autoscaling/v2beta2", nil},
	{26, "flowcontrol.apiserver.k8s.io/v1beta1", nil},
	{27, "storage.k8s.io/v1beta1", []string{"CSIStorageCapacity"}},
	{29, "flowcontrol.apiserver.k8s.io/v1beta2", nil},
	{32, "flowcontrol.apiserver.k8s.io/v1beta3", nil},
}

// removedBefore returns the minor number of the release in removals that removed a kind, 0 if none.
func removedBefore(apiVersion, kind string) int {
	for _, r := range removals {
		if r.version == apiVersion && (r.kinds == nil || slices.Contains(r.kinds, kind)) {
			return r.minor
		}
	}
	return 0
}
