package resource

import "strings"

// Types is the set of types that a server serves at one moment. It is immutable.
type Types struct {
	types    []*Type
	byPath   map[path]*Type
	byKind   map[Kind]*Type
	versions map[GroupVersion]bool
	groups   map[string]bool
}

type path struct{ group, version, resource string }

// NewTypes returns the set of the given types.
func NewTypes(types []*Type) *Types {
	s := &Types{
		types:    types,
		byPath:   make(map[path]*Type, len(types)),
		byKind:   make(map[Kind]*Type, len(types)),
		versions: map[GroupVersion]bool{},
		groups:   map[string]bool{},
	}
	for _, t := range types {
		s.byPath[path{t.Group, t.Version, t.Name}] = t
		s.byKind[Kind{t.GroupVersion, t.Kind}] = t
		s.versions[t.GroupVersion] = true
		s.groups[t.Group] = true
	}
	return s
}

// All returns the types in the order in which NewTypes got them. The slice is
// shared: do not change it.
func (s *Types) All() []*Type { return s.types }

// Lookup returns the type served at a path, or nil.
func (s *Types) Lookup(group, version, resource string) *Type {
	return s.byPath[path{group, version, resource}]
}

// Has reports whether t is in the set.
func (s *Types) Has(t *Type) bool { return s.Lookup(t.Group, t.Version, t.Name) == t }

// ForKind returns the type of the objects of a kind, or nil.
func (s *Types) ForKind(k Kind) *Type { return s.byKind[k] }

// ServesVersion reports whether any resource is served in the group version.
func (s *Types) ServesVersion(gv GroupVersion) bool { return s.versions[gv] }

// ServesGroup reports whether any version of the group is served.
func (s *Types) ServesGroup(group string) bool { return s.groups[group] }

// Find returns the type of a resource, such as "pods" or "deployments.apps". The
// group follows the first dot; "events." is the resource of the core group.
// Without a group Find returns the first type with that name, in the order of
// All. It returns nil if there is none.
func (s *Types) Find(name string) *Type {
	name, group, hasGroup := strings.Cut(name, ".")
	for _, t := range s.types {
		if t.Name == name && (!hasGroup || t.Group == group) {
			return t
		}
	}
	return nil
}
