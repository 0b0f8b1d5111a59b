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

// Find returns the type of a resource, such as "pods" or "deployments.apps". The
// group follows the first dot; "events." is the resource of the core group.
// Without a group Find returns the first type with that name, in the registry's
// order. It returns nil if there is none.
func (r *Registry) Find(name string) *Type {
	name, group, hasGroup := strings.Cut(name, ".")
	for _, t := range r.types {
		if t.Name == name && (!hasGroup || t.Group == group) {
			return t
		}
	}
	return nil
}
