// Package podgroupworkloadexists is the PodGroupWorkloadExists admission plugin. It
// refuses new PodGroups that refer to a template which no Workload has.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/.
package podgroupworkloadexists

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "PodGroupWorkloadExists".
func (Plugin) Name() string { return "PodGroupWorkloadExists" }

// Resources returns podgroups.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "scheduling.k8s.io", Resource: "podgroups"}}
}

var workloadKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha2"}, Kind: "Workload"}

// Validate refuses a new PodGroup whose Workload, or template in it, does not exist.
func (Plugin) Validate(a *admission.Attributes) error {
	ref := object.Map(a.Object, "spec", "podGroupTemplateRef", "workload")
	if a.Subresource != "" || a.Operation != admission.Create || ref == nil {
		return nil
	}
	name, template := object.String(ref, "workloadName"), object.String(ref, "podGroupTemplateName")
	workload := a.Reader.Get(workloadKind, object.String(a.Object, "metadata", "namespace"), name)
	if workload.IsNil() {
		return fmt.Errorf("PodGroup rejected: Workload %q not found", name)
	}
	if !workload.IsNil("metadata", "deletionTimestamp") {
		return fmt.Errorf("PodGroup rejected: Workload %q is being deleted", name)
	}
	for t := range workload.At("spec", "podGroupTemplates").Objects() {
		if t.String("name") == template {
			return nil
		}
	}
	return fmt.Errorf("PodGroup rejected: PodGroupTemplate %q not found in Workload %q", template, name)
}
