// Package resourcequota is the ResourceQuota admission plugin. It refuses
// requests that would use more than a ResourceQuota of their namespace allows.
//
// An evaluator computes what the objects of a resource use. A ResourceQuota
// limits nothing until its status has a limit and the present use: in a cluster
// its controller writes them.
//
// See https://kubernetes.io/docs/concepts/policy/resource-quotas/.
package resourcequota

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin evaluates requests. Unlike other plugins it needs its caller to store
// the new use of the quotas.
type Plugin struct {
	// Limited are the resources that need a quota.
	Limited []LimitedResource
}

var _ admission.Plugin = Plugin{}

// Name returns "ResourceQuota".
func (Plugin) Name() string { return "ResourceQuota" }

// Resources returns nil. Quotas limit every namespaced resource, custom ones
// included.
func (Plugin) Resources() []status.GroupResource { return nil }

// Kind is the kind of ResourceQuotas.
var Kind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "ResourceQuota"}

// Handles reports whether a request can change the use of a quota. Like
// kube-apiserver, the plugin ignores Events and objects that are not stored, such
// as reviews.
func (Plugin) Handles(a *admission.Attributes) bool {
	if !a.Type.Namespaced || a.Type.Virtual() || a.Type.Name == "events" || a.Operation != admission.Create && a.Operation != admission.Update {
		return false
	}
	e, ok := evaluators[storedResource(a.Type)]
	if !ok {
		return a.Operation == admission.Create && a.Subresource == ""
	}
	return e.handles(a)
}

// Evaluate returns the status.used of each quota after a request that the plugin
// handles; nil for a quota whose use does not change. The quotas are those of
// the namespace. An error refuses the request.
func (p Plugin) Evaluate(a *admission.Attributes, quotas []object.View) (used []map[string]any, err error) {
	e := evaluatorOf(storedResource(a.Type))
	obj, old := object.ViewOf(a.Object), a.Old
	if stored := a.Type.Storage(); stored != a.Type {
		for _, version := range []*object.View{&obj, &old} {
			converted, err := stored.ConvertCopy(context.Background(), *version)
			if err != nil {
				return nil, err
			}
			*version = object.ViewOf(converted)
		}
	}
	var matching []int
	for i, quota := range quotas {
		if !e.matches(quota, obj) {
			continue
		}
		if err := e.check(quota, obj); err != nil {
			return nil, err
		}
		matching = append(matching, i)
	}
	used = make([]map[string]any, len(quotas))
	usage := e.usage(obj)
	if len(p.Limited) > 0 {
		if err := p.checkCovered(a, &e, obj, old, quotas, matching); err != nil {
			return nil, err
		}
	}
	if len(matching) == 0 {
		return used, nil
	}
	for _, i := range matching {
		delta := usage
		if !old.IsNil() && e.matches(quotas[i], old) {
			delta = increase(usage, object.ViewOf(e.usage(old)))
		}
		if used[i], err = add(quotas[i], delta, a.Subresource != "status"); err != nil {
			return nil, err
		}
	}
	return used, nil
}

// storedResource returns the resource of a type in the group that it is stored
// in.
func storedResource(t *resource.Type) status.GroupResource {
	return status.GroupResource{Group: t.Stored.Group, Resource: t.Name}
}

// limited returns the names of the quantities that the quota limits and the
// evaluator computes, sorted.
func (e *evaluator) limited(quota object.View) (names []string) {
	for name := range quota.At("status", "hard").Fields() {
		if e.computes(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// matches reports whether the quota limits the object.
func (e *evaluator) matches(quota, obj object.View) bool {
	if len(e.limited(quota)) == 0 {
		return false
	}
	for _, scope := range scopesOf(quota) {
		if e.inScope == nil || !e.inScope(obj, scope) {
			return false
		}
	}
	return true
}

// check returns an error if the object lacks requests or limits that the quota
// needs, or the quota lacks its present use.
func (e *evaluator) check(quota, obj object.View) error {
	name, limited := quota.String("metadata", "name"), e.limited(quota)
	if e.missing != nil {
		if missing := e.missing(obj, limited); missing != "" {
			return fmt.Errorf("failed quota: %s: must specify %s", name, missing)
		}
	}
	used := quota.At("status", "used")
	if slices.ContainsFunc(limited, func(name string) bool { return !used.Has(name) }) {
		return fmt.Errorf("status unknown for quota: %s, resources: %s", name, strings.Join(limited, ","))
	}
	return nil
}

// add returns status.used of a quota with delta added; nil if the quota limits
// nothing of it. With enforce it fails if that exceeds a limit.
func add(quota object.View, delta map[string]any, enforce bool) (map[string]any, error) {
	hard, used := quota.At("status", "hard"), quota.At("status", "used")
	requested, exceeded := map[string]any{}, []string{}
	after := used.ShallowCopy()
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		limit := hard.String(name)
		q, _ := delta[name].(string)
		if limit == "" || !quantity.IsNonZero(q) {
			continue
		}
		requested[name] = q
		resources.Add(after, object.ViewOf(map[string]any{name: q}))
		if total, _ := after[name].(string); quantity.Compare(total, limit) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if enforce && len(exceeded) > 0 {
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			quota.String("metadata", "name"), listText(object.ViewOf(requested), exceeded), listText(used, exceeded), listText(hard, exceeded))
	}
	if len(requested) == 0 {
		return nil, nil
	}
	return after, nil
}

// listText returns the named quantities of a list as text: "cpu=1,pods=2".
func listText(list object.View, names []string) string {
	var parts []string
	for _, name := range names {
		if q := list.At(name); !q.IsNil() {
			parts = append(parts, name+"="+q.String())
		}
	}
	return strings.Join(parts, ",")
}

// increase returns list - old without the quantities that did not grow.
func increase(list map[string]any, old object.View) map[string]any {
	out := make(map[string]any, len(list))
	for name, v := range list {
		q, _ := v.(string)
		if before := old.String(name); before != "" {
			if quantity.Compare(q, before) <= 0 {
				continue
			}
			q = quantity.Sub(q, before)
		}
		out[name] = q
	}
	return out
}

// A scope is a condition on the objects that a quota limits.
type scope struct {
	name, operator string
	values         []string
}

func scopesOf(quota object.View) (all []scope) {
	for _, name := range quota.Strings("spec", "scopes") {
		all = append(all, scope{name: name, operator: "Exists"})
	}
	for e := range quota.At("spec", "scopeSelector", "matchExpressions").Objects() {
		all = append(all, scope{e.String("scopeName"), e.String("operator"), e.Strings("values")})
	}
	return all
}

// selects reports whether the operator holds for the names of an object's
// classes. Names that are "" do not count.
func (s scope) selects(names ...string) bool {
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	hasValue := func(name string) bool { return slices.Contains(s.values, name) }
	switch s.operator {
	case "Exists":
		return len(names) > 0
	case "DoesNotExist":
		return len(names) == 0
	case "In":
		return slices.ContainsFunc(names, hasValue)
	}
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !hasValue(name) })
}
