// Package jobvalidation is the JobValidation admission plugin. It refuses another
// parallelism of a Job whose Pods are scheduled as a gang.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/.
package jobvalidation

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

// Name returns "JobValidation".
func (Plugin) Name() string { return "JobValidation" }

// Resources returns jobs.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "batch", Resource: "jobs"}}
}

var podGroupKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "scheduling.k8s.io", Version: "v1alpha2"}, Kind: "PodGroup"}

// Validate refuses an update that changes the parallelism of a Job of a gang.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Update ||
		a.Old.At("spec", "parallelism").EqualTo(object.Value(a.Object, "spec", "parallelism")) ||
		!a.Access.Release().Enabled("GenericWorkload") && !a.Access.Release().Enabled("WorkloadWithJob") {
		return nil
	}
	for _, group := range groupsOf(a.Reader, a.Old) {
		if !group.IsNil("spec", "schedulingPolicy", "gang") {
			return fmt.Errorf("cannot change parallelism for a Job referencing gang-scheduled PodGroup %q", group.String("metadata", "name"))
		}
	}
	return nil
}

// groupsOf returns the PodGroup that the template of a Job names, or those that the Job
// controls.
func groupsOf(r resource.Reader, job object.View) (groups []object.View) {
	namespace := job.String("metadata", "namespace")
	if name := job.String("spec", "template", "spec", "schedulingGroup", "podGroupName"); name != "" {
		return []object.View{r.Get(podGroupKind, namespace, name)}
	}
	for _, group := range r.List(podGroupKind, namespace) {
		if group.ControlledBy(job.String("metadata", "uid")) {
			groups = append(groups, group)
		}
	}
	return groups
}
