package pods

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkResources validates the pod-level resources and checks that the containers do
// not exceed them.
func (r *podRules) checkResources() {
	p, ok := r.spec.Lookup("resources")
	if !ok {
		return
	}
	if r.isWindows() {
		r.spec.Forbidden("resources", "may not be set for a windows pod")
		return
	}
	if p.Has("claims") {
		p.Forbidden("claims", "claims may not be set for Resources at pod-level")
	}
	resources.CheckRequirements(p, resources.ValidatePodResourceName, r.claims)
	r.checkAggregate(p, "requests", func(string) bool { return true })
	r.checkAggregate(p, "limits", resources.IsHugePages)
	for i, c := range r.spec.Each("containers") {
		for resource, v := range c.Field("resources").Entries("limits") {
			limit, _ := v.(string)
			podQuantity, ok := object.Value(p.Obj, "limits", resource).(string)
			if ok && quantity.Compare(limit, podQuantity) > 0 {
				at := p.At("containers").Index(i).Key(resource).Child("limits")
				p.Add(validation.Invalid(at, limit, "must be less than or equal to pod limits of "+podQuantity))
			}
		}
	}
}

// checkAggregate checks that the containers together need no more than the pod-level
// resources, for each resource that included accepts.
func (r *podRules) checkAggregate(p validation.View, kind string, included func(resource string) bool) {
	if p.Len(kind) == 0 {
		return
	}
	needed := EffectiveResources(r.spec.Object(), kind)
	for _, resource := range validation.SortedKeys(needed) {
		need, _ := needed[resource].(string)
		podQuantity, ok := object.Value(p.Obj, kind, resource).(string)
		if ok && included(resource) && quantity.Compare(need, podQuantity) > 0 {
			p.Add(validation.Invalid(p.At(kind).Key(resource), podQuantity,
				fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", kind, need)))
		}
	}
}
