package resource

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/wire"
)

// Kinds that kube-apiserver decodes by name, whatever the group and version are:
// runtime.Scheme.AddUnversionedTypes.
var (
	unversionedKinds       = []string{"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}
	unversionedOptionKinds = []string{"DeleteOptions", "CreateOptions", "UpdateOptions"}
)

// versionedKinds are in every version of every group: metav1.AddToGroupVersion.
var versionedKinds = []string{"WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"}

// representationKinds are kinds of meta.k8s.io that its versions v1 and v1beta1 share.
var representationKinds = []string{"Table", "TableOptions", "PartialObjectMetadata", "PartialObjectMetadataList"}

const metaGroup = "meta.k8s.io"

// registered reports whether a kind is in the scheme in which a release, given by its minor
// number, decodes the objects of a group. Definitions and APIServices have schemes of their own, with the kinds of their
// group and the options.
func registered(minor int, group string, k Kind) bool {
	if slices.Contains(unversionedKinds, k.Kind) {
		return true
	}
	if k.Group == metaGroup || slices.Contains(representationKinds, k.Kind) {
		return false
	}
	if ownScheme(group) && k.Group != group {
		return slices.Contains(versionedKinds, k.Kind) && k.Group == "" && k.Version == "v1" ||
			k.Kind == "WatchEvent" && group == "apiextensions.k8s.io"
	}
	if ownScheme(k.Group) && k.Group != group {
		return false
	}
	_, ok := wire.ForKindIn(minor, k.Group, k.Version, k.Kind)
	return ok
}

// ownScheme reports whether the kinds of a group are in a scheme of their own.
func ownScheme(group string) bool {
	return group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}

// sharesInternalType reports whether kube-apiserver keeps objects of two kinds in the same
// Go type: they are versions of one kind, which may have moved to another group.
func sharesInternalType(a, b Kind) bool {
	return a.Kind == b.Kind && internalGroup(a) == internalGroup(b)
}

// internalGroup returns the group that has the internal version of a kind.
func internalGroup(k Kind) string {
	switch {
	case k.Group == "events.k8s.io":
		return ""
	case k.Kind == "Scale" && (k.Group == "apps" || k.Group == "extensions"):
		return "autoscaling"
	case k.Group != "extensions":
		return k.Group
	case k.Kind == "Ingress" || k.Kind == "NetworkPolicy":
		return "networking.k8s.io"
	}
	return "apps"
}

// goType returns the name that messages have for the Go type of a kind.
func goType(k Kind) string {
	version := k.Version
	if slices.Contains(unversionedKinds, k.Kind) || slices.Contains(unversionedOptionKinds, k.Kind) {
		version = "v1"
	}
	if k.Group == metaGroup && k.Kind != "PartialObjectMetadataList" {
		version = "v1" // v1beta1 has the types of v1, except for this one
	}
	return version + "." + k.Kind
}

// CheckDeleteOptions returns the error of kube-apiserver for a body of a kind that is not
// DeleteOptions, by the scheme of the options. It knows DeleteOptions by the name alone.
func CheckDeleteOptions(minor int, got Kind) error {
	if got.Kind == "DeleteOptions" {
		return nil
	}
	known := slices.Contains(unversionedKinds, got.Kind) || slices.Contains(unversionedOptionKinds, got.Kind)
	if got.Group == metaGroup {
		switch got.Version {
		case "v1":
			known = known || slices.Contains(versionedKinds, got.Kind)
			fallthrough
		case "v1beta1":
			known = known || slices.Contains(representationKinds, got.Kind)
		}
	}
	if !known {
		return NotRegistered(minor, got)
	}
	return fmt.Errorf("converting (%s) to (v1.DeleteOptions): unknown conversion", goType(got))
}
