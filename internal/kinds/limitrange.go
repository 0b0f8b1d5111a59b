package kinds

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

var limitRangeKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "LimitRange"}

// limitRanges are those of the namespace that is written to.
func limitRanges(w *resource.Write) []map[string]any {
	return w.List(limitRangeKind, object.String(w.Object, "metadata", "namespace"))
}

// limitByDefault gives the containers of a new pod the requests and limits that
// they lack and the namespace's limit ranges have defaults for, and notes it in
// an annotation.
//
// See https://kubernetes.io/docs/concepts/policy/limit-range/.
func limitByDefault(w *resource.Write) {
	for _, r := range limitRanges(w) {
		limits, requests := map[string]any{}, map[string]any{}
		for limit := range limitsOf(r, "Container") {
			maps.Copy(limits, object.Map(limit, "default"))
			maps.Copy(requests, object.Map(limit, "defaultRequest"))
		}
		var notes []string
		for _, group := range []struct{ member, title string }{{"containers", "container"}, {"initContainers", "init container"}} {
			for container := range object.Each(object.Value(w.Object, "spec", group.member)) {
				for _, set := range []struct {
					member, title string
					defaults      map[string]any
				}{{"requests", "request", requests}, {"limits", "limit", limits}} {
					if added := addMissing(child(container, "resources"), set.member, set.defaults); len(added) > 0 {
						notes = append(notes, fmt.Sprintf("%s %s for %s %s", strings.Join(added, ", "), set.title, group.title, object.String(container, "name")))
					}
				}
			}
		}
		if len(notes) > 0 {
			object.Set(w.Object, "LimitRanger plugin set: "+strings.Join(notes, "; "), "metadata", "annotations", "kubernetes.io/limit-ranger")
		}
	}
}

// addMissing fills a member of obj, a map, with those of the defaults that it
// lacks and returns their names, sorted.
func addMissing(obj map[string]any, member string, defaults map[string]any) (added []string) {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if _, ok := object.Map(obj, member)[name]; !ok {
			child(obj, member)[name] = defaults[name]
			added = append(added, name)
		}
	}
	return added
}

// limitsOf are the limits of one type in a limit range.
func limitsOf(limitRange map[string]any, typ string) func(yield func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		for limit := range object.Each(object.Value(limitRange, "spec", "limits")) {
			if limit["type"] == typ && !yield(limit) {
				return
			}
		}
	}
}

// admitByLimits holds a new pod against the namespace's limit ranges.
func admitByLimits(w *resource.Write) error {
	spec := object.Map(w.Object, "spec")
	for _, r := range limitRanges(w) {
		var broken []string
		for limit := range object.Each(object.Value(r, "spec", "limits")) {
			switch limit["type"] {
			case "Container":
				for _, member := range []string{"containers", "initContainers"} {
					for container := range object.Each(spec[member]) {
						resources := object.Map(container, "resources")
						broken = append(broken, brokenLimits(limit, object.Map(resources, "requests"), object.Map(resources, "limits"))...)
					}
				}
			case "Pod":
				broken = append(broken, brokenLimits(limit, podTotal(spec, "requests"), podTotal(spec, "limits"))...)
			}
		}
		if err := aggregate(broken); err != nil {
			return err
		}
	}
	return nil
}

// admitClaimByLimits holds the storage that a claim requests against the
// namespace's limit ranges.
func admitClaimByLimits(w *resource.Write) error {
	requests := object.Map(w.Object, "spec", "resources", "requests")
	for _, r := range limitRanges(w) {
		var broken []string
		for limit := range limitsOf(r, "PersistentVolumeClaim") {
			broken = append(broken, brokenMinimums(limit, requests, nil)...)
			for name, most := range sorted(limit, "max") {
				request, ok := requests[name].(string)
				switch {
				case !ok:
					broken = append(broken, fmt.Sprintf("maximum %s usage per PersistentVolumeClaim is %s.  No request is specified", name, most))
				case compare(request, most) > 0:
					broken = append(broken, fmt.Sprintf("maximum %s usage per PersistentVolumeClaim is %s, but request is %s", name, most, request))
				}
			}
		}
		if err := aggregate(broken); err != nil {
			return err
		}
	}
	return nil
}

// brokenLimits tells what a limit has against requests and limits.
func brokenLimits(limit, requests, limits map[string]any) []string {
	broken := brokenMinimums(limit, requests, limits)
	typ := object.String(limit, "type")
	for name, most := range sorted(limit, "max") {
		request, requested := requests[name].(string)
		bound, bounded := limits[name].(string)
		switch {
		case !bounded:
			broken = append(broken, fmt.Sprintf("maximum %s usage per %s is %s.  No limit is specified", name, typ, most))
		case compare(bound, most) > 0:
			broken = append(broken, fmt.Sprintf("maximum %s usage per %s is %s, but limit is %s", name, typ, most, bound))
		case requested && compare(request, most) > 0:
			broken = append(broken, fmt.Sprintf("maximum %s usage per %s is %s, but request is %s", name, typ, most, request))
		}
	}
	for name, most := range sorted(limit, "maxLimitRequestRatio") {
		request, _ := requests[name].(string)
		bound, _ := limits[name].(string)
		switch {
		case !nonzero(request):
			broken = append(broken, fmt.Sprintf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, typ, most))
		case !nonzero(bound):
			broken = append(broken, fmt.Sprintf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, typ, most))
		default:
			if is := ratio(bound, request); is > ratio(most, "1") {
				broken = append(broken, fmt.Sprintf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, typ, most, is))
			}
		}
	}
	return broken
}

func brokenMinimums(limit, requests, limits map[string]any) (broken []string) {
	typ := object.String(limit, "type")
	for name, least := range sorted(limit, "min") {
		request, requested := requests[name].(string)
		bound, bounded := limits[name].(string)
		switch {
		case !requested:
			broken = append(broken, fmt.Sprintf("minimum %s usage per %s is %s.  No request is specified", name, typ, least))
		case compare(request, least) < 0:
			broken = append(broken, fmt.Sprintf("minimum %s usage per %s is %s, but request is %s", name, typ, least, request))
		case bounded && compare(bound, least) < 0:
			broken = append(broken, fmt.Sprintf("minimum %s usage per %s is %s, but limit is %s", name, typ, least, bound))
		}
	}
	return broken
}

// sorted are the quantities of a member by name.
func sorted(obj map[string]any, member string) func(yield func(name, quantity string) bool) {
	return func(yield func(name, quantity string) bool) {
		list := object.Map(obj, member)
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if q, ok := list[name].(string); ok && !yield(name, q) {
				return
			}
		}
	}
}

func ratio(a, b string) float64 {
	x, _ := nanos(a)
	y, _ := nanos(b)
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	return f
}

// podTotal is what a pod's containers have together of a member of their
// resources; cpu and memory that are said for the pod as a whole count instead.
func podTotal(spec map[string]any, member string) map[string]any {
	total := effective(spec, member)
	for name, q := range object.Map(spec, "resources", member) {
		if name == "cpu" || name == "memory" {
			total[name] = q
		}
	}
	return total
}

// sameQuantities reports whether two resource lists are of the same values.
func sameQuantities(a, b map[string]any) bool {
	return maps.EqualFunc(a, b, func(v, w any) bool {
		x, _ := v.(string)
		y, _ := w.(string)
		return compare(x, y) == 0
	})
}

// aggregate is several mistakes as one error; nil for none.
func aggregate(broken []string) error {
	var once []string
	for _, text := range broken {
		if !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	switch len(once) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s", once[0])
	}
	return fmt.Errorf("[%s]", strings.Join(once, ", "))
}
