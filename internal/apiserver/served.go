package apiserver

import (
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/openapi"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// served is what a server serves at one moment: the profile's surface and, on
// top of it, what the definitions in its store define. It is immutable: a change
// of the definitions makes another one.
type served struct {
	*surface
	registry    *resource.Registry
	documents   *discovery.Documents
	custom      []*openapi.Document     // of what is defined
	openapi     func() *openapi.Service // made when it is first asked for
	definitions map[string]*definition  // by name
	owners      *owners                 // of custom resources
	replaced    chan struct{}           // closed when another one takes its place
}

// A definition is one as it lies in the store, and what is made of it.
type definition struct {
	stored *storage.Object
	object map[string]any
	*crd.Definition
}

// bare serves the profile alone.
func (s *Server) bare() *served {
	return s.own(&served{surface: s.surface, registry: s.surface.registry, documents: s.surface.documents, owners: newOwners(s.surface.release)})
}

// own is what another server serves, for s to serve.
func (s *Server) own(now *served) *served {
	out := *now
	out.openapi = sync.OnceValue(func() *openapi.Service {
		return openapi.New(slices.Concat(out.surface.openapi, out.custom), s.clock.Now)
	})
	out.replaced = make(chan struct{})
	return &out
}

// serveDefinitions takes definitions in the place of those that are served.
func (s *Server) serveDefinitions(definitions map[string]*definition) {
	was, out := s.served.Load(), s.bare()
	out.definitions = definitions
	var types []*resource.Type
	var custom []resource.GroupVersion
	for _, d := range sortedDefinitions(definitions) {
		for _, t := range d.Types {
			if s.surface.registry.Lookup(t.Group, t.Version, t.Name) != nil {
				continue // the server's own come first
			}
			types, custom = append(types, t), append(custom, t.GroupVersion)
		}
	}
	if len(types) > 0 {
		out.registry = resource.NewRegistry(append(slices.Clone(s.surface.registry.Types()), types...))
		surface := s.surface.discovery
		surface.Custom = custom
		surface.Types = append(slices.Clone(surface.Types), types...)
		out.documents = discovery.New(surface)
		out.custom = documentsOf(s.surface.release, types)
	}
	was.owners.keep(out.owners, types)
	s.served.Store(out)
	close(was.replaced)
}

func sortedDefinitions(definitions map[string]*definition) []*definition {
	var out []*definition
	for _, d := range definitions {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *definition) int {
		if a.stored.Name < b.stored.Name {
			return -1
		}
		return 1
	})
	return out
}

// documentsOf are the OpenAPI documents of types that definitions define, one for
// each group version.
func documentsOf(p *release.Release, types []*resource.Type) []*openapi.Document {
	byVersion := map[resource.GroupVersion][]*resource.Type{}
	for _, t := range types {
		byVersion[t.GroupVersion] = append(byVersion[t.GroupVersion], t)
	}
	var out []*openapi.Document
	for gv, types := range byVersion {
		d := openapi.NewDocument("apis/"+gv.String(), "", func() ([]byte, error) { return crd.Document(p, types) })
		out = append(out, d.WithV2(func() openapi.InV2 { return crd.InV2(types) }))
	}
	return out
}

// with is s with its definitions as they lie in the store now, of which nothing
// else is to be made.
func (s *served) with(definitions map[string]*definition) *served {
	out := *s
	out.definitions = definitions
	return &out
}

// ended reports whether objects of t are not served any more, or not as they
// were: then watches of them end.
func (s *served) ended(t *resource.Type) bool {
	now := s.registry.Lookup(t.Group, t.Version, t.Name)
	return now == nil || now.Codec != t.Codec
}

// ownershipOf is who owns what in t's objects.
func (s *served) ownershipOf(t *resource.Type) *ownership {
	if s.surface.registry.Has(t) {
		return s.surface.owners.of(t)
	}
	return s.owners.of(t)
}
