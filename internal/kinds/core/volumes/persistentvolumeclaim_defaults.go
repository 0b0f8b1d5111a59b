package volumes

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

func DefaultClaim(obj map[string]any) {
	object.SetDefault(object.EnsureMap(obj, "status"), "phase", "Pending")
	DefaultClaimSpec(object.EnsureMap(obj, "spec"))
	quantity.RoundList(object.Value(obj, "status", "capacity"))
	quantity.RoundList(object.Value(obj, "status", "allocatedResources"))
}

// DefaultClaimSpec sets the defaults that the spec of a claim and of a claim
// template share.
func DefaultClaimSpec(spec map[string]any) {
	object.SetDefault(spec, "volumeMode", "Filesystem")
	quantity.RoundRequirements(spec["resources"])
}
