// Package limitranger is the LimitRanger admission plugin. It sets the default
// requests and limits of containers, and checks pods and claims for volumes
// against the LimitRanges of their namespace.
//
// See https://kubernetes.io/docs/concepts/policy/limit-range/.
package limitranger

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator] and [admission.Validator].
type Plugin struct{}

var (
	_ admission.Mutator   = Plugin{}
	_ admission.Validator = Plugin{}
)

// Name returns "LimitRanger".
func (Plugin) Name() string { return "LimitRanger" }

var (
	podResource   = status.GroupResource{Resource: "pods"}
	claimResource = status.GroupResource{Resource: "persistentvolumeclaims"}
)

// Resources returns pods and persistentvolumeclaims.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{podResource, claimResource}
}

var limitRangeKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "LimitRange"}

// limitRanges returns the LimitRanges of the namespace of a request.
func limitRanges(a *admission.Attributes) []object.View {
	return a.Reader.List(limitRangeKind, a.Namespace)
}

// applies reports whether the LimitRanges apply to a request: a pod that is new or resized, or a
// claim. They do not to what is being deleted.
func applies(a *admission.Attributes) bool {
	if a.Operation == admission.Update && !a.Old.IsNil("metadata", "deletionTimestamp") {
		return false
	}
	switch a.GroupResource() {
	case podResource:
		return a.Subresource == "resize" || a.Subresource == "" && a.Operation == admission.Create
	case claimResource:
		return a.Subresource == ""
	}
	return false
}

// Mutate sets the requests and limits that the containers of a new or resized pod do
// not have and the LimitRanges have defaults for. An annotation lists them.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.GroupResource() != podResource || !applies(a) {
		return nil
	}
	for _, limitRange := range limitRanges(a) {
		limits, requests := map[string]any{}, map[string]any{}
		for limit := range limitsOfType(limitRange, "Container") {
			maps.Copy(limits, limit.At("default").SharedMembers())
			maps.Copy(requests, limit.At("defaultRequest").SharedMembers())
		}
		if len(limits)+len(requests) == 0 {
			continue
		}
		var changes []string
		for _, list := range []struct{ field, title string }{{"containers", "container"}, {"initContainers", "init container"}} {
			spec := object.Map(a.Object, "spec")
			if spec[list.field] != nil {
				spec[list.field] = object.Copy(spec[list.field]) // others may share what is in it
			}
			for container := range object.Each(spec[list.field]) {
				for _, set := range []struct {
					field, title string
					defaults     map[string]any
				}{{"requests", "request", requests}, {"limits", "limit", limits}} {
					if added := setDefaults(container, set.field, set.defaults); len(added) > 0 {
						changes = append(changes, fmt.Sprintf("%s %s for %s %s", strings.Join(added, ", "), set.title, list.title, object.String(container, "name")))
					}
				}
			}
		}
		if len(changes) > 0 {
			object.Set(a.Object, "LimitRanger plugin set: "+strings.Join(changes, "; "), "metadata", "annotations", "kubernetes.io/limit-ranger")
		}
	}
	return nil
}

// setDefaults adds quantities to the requests or limits of a container and
// returns the names of those that it did not have, sorted.
func setDefaults(container map[string]any, field string, defaults map[string]any) (added []string) {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if _, ok := object.Map(container, "resources", field)[name]; !ok {
			object.Set(container, defaults[name], "resources", field, name)
			added = append(added, name)
		}
	}
	return added
}

// limitsOfType returns the limits of a LimitRange that have the type.
func limitsOfType(limitRange object.View, typ string) iter.Seq[object.View] {
	return func(yield func(object.View) bool) {
		for limit := range limitRange.At("spec", "limits").Objects() {
			if limit.String("type") == typ && !yield(limit) {
				return
			}
		}
	}
}

// Validate checks new and resized pods, and claims.
func (Plugin) Validate(a *admission.Attributes) error {
	if !applies(a) {
		return nil
	}
	var check func(limitRange object.View) []string
	switch a.GroupResource() {
	case podResource:
		spec := object.Map(a.Object, "spec")
		check = func(limitRange object.View) []string { return podViolations(limitRange, spec) }
	case claimResource:
		requests := object.Map(a.Object, "spec", "resources", "requests")
		check = func(limitRange object.View) []string { return claimViolations(limitRange, requests) }
	}
	for _, limitRange := range limitRanges(a) {
		if err := aggregate(check(limitRange)); err != nil {
			return err
		}
	}
	return nil
}

func podViolations(limitRange object.View, spec map[string]any) (violations []string) {
	for limit := range limitRange.At("spec", "limits").Objects() {
		switch limit.String("type") {
		case "Container":
			for _, field := range []string{"containers", "initContainers"} {
				for container := range object.Each(spec[field]) {
					resources := object.Map(container, "resources")
					violations = append(violations, limitViolations(limit, object.Map(resources, "requests"), object.Map(resources, "limits"))...)
				}
			}
		case "Pod":
			violations = append(violations, limitViolations(limit, pods.TotalResources(object.ViewOf(spec), "requests"), pods.TotalResources(object.ViewOf(spec), "limits"))...)
		}
	}
	return violations
}

func claimViolations(limitRange object.View, requests map[string]any) (violations []string) {
	for limit := range limitsOfType(limitRange, "PersistentVolumeClaim") {
		violations = append(violations, minViolations(limit, requests, nil)...)
		for name, maximum := range quantities(limit, "max") {
			request, ok := requests[name].(string)
			switch {
			case !ok:
				violations = append(violations, fmt.Sprintf("maximum %s usage per PersistentVolumeClaim is %s.  No request is specified", name, maximum))
			case quantity.Compare(request, maximum) > 0:
				violations = append(violations, fmt.Sprintf("maximum %s usage per PersistentVolumeClaim is %s, but request is %s", name, maximum, request))
			}
		}
	}
	return violations
}

// limitViolations checks requests and limits against min, max and
// maxLimitRequestRatio of a limit.
func limitViolations(limit object.View, requests, limits map[string]any) []string {
	violations := minViolations(limit, requests, limits)
	typ := limit.String("type")
	for name, maximum := range quantities(limit, "max") {
		request, hasRequest := requests[name].(string)
		own, hasLimit := limits[name].(string)
		switch {
		case !hasLimit:
			violations = append(violations, fmt.Sprintf("maximum %s usage per %s is %s.  No limit is specified", name, typ, maximum))
		case quantity.Compare(own, maximum) > 0:
			violations = append(violations, fmt.Sprintf("maximum %s usage per %s is %s, but limit is %s", name, typ, maximum, own))
		case hasRequest && quantity.Compare(request, maximum) > 0:
			violations = append(violations, fmt.Sprintf("maximum %s usage per %s is %s, but request is %s", name, typ, maximum, request))
		}
	}
	for name, maximum := range quantities(limit, "maxLimitRequestRatio") {
		request, _ := requests[name].(string)
		own, _ := limits[name].(string)
		switch {
		case !quantity.IsNonZero(request):
			violations = append(violations, fmt.Sprintf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, typ, maximum))
		case !quantity.IsNonZero(own):
			violations = append(violations, fmt.Sprintf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, typ, maximum))
		default:
			if ratio, ok := limitRequestRatio(own, request, maximum); !ok {
				violations = append(violations, fmt.Sprintf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, typ, maximum, ratio))
			}
		}
	}
	return violations
}

func minViolations(limit object.View, requests, limits map[string]any) (violations []string) {
	typ := limit.String("type")
	for name, minimum := range quantities(limit, "min") {
		request, hasRequest := requests[name].(string)
		own, hasLimit := limits[name].(string)
		switch {
		case !hasRequest:
			violations = append(violations, fmt.Sprintf("minimum %s usage per %s is %s.  No request is specified", name, typ, minimum))
		case quantity.Compare(request, minimum) < 0:
			violations = append(violations, fmt.Sprintf("minimum %s usage per %s is %s, but request is %s", name, typ, minimum, request))
		case hasLimit && quantity.Compare(own, minimum) < 0:
			violations = append(violations, fmt.Sprintf("minimum %s usage per %s is %s, but limit is %s", name, typ, minimum, own))
		}
	}
	return violations
}

// limitRequestRatio returns limit / request, and whether it is at most the maximum. kube-apiserver
// calculates with floats, so that some ratios exceed an equal maximum.
func limitRequestRatio(limit, request, maximum string) (ratio float64, ok bool) {
	const unit, thousandth = 1e9, 1e6 // in billionths
	count := func(q string, billionths int64) float64 {
		f, _ := new(big.Float).SetInt(quantity.Count(q, billionths)).Float64()
		return f
	}
	precise := func(q string) bool { // in thousandths
		return quantity.Count(q, unit).Cmp(big.NewInt(math.MaxInt64/1000)) <= 0
	}
	if precise(limit) && precise(request) && precise(maximum) {
		ratio = count(limit, thousandth) / count(request, thousandth)
	} else {
		ratio = count(limit, unit) / count(request, unit)
	}
	if precise(maximum) {
		return ratio, ratio*1000 <= count(maximum, thousandth)
	}
	return ratio, ratio <= count(maximum, unit)
}

// quantities returns the quantities in a field, sorted by name.
func quantities(obj object.View, field string) iter.Seq2[string, string] {
	return func(yield func(name, quantity string) bool) {
		list := obj.At(field)
		for _, name := range list.Keys() {
			if !yield(name, list.String(name)) {
				return
			}
		}
	}
}

// aggregate returns messages as one error, each once; nil for no message.
func aggregate(messages []string) error {
	var unique []string
	for _, m := range messages {
		if !slices.Contains(unique, m) {
			unique = append(unique, m)
		}
	}
	switch len(unique) {
	case 0:
		return nil
	case 1:
		return errors.New(unique[0])
	}
	return fmt.Errorf("[%s]", strings.Join(unique, ", "))
}
