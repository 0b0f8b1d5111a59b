package registry

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// A Surface is the set of types that a server serves at one moment: the built-in
// types of its release and those that CustomResourceDefinitions define. It is
// immutable: a change of the definitions makes another Surface.
type Surface struct {
	*resource.Types
	// Custom are the types that definitions define, in the order of the
	// definitions' names. A built-in type hides a custom one of the same path.
	Custom []*resource.Type

	base        *base
	definitions map[string]*definition // by name
	managers    *fieldManagerCache     // of custom types
	replaced    chan struct{}          // closed when another Surface takes its place
}

// Builtin returns the types of the release.
func (s *Surface) Builtin() *resource.Types { return s.base.types }

// Replaced returns a channel that is closed when the server serves another
// Surface.
func (s *Surface) Replaced() <-chan struct{} { return s.replaced }

// Serves reports whether t is still served as it was: with the same codec.
// Watches of a type that is not end.
func (s *Surface) Serves(t *resource.Type) bool {
	now := s.Lookup(t.Group, t.Version, t.Name)
	return now != nil && now.Codec == t.Codec
}

// fieldManagersOf returns the field managers of a type.
func (s *Surface) fieldManagersOf(t *resource.Type) *fieldManagers {
	if s.base.types.Has(t) {
		return s.base.managers.of(t)
	}
	return s.managers.of(t)
}

// base is what all servers of a release share. It is made once per process.
type base struct {
	types    *resource.Types
	managers *fieldManagerCache
	seeds    *seeds
	parsed   *storage.ParseCache
}

var bases sync.Map // of *release.Release to func() *base

func baseOf(p *release.Release) *base {
	once, ok := bases.Load(p)
	if !ok {
		once, _ = bases.LoadOrStore(p, sync.OnceValue(func() *base {
			served := resource.NewTypes(kinds.Types(p.Types()))
			return &base{types: served, managers: newFieldManagerCache(p), seeds: newSeeds(p, served), parsed: &storage.ParseCache{}}
		}))
	}
	return once.(func() *base)()
}

// builtinSurface returns a Surface of the built-in types of a release alone.
func builtinSurface(p *release.Release) *Surface {
	b := baseOf(p)
	return &Surface{Types: b.types, base: b, managers: newFieldManagerCache(p), replaced: make(chan struct{})}
}

// clone returns a copy of s that another Registry may serve. It leaves out the
// definitions whose conversion calls webhooks: that Registry reads them again, so
// that it calls webhooks on its own clock and through its own faults.
func (s *Surface) clone() *Surface {
	out := *s
	out.replaced = make(chan struct{})
	out.definitions = maps.Clone(s.definitions)
	maps.DeleteFunc(out.definitions, func(_ string, d *definition) bool {
		return object.String(d.object, "spec", "conversion", "strategy") == "Webhook"
	})
	return &out
}

// withDefinitions returns a Surface of the same types whose definitions are
// stored in a newer form.
func (s *Surface) withDefinitions(definitions map[string]*definition) *Surface {
	out := *s
	out.definitions = definitions
	return &out
}

// serve replaces the Surface by one with the types of the given definitions.
func (g *Registry) serve(definitions map[string]*definition) {
	was, out := g.served.Load(), builtinSurface(g.config.Release)
	out.definitions = definitions
	for _, d := range sortedDefinitions(definitions, func(*definition) bool { return true }) {
		for _, t := range d.Types {
			if g.base.types.Lookup(t.Group, t.Version, t.Name) == nil {
				out.Custom = append(out.Custom, t)
			}
		}
	}
	if len(out.Custom) > 0 {
		out.Types = resource.NewTypes(slices.Concat(g.base.types.All(), out.Custom))
	}
	was.managers.copyTo(out.managers, out.Custom)
	g.served.Store(out)
	close(was.replaced)
}

// sortedDefinitions returns the selected definitions in the order of their names.
func sortedDefinitions(definitions map[string]*definition, selected func(*definition) bool) []*definition {
	var out []*definition
	for _, d := range definitions {
		if selected(d) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *definition) int { return strings.Compare(a.stored.Name, b.stored.Name) })
	return out
}
