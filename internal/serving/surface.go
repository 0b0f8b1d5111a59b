package serving

import (
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// A Surface is the set of types that a server serves at one moment: the built-in
// types of its release and those that CustomResourceDefinitions define. It is
// immutable: a change of the definitions makes another Surface.
type Surface struct {
	*resource.Types
	Definitions Definitions

	api       *API
	replaced  chan struct{} // closed when a Surface of other types takes its place
	restarted chan struct{} // closed when an API server leaves the API for another release's
}

// API returns the API that the Surface is of.
func (s *Surface) API() *API { return s.api }

// Release returns the release whose API is served.
func (s *Surface) Release() *release.Release { return s.api.Release }

// Builtin returns the types of the release.
func (s *Surface) Builtin() *resource.Types { return s.api.Builtin }

// Replaced returns a channel that is closed when the server serves another Surface, which
// may not serve t. Definitions do not close that of a type that is built in.
func (s *Surface) Replaced(t *resource.Type) <-chan struct{} {
	if s.api.Builtin.Has(t) {
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

// ManagersOf returns the field managers of a type.
func (s *Surface) ManagersOf(t *resource.Type) *Managers {
	if s.api.Builtin.Has(t) {
		return s.api.managers.of(t)
	}
	if d := s.Definitions.Of(t); d != nil {
		return d.managers.of(t)
	}
	return newManagerCache(s.api.lifetime, s.api.Release).of(t) // of a definition that is gone
}
