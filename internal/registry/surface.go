package registry

import (
	"context"
	"sync"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// A Surface is the set of types that a server serves at one moment: the built-in
// types of its release and those that CustomResourceDefinitions define. It is
// immutable: a change of the definitions makes another Surface.
type Surface struct {
	*resource.Types

	api         *releaseAPI
	base        *base // of api
	definitions definitions
	replaced    chan struct{} // closed when a Surface of other types takes its place
	restarted   chan struct{} // closed when an API server leaves the API for another release's
}

// Release returns the release whose API is served.
func (s *Surface) Release() *release.Release { return s.base.release }

// Builtin returns the types of the release.
func (s *Surface) Builtin() *resource.Types { return s.base.types }

// Replaced returns a channel that is closed when the server serves another Surface, which
// may not serve t. Definitions do not close that of a type that is built in.
func (s *Surface) Replaced(t *resource.Type) <-chan struct{} {
	if s.base.types.Has(t) {
		return s.restarted
	}
	return s.replaced
}

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
	if d := s.definitions.of(t); d != nil {
		return d.managers.of(t)
	}
	return newFieldManagerCache(s.api.lifetime, s.base.release).of(t) // of a definition that is gone
}

// base is what all servers of a release share. It is made once per process.
type base struct {
	release  *release.Release
	types    *resource.Types
	managers *fieldManagerCache
	seeds    *seeds

	definitions definitions // none
}

var bases sync.Map // of *release.Release to func() *base

func baseOf(p *release.Release) *base {
	once, ok := bases.Load(p)
	if !ok {
		once, _ = bases.LoadOrStore(p, sync.OnceValue(func() *base {
			served := resource.NewTypes(kinds.Types(p))
			return &base{release: p, types: served, managers: newFieldManagerCache(context.Background(), p), seeds: newSeeds(p, served), definitions: newDefinitions()}
		}))
	}
	return once.(func() *base)()
}

// builtinSurface returns a Surface of the built-in types of a release alone.
func builtinSurface(p *release.Release) *Surface {
	b := baseOf(p)
	return &Surface{Types: b.types, base: b, definitions: b.definitions, replaced: make(chan struct{}), restarted: make(chan struct{})}
}

// copyFor returns a copy of s for a to serve.
func (s *Surface) copyFor(a *releaseAPI) *Surface {
	out := *s
	out.api, out.replaced, out.restarted = a, make(chan struct{}), make(chan struct{})
	return &out
}

// withDefinitions returns a Surface of the same types with other definitions.
func (s *Surface) withDefinitions(d definitions) *Surface {
	out := *s
	out.definitions = d
	return &out
}

// restart tells the watches of the Surface to look which one serves them. The caller holds
// definitionsMu.
func (a *releaseAPI) restart() {
	was := a.served.Load()
	a.served.Store(was.copyFor(a))
	close(was.replaced)
	close(was.restarted)
}

// serve replaces the Surface by one of other definitions and types. The caller holds
// definitionsMu, unless no other goroutine has a yet.
func (a *releaseAPI) serve(d definitions, types *resource.Types) {
	was := a.served.Load()
	out := was.withDefinitions(d)
	if types == was.Types {
		a.served.Store(out)
		return
	}
	out.Types, out.replaced = types, make(chan struct{})
	a.served.Store(out)
	close(was.replaced)
}
