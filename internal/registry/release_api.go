package registry

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/admission/dynamic"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
)

// A releaseAPI is the API of one release, as API servers of a cluster serve it: the types,
// those of the definitions in the store, and the rules for writes. API servers of the same
// release share it.
type releaseAPI struct {
	*base
	lifetime   context.Context // of the Registry
	plugins    *plugin.Chain
	allocator  *allocator.Allocator // of cluster IPs and node ports
	served     atomic.Pointer[Surface]
	configured atomic.Pointer[dynamic.Snapshot] // webhooks and policies
	prototypes prototypesByType

	// manifests are the webhooks and policies in files. They change under
	// Registry.reloading, and the slice is replaced.
	manifests []plugin.Manifests
}

// newReleaseAPI returns the API of the release of a Surface, of which it serves a copy.
func (g *Registry) newReleaseAPI(plugins *plugin.Chain, served *Surface) *releaseAPI {
	a := &releaseAPI{base: served.base, lifetime: g.config.Context, plugins: plugins, manifests: plugins.Manifests()}
	a.served.Store(served.copyFor(a))
	a.allocator = g.newAllocator(a)
	return a
}

// apis returns the APIs of the API servers, that of the first one first.
func (g *Registry) apis() []*releaseAPI {
	var out []*releaseAPI
	for _, f := range *g.fronts.Load() {
		if a := f.api.Load(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}
