package resource

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/sortedset"
)

// Types is the set of types that a server serves at one moment: fixed ones, and those
// of definitions, which come and go. It is immutable.
type Types struct {
	fixed *fixedTypes

	// defined are the types of definitions, and kinds the same types by kind.
	defined sortedset.Set[definedTypes]
	kinds   sortedset.Set[*Type]
}

// fixedTypes are the types that all sets which derive from one share.
type fixedTypes struct {
	types    []*Type
	byName   map[string][]*Type
	byKind   map[string][]*Type
	versions map[GroupVersion]bool
	groups   map[string]bool
}

// definedTypes are the types of one definition: the versions of a resource, the
// preferred one first. Prefix distinguishes definitions of one resource.
type definedTypes struct {
	group, resource, prefix string
	versions                []*Type
}

func definedLess(a, b definedTypes) bool {
	switch {
	case a.group != b.group:
		return a.group < b.group
	case a.resource != b.resource:
		return a.resource < b.resource
	}
	return a.prefix < b.prefix
}

func kindLess(a, b *Type) bool {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Prefix, b.Prefix)) < 0
}

// NewTypes returns the set of the given types, which are fixed.
func NewTypes(types []*Type) *Types {
	f := &fixedTypes{
		types:    types,
		byName:   make(map[string][]*Type, len(types)),
		byKind:   make(map[string][]*Type, len(types)),
		versions: map[GroupVersion]bool{},
		groups:   map[string]bool{},
	}
	for _, t := range types {
		f.byName[t.Name] = append(f.byName[t.Name], t)
		f.byKind[t.Kind] = append(f.byKind[t.Kind], t)
		f.versions[t.GroupVersion] = true
		f.groups[t.Group] = true
	}
	return &Types{fixed: f, defined: sortedset.New(definedLess), kinds: sortedset.New(kindLess)}
}

// Replace returns the set with other types of one definition: without those of old, and
// with those of replacement. Both are the versions of one resource, the preferred one
// first, and may be empty. A version with fixed types has no types of definitions: those are
// hidden. Replace takes time in the order of the logarithm of the number of definitions.
func (s *Types) Replace(old, replacement []*Type) *Types {
	out := &Types{fixed: s.fixed, defined: s.defined, kinds: s.kinds.With(old, replacement)}
	out.defined = s.defined.With(ofDefinition(old), ofDefinition(replacement))
	return out
}

// ofDefinition returns the element for the types of a definition, none if there are no
// types.
func ofDefinition(versions []*Type) []definedTypes {
	if len(versions) == 0 {
		return nil
	}
	t := versions[0]
	return []definedTypes{{t.Group, t.Name, t.Prefix, versions}}
}

// All returns the fixed types in the order in which NewTypes got them, and then those
// of Defined.
func (s *Types) All() iter.Seq[*Type] {
	return func(yield func(*Type) bool) {
		for _, t := range s.fixed.types {
			if !yield(t) {
				return
			}
		}
		s.Defined()(yield)
	}
}

// Defined returns the types of definitions, ordered by group and name; the versions of a
// resource in the order that Replace got.
func (s *Types) Defined() iter.Seq[*Type] {
	return func(yield func(*Type) bool) {
		for d := range s.defined.All() {
			for _, t := range d.versions {
				if !s.fixed.versions[t.GroupVersion] && !yield(t) {
					return
				}
			}
		}
	}
}

// Lookup returns the type served at a path, or nil.
func (s *Types) Lookup(group, version, resource string) *Type {
	gv := GroupVersion{group, version}
	if t := withVersion(s.fixed.byName[resource], gv); t != nil || s.fixed.versions[gv] {
		return t
	}
	return s.lookupDefined(group, version, resource)
}

// withVersion returns the type in a group version, or nil.
func withVersion(types []*Type, gv GroupVersion) *Type {
	for _, t := range types {
		if t.GroupVersion == gv {
			return t
		}
	}
	return nil
}

// lookupDefined is Lookup among custom resources.
func (s *Types) lookupDefined(group, version, resource string) *Type {
	for prefix := ""; ; {
		d, ok := s.defined.First(definedTypes{group: group, resource: resource, prefix: prefix})
		if !ok || d.group != group || d.resource != resource {
			return nil
		}
		if i := slices.IndexFunc(d.versions, func(t *Type) bool { return t.Version == version }); i >= 0 {
			return d.versions[i]
		}
		prefix = d.prefix + "\x00"
	}
}

// Has reports whether t is in the set.
func (s *Types) Has(t *Type) bool { return s.Lookup(t.Group, t.Version, t.Name) == t }

// ForKind returns the type of the objects of a kind, or nil.
func (s *Types) ForKind(k Kind) *Type {
	if t := withVersion(s.fixed.byKind[k.Kind], k.GroupVersion); t != nil || s.fixed.versions[k.GroupVersion] {
		return t
	}
	t, ok := s.kinds.First(&Type{GroupVersion: k.GroupVersion, Kind: k.Kind})
	if !ok || t.GroupVersion != k.GroupVersion || t.Kind != k.Kind {
		return nil
	}
	return t
}

// ServesVersion reports whether any resource is served in the group version.
func (s *Types) ServesVersion(gv GroupVersion) bool {
	if s.fixed.versions[gv] {
		return true
	}
	t, ok := s.kinds.First(&Type{GroupVersion: gv})
	return ok && t.GroupVersion == gv
}

// ServesGroup reports whether any version of the group is served.
func (s *Types) ServesGroup(group string) bool {
	if s.fixed.groups[group] {
		return true
	}
	d, ok := s.defined.First(definedTypes{group: group})
	return ok && d.group == group
}

// Find returns the type of a resource, such as "pods" or "deployments.apps". The
// group follows the first dot; "events." is the resource of the core group.
// Without a group Find returns the first type with that name, in the order of
// All. It returns nil if there is none.
func (s *Types) Find(name string) *Type {
	name, group, hasGroup := strings.Cut(name, ".")
	for t := range s.All() {
		if t.Name == name && (!hasGroup || t.Group == group) {
			return t
		}
	}
	return nil
}

// Meant returns the name of a resource, as Find takes it, that a person means by the
// singular, the kind or a short name of the resource, or by its name in other case: "pods"
// for "Pod", "deployments.apps" for "deploy.apps". It returns "" if there is none.
func (s *Types) Meant(name string) string {
	word, group, hasGroup := strings.Cut(name, ".")
	for t := range s.All() {
		if word == "" || hasGroup && t.Group != group {
			continue
		}
		if strings.EqualFold(word, t.Kind) || strings.EqualFold(word, t.Singular) || strings.EqualFold(word, t.Name) || slices.Contains(t.ShortNames, word) {
			return t.Name + name[len(word):]
		}
	}
	return ""
}
