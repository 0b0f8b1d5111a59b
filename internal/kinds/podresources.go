package kinds

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// requestLimits has a container request what it is limited to and does not
// request.
func requestLimits(container map[string]any) {
	limits := object.Map(container, "resources", "limits")
	if len(limits) == 0 {
		return
	}
	requests := child(child(container, "resources"), "requests")
	for name, limit := range limits {
		fill(requests, name, limit)
	}
}

// defaultPodResources completes the resources of a pod as a whole, if it says
// anything of them, from those of its containers.
func defaultPodResources(spec map[string]any) {
	resources := object.Map(spec, "resources")
	if len(object.Map(resources, "limits")) == 0 && len(object.Map(resources, "requests")) == 0 {
		return
	}
	limits := map[string]any{}
	for name, limit := range effective(spec, "limits") {
		if isHugePages(name) && object.Value(resources, "requests", name) == nil {
			limits[name] = limit
		}
	}
	fillList(resources, "limits", limits)
	if len(object.Map(resources, "limits")) == 0 {
		return
	}
	requests := map[string]any{}
	for name, request := range effective(spec, "requests") {
		if name == "cpu" || name == "memory" {
			requests[name] = request
		}
	}
	fillList(resources, "requests", requests)
	requests = map[string]any{}
	for name, limit := range object.Map(resources, "limits") {
		if name == "cpu" || name == "memory" || isHugePages(name) {
			requests[name] = limit
		}
	}
	fillList(resources, "requests", requests)
}

// fillList gives a resource list the quantities that it lacks. It makes no
// empty list.
func fillList(resources map[string]any, name string, quantities map[string]any) {
	if len(quantities) == 0 {
		return
	}
	list := child(resources, name)
	for resource, q := range quantities {
		fill(list, resource, q)
	}
}

func isHugePages(resource string) bool { return strings.HasPrefix(resource, "hugepages-") }

// effective are the resources that a pod's containers need together: all at
// once, or more while an init container runs. A sidecar, an init container that
// stays, counts from its start on.
func effective(spec map[string]any, kind string) map[string]any {
	running, sidecars, starting := map[string]any{}, map[string]any{}, map[string]any{}
	for c := range object.Each(spec["containers"]) {
		addList(running, object.Map(c, "resources", kind))
	}
	for c := range object.Each(spec["initContainers"]) {
		own := object.Map(c, "resources", kind)
		if object.String(c, "restartPolicy") == "Always" {
			addList(running, own)
			addList(sidecars, own)
			maxList(starting, sidecars)
			continue
		}
		needed := map[string]any{}
		addList(needed, own)
		addList(needed, sidecars)
		maxList(starting, needed)
	}
	maxList(running, starting)
	return running
}

// addList adds the quantities of src to those of dst.
func addList(dst, src map[string]any) {
	for name, v := range src {
		q, _ := v.(string)
		addQuantity(dst, name, q)
	}
}

func addQuantity(dst map[string]any, name, q string) {
	if own, ok := dst[name].(string); ok {
		q = sum(own, q)
	}
	dst[name] = q
}

// maxList raises the quantities of dst to those of src.
func maxList(dst, src map[string]any) {
	for name, v := range src {
		q, _ := v.(string)
		if own, ok := dst[name].(string); !ok || compare(own, q) < 0 {
			dst[name] = q
		}
	}
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
	count := func(resources map[string]any) {
		addComputing(requests, object.Map(resources, "requests"))
		limited = addComputing(limits, object.Map(resources, "limits")) == len(computing) && limited
	}
	if resources, ok := spec["resources"].(map[string]any); ok {
		count(resources)
	} else {
		for c := range resourceful(spec) {
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
		if compare(request, limit) != 0 {
			return burstable
		}
	}
	return guaranteed
}

// computing are the resources that tell the quality of service.
var computing = [...]string{"cpu", "memory"}

// addComputing adds of src what is more than none of CPU and memory, and returns
// of how many that is.
func addComputing(dst, src map[string]any) (n int) {
	for _, name := range computing {
		if q := object.String(src, name); positive(q) {
			addQuantity(dst, name, q)
			n++
		}
	}
	return n
}
