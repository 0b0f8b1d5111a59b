package pods

import (
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// requestLimits has a container request what it is limited to and does not
// request.
func requestLimits(container map[string]any) {
	limits := object.Map(container, "resources", "limits")
	if len(limits) == 0 {
		return
	}
	requests := object.EnsureMap(object.EnsureMap(container, "resources"), "requests")
	for name, limit := range limits {
		object.SetDefault(requests, name, limit)
	}
}

// defaultPodResources sets the defaults of the resources of a pod as a whole, if it says
// anything of them, from those of its containers.
func defaultPodResources(spec map[string]any) {
	list := object.Map(spec, "resources")
	if len(object.Map(list, "limits")) == 0 && len(object.Map(list, "requests")) == 0 {
		return
	}
	limits := map[string]any{}
	for name, limit := range EffectiveResources(spec, "limits") {
		if resources.IsHugePages(name) && object.Value(list, "requests", name) == nil {
			limits[name] = limit
		}
	}
	resources.SetDefaults(list, "limits", limits)
	if len(object.Map(list, "limits")) == 0 {
		return
	}
	requests := map[string]any{}
	for name, request := range EffectiveResources(spec, "requests") {
		if name == "cpu" || name == "memory" {
			requests[name] = request
		}
	}
	resources.SetDefaults(list, "requests", requests)
	requests = map[string]any{}
	for name, limit := range object.Map(list, "limits") {
		if name == "cpu" || name == "memory" || resources.IsHugePages(name) {
			requests[name] = limit
		}
	}
	resources.SetDefaults(list, "requests", requests)
}

// EffectiveResources are the resources that a pod's containers need together: all at
// once, or more while an init container runs. A sidecar, an init container that
// stays, counts from its start on.
func EffectiveResources(spec map[string]any, kind string) map[string]any {
	running, sidecars, starting := map[string]any{}, map[string]any{}, map[string]any{}
	for c := range object.Each(spec["containers"]) {
		resources.Add(running, object.Map(c, "resources", kind))
	}
	for c := range object.Each(spec["initContainers"]) {
		own := object.Map(c, "resources", kind)
		if object.String(c, "restartPolicy") == "Always" {
			resources.Add(running, own)
			resources.Add(sidecars, own)
			resources.Max(starting, sidecars)
			continue
		}
		needed := map[string]any{}
		resources.Add(needed, own)
		resources.Add(needed, sidecars)
		resources.Max(starting, needed)
	}
	resources.Max(running, starting)
	return running
}

// The classes of a pod's quality of service.
const (
	bestEffort = "BestEffort" // it asks for nothing
	burstable  = "Burstable"
	guaranteed = "Guaranteed" // it asks in all for as much as it is limited to
)

// qosClass is the quality of service of a pod, by what it requests and is
// limited to of CPU and memory: as a whole if it says so, else in its
// containers.
func qosClass(spec map[string]any) string {
	requests, limits := map[string]any{}, map[string]any{}
	limited := true // in both, everywhere
	count := func(list map[string]any) {
		resources.AddCompute(requests, object.Map(list, "requests"))
		limited = resources.AddCompute(limits, object.Map(list, "limits")) == resources.ComputeResourceCount && limited
	}
	if resources, ok := spec["resources"].(map[string]any); ok {
		count(resources)
	} else {
		for c := range RegularContainers(spec) {
			count(object.Map(c, "resources"))
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return bestEffort
	}
	if !limited || len(requests) != len(limits) {
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

// TotalResources returns the sum of a member of the resources of a pod's
// containers, "requests" or "limits". Its cpu and memory are those of the pod as
// a whole if the pod has them.
func TotalResources(spec map[string]any, member string) map[string]any {
	total := EffectiveResources(spec, member)
	resources, _ := spec["resources"].(map[string]any)
	list, _ := resources[member].(map[string]any)
	for name, q := range list {
		if name == "cpu" || name == "memory" {
			total[name] = q
		}
	}
	return total
}

// IsBestEffort reports whether the quality of service of a pod is BestEffort.
func IsBestEffort(spec map[string]any) bool { return qosClass(spec) == bestEffort }
