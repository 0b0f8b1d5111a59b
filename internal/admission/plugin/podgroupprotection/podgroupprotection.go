// Package podgroupprotection is the PodGroupProtection admission plugin. Its finalizer
// keeps a PodGroup while Pods belong to it.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/.
package podgroupprotection

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "PodGroupProtection".
func (Plugin) Name() string { return "PodGroupProtection" }

// Resources returns podgroups.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "scheduling.k8s.io", Resource: "podgroups"}}
}

const finalizer = "scheduling.k8s.io/podgroup-protection"

// Mutate adds the finalizer to a new PodGroup.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Create {
		return nil
	}
	finalizers := object.List(a.Object, "metadata", "finalizers")
	if !slices.Contains(finalizers, any(finalizer)) {
		object.Set(a.Object, append(finalizers, finalizer), "metadata", "finalizers")
	}
	return nil
}
