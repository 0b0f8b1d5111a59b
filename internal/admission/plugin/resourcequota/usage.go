package resourcequota

import (
	"iter"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// Computes reports whether a quantity counts the objects of a type, or is one that they
// use.
func Computes(t *resource.Type, name string) bool {
	if !quotable(t) {
		return false
	}
	e := evaluatorOf(storedResource(t))
	return e.computes(name)
}

// quotable reports whether quotas count the objects of a type.
func quotable(t *resource.Type) bool { return t.Namespaced && !t.Virtual() && t.Name != "events" }

// SameUsage reports whether two versions of an object use the same.
func SameUsage(t *resource.Type, a, b object.View) bool {
	e := evaluatorOf(storedResource(t))
	return object.Equal(e.usage(a), e.usage(b))
}

// Used returns what the objects of a namespace use of the quantities in spec.hard of a
// quota. It has those only that the types determine. objects returns the objects of a
// type in the namespace, in the storage version.
func Used(quota object.View, types iter.Seq[*resource.Type], objects func(*resource.Type) iter.Seq[object.View]) map[string]any {
	used := map[string]any{}
	hard, scopes := quota.At("spec", "hard").Keys(), scopesOf(quota)
	for t := range types {
		if !quotable(t) {
			continue
		}
		e := evaluatorOf(storedResource(t))
		names := slices.DeleteFunc(slices.Clone(hard), func(name string) bool { return !e.computes(name) })
		if len(names) == 0 {
			continue
		}
		for _, name := range names {
			used[name] = "0"
		}
		for obj := range objects(t) {
			if slices.ContainsFunc(scopes, func(s scope) bool { return e.inScope == nil || !e.inScope(obj, s) }) {
				continue
			}
			usage := e.usage(obj)
			for _, name := range names {
				if q, ok := usage[name].(string); ok {
					resources.AddQuantity(used, name, q)
				}
			}
		}
	}
	return used
}
