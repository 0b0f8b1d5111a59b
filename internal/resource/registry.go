package resource

import "strings"

// A Registry is the set of types that a server serves at one moment. It is
// immutable: a change of the set is another Registry, so a request that took
// one sees it unchanged to its end.
type Registry struct {
	types    []*Type
	byPath   map[path]*Type
	byKind   map[Kind]*Type
	versions map[GroupVersion]bool
	groups   map[string]bool
}

type path struct{ group, version, resource string }

// NewRegistry returns a registry of types, in their order.
func NewRegistry(types []*Type) *Registry {
	r := &Registry{
		types:    types,
		byPath:   make(map[path]*Type, len(types)),
		byKind:   make(map[Kind]*Type, len(types)),
		versions: map[GroupVersion]bool{},
		groups:   map[string]bool{},
	}
	for _, t := range types {
		r.byPath[path{t.Group, t.Version, t.Name}] = t
		r.byKind[Kind{t.GroupVersion, t.Kind}] = t
		r.versions[t.GroupVersion] = true
		r.groups[t.Group] = true
	}
	return r
}

// Types are the types in the order they were given. The slice is shared.
func (r *Registry) Types() []*Type { return r.types }

// Lookup returns the type served at a path, or nil.
func (r *Registry) Lookup(group, version, resource string) *Type {
	return r.byPath[path{group, version, resource}]
}

// Has reports whether t is in the registry.
func (r *Registry) Has(t *Type) bool { return r.Lookup(t.Group, t.Version, t.Name) == t }

// ForKind returns the type of the objects of a kind, or nil.
func (r *Registry) ForKind(k Kind) *Type { return r.byKind[k] }

// Serves reports whether any resource is served in the group version.
func (r *Registry) Serves(gv GroupVersion) bool { return r.versions[gv] }

// ServesGroup reports whether any version of the group is served.
func (r *Registry) ServesGroup(group string) bool { return r.groups[group] }

// Find returns the type that a person means by name: a resource, its singular
// or a short name, with the group after a dot where one is meant
// ("deployments.apps"). Among several the first in the registry's order is
// taken. It returns nil if there is none.
func (r *Registry) Find(name string) *Type {
	name = strings.ToLower(name)
	for _, t := range r.types {
		if t.answersTo(name) {
			return t
		}
	}
	return nil
}

func (t *Type) answersTo(name string) bool {
	if resource, group, dotted := strings.Cut(name, "."); dotted {
		if group != t.Group {
			return false
		}
		name = resource
	}
	if name == t.Name || name == t.Singular || strings.EqualFold(name, t.Kind) {
		return true
	}
	for _, s := range t.ShortNames {
		if name == s {
			return true
		}
	}
	return false
}
