package pods

import (
	"iter"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release"
)

// defaultRequests sets the missing requests of a container to its limits.
func defaultRequests(container map[string]any) {
	if object.Value(container, "resources", "limits") == nil {
		return
	}
	limits := object.Map(container, "resources", "limits")
	if len(limits) == 0 {
		object.SetDefault(object.EnsureMap(container, "resources"), "requests", object.EmptyMap{})
		return
	}
	requests := object.EnsureMap(object.EnsureMap(container, "resources"), "requests")
	for name, limit := range limits {
		object.SetDefault(requests, name, limit)
	}
}

// defaultPodResources sets the missing pod-level requests and limits from those of
// the containers. It changes nothing if the Pod has no pod-level resources.
func defaultPodResources(spec map[string]any) {
	list := object.Map(spec, "resources")
	if isEmptyResources(list) {
		return
	}
	defaultHugePageLimits(spec, list)
	if len(object.Map(list, "limits")) > 0 {
		defaultPodRequests(spec, list)
	}
}

// isEmptyResources reports whether there are no requests and no limits.
func isEmptyResources(list map[string]any) bool {
	return len(object.Map(list, "limits")) == 0 && len(object.Map(list, "requests")) == 0
}

// defaultHugePageLimits sets the missing pod-level limits of huge pages without a request.
func defaultHugePageLimits(spec, list map[string]any) {
	limits := map[string]any{}
	for name, limit := range EffectiveResources(object.ViewOf(spec), "limits") {
		if resources.IsHugePages(name) && object.Value(list, "requests", name) == nil {
			limits[name] = limit
		}
	}
	resources.SetDefaults(list, "limits", limits)
}

// defaultPodRequests sets the missing pod-level requests from those of the containers and from the
// pod-level limits.
func defaultPodRequests(spec, list map[string]any) {
	requests := map[string]any{}
	for name, request := range EffectiveResources(object.ViewOf(spec), "requests") {
		if name == "cpu" || name == "memory" {
			requests[name] = request
		}
	}
	resources.SetDefaults(list, "requests", requests)
	requests = map[string]any{}
	for name, limit := range object.Map(list, "limits") {
		if isPodLevel(name) {
			requests[name] = limit
		}
	}
	resources.SetDefaults(list, "requests", requests)
}

// isPodLevel reports whether a Pod itself can request a resource.
func isPodLevel(name string) bool {
	return name == "cpu" || name == "memory" || resources.IsHugePages(name)
}

// defaultPodLimits sets the missing pod-level limits of requested resources that all containers
// limit, to what the containers may use together, or to the request if it is higher.
func defaultPodLimits(spec, list map[string]any) {
	limits, total := map[string]any{}, EffectiveResources(object.ViewOf(spec), "limits")
	for name, v := range object.Map(list, "requests") {
		limit, ok := total[name].(string)
		if !ok || !isPodLevel(name) || !allLimit(spec, name) {
			continue
		}
		if request, _ := v.(string); quantity.Compare(request, limit) > 0 {
			limit = request
		}
		limits[name] = limit
	}
	resources.SetDefaults(list, "limits", limits)
}

// allLimit reports whether all containers of a Pod limit a resource.
func allLimit(spec map[string]any, name string) bool {
	for c := range AllContainers(spec) {
		if object.Value(c, "resources", "limits", name) == nil {
			return false
		}
	}
	return true
}

// deferredResources is the feature gate with which pod-level resources get their defaults after
// admission, when the containers have theirs.
const deferredResources = "PodLevelResourcesFixDefaulting"

// defaultResourcesAfterAdmission sets the missing pod-level requests and limits of a Pod that is
// written. It does not change values that others may share.
func defaultResourcesAfterAdmission(spec map[string]any) {
	list := object.Map(spec, "resources")
	if isEmptyResources(list) {
		return
	}
	list = object.Copy(list)
	spec["resources"] = list
	defaultHugePageLimits(spec, list)
	defaultPodRequests(spec, list)
	defaultPodLimits(spec, list)
}

// keepPodResources keeps the pod-level resources if a client has dropped them.
func keepPodResources(spec map[string]any, old object.View) {
	if spec["resources"] == nil && !old.IsNil("resources") {
		spec["resources"] = old.At("resources").Shared()
	}
}

// completePodResources sets the pod-level resources that are missing after admission has given
// the containers theirs. It reports whether it sets any.
func completePodResources(pod map[string]any) bool {
	spec := object.Map(pod, "spec")
	before := object.Map(spec, "resources")
	if len(before) == 0 {
		return false
	}
	complete := object.ShallowCopy(spec)
	complete["resources"] = object.Copy(before)
	defaultPodResources(complete)
	if object.Equal(before, complete["resources"]) {
		return false
	}
	pod["spec"] = complete
	return true
}

// EffectiveResources returns the resources that the containers of a Pod need
// together: the sum of all regular containers and sidecars, or more if an init
// container needs more while it runs. kind is "requests" or "limits".
func EffectiveResources(spec object.View, kind string) map[string]any {
	running, sidecars, starting := map[string]any{}, map[string]any{}, map[string]any{}
	for c := range spec.At("containers").Objects() {
		resources.Add(running, c.At("resources", kind))
	}
	for c := range spec.At("initContainers").Objects() {
		own := c.At("resources", kind)
		if c.String("restartPolicy") == "Always" {
			resources.Add(running, own)
			resources.Add(sidecars, own)
			resources.Max(starting, sidecars)
			continue
		}
		needed := map[string]any{}
		resources.Add(needed, own)
		resources.Add(needed, object.ViewOf(sidecars))
		resources.Max(starting, needed)
	}
	resources.Max(running, starting)
	return running
}

// The quality of service (QoS) classes of a Pod.
const (
	BestEffort = "BestEffort" // no requests and limits
	burstable  = "Burstable"
	guaranteed = "Guaranteed" // limits for everything, equal to the requests
)

// A qosRule says which resources determine the QoS class of a Pod.
type qosRule struct {
	ignoresEmpty bool // pod-level resources without a request and a limit do not count
}

func qosRuleIn(r *release.Release) qosRule {
	return qosRule{ignoresEmpty: r.Enabled("PodLevelResourcesFixKubeletQOSClass")}
}

// QOSClass returns the QoS class of a Pod: the one in its status, or else that of its resources.
func QOSClass(pod map[string]any, r *release.Release) string { return qosRuleIn(r).of(pod) }

func (q qosRule) of(pod map[string]any) string {
	if class := object.String(pod, "status", "qosClass"); class != "" {
		return class
	}
	return q.class(object.ViewOf(object.Map(pod, "spec")))
}

// class returns the QoS class of the resources of a Pod. It uses the pod-level CPU and memory if
// the Pod has pod-level resources, and else those of its containers.
func (q qosRule) class(spec object.View) string {
	some, limited := false, true // limited: all have CPU and memory limits
	for r := range q.requirements(spec) {
		limits := resources.CountCompute(r.At("limits"))
		some = some || limits > 0 || resources.CountCompute(r.At("requests")) > 0
		limited = limited && limits == resources.ComputeResourceCount
	}
	switch {
	case !some:
		return BestEffort
	case !limited:
		return burstable
	}
	requests, limits := map[string]any{}, map[string]any{}
	for r := range q.requirements(spec) {
		resources.AddCompute(requests, r.At("requests"))
		resources.AddCompute(limits, r.At("limits"))
	}
	if len(requests) != len(limits) {
		return burstable
	}
	for name, v := range requests {
		request, _ := v.(string)
		limit, _ := limits[name].(string)
		if quantity.Compare(request, limit) != 0 {
			return burstable
		}
	}
	return guaranteed
}

// requirements iterates over the resource requirements of a Pod that determine its QoS class.
func (q qosRule) requirements(spec object.View) iter.Seq[object.View] {
	return func(yield func(object.View) bool) {
		ofPod := spec.At("resources")
		if ofPod.IsObject() && !(q.ignoresEmpty && ofPod.Len("requests") == 0 && ofPod.Len("limits") == 0) {
			yield(ofPod)
			return
		}
		for c := range readContainers(spec) {
			if !yield(c.At("resources")) {
				return
			}
		}
	}
}

// TotalResources returns the effective resources of a Pod, with the pod-level ones if the Pod has
// them. field is "requests" or "limits".
func TotalResources(spec object.View, field string) map[string]any {
	total := EffectiveResources(spec, field)
	resources := spec.At("resources")
	list := resources.At(field)
	for name, q := range list.Fields() {
		if isPodLevel(name) {
			total[name] = q.Shared()
		}
	}
	return total
}

// IsBestEffort reports whether the QoS class of a Pod is BestEffort.
func IsBestEffort(spec object.View) bool {
	return qosRule{}.class(spec) == BestEffort
}
