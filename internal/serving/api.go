package serving

import (
	"context"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/once"

	"github.com/kubefake/kubefake/internal/admission/dynamic"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

// An API is the API of one release, as API servers of a cluster serve it: the types, those of
// the definitions in the store, and the rules for writes. API servers of the same release share
// it. It is safe for concurrent use.
type API struct {
	Release   *release.Release
	Builtin   *resource.Types // of the release
	Plugins   *plugin.Chain
	Allocator *allocator.Allocator // of cluster IPs and node ports

	// Manifests are the webhooks and policies in files. The cluster guards them, and replaces the
	// slice.
	Manifests []plugin.Manifests

	lifetime context.Context // of conversions
	managers *managerCache   // of Builtin
	served   atomic.Pointer[Surface]
	policies atomic.Pointer[dynamic.Snapshot]
}

// NewAPI returns the API of a release, which serves its built-in types. lifetime ends with the
// server. The caller sets Allocator.
func NewAPI(lifetime context.Context, p *release.Release, plugins *plugin.Chain) *API {
	b := builtinOf(p)
	a := &API{Release: p, Builtin: b.types, Plugins: plugins, Manifests: plugins.Manifests(), lifetime: lifetime, managers: b.managers}
	a.served.Store(&Surface{Types: b.types, Definitions: b.none, api: a, replaced: make(chan struct{}), restarted: make(chan struct{})})
	return a
}

// Fork returns an API for a fork of the server, which serves what a serves. The caller sets
// Allocator and Manifests.
func (a *API) Fork(lifetime context.Context) *API {
	out := NewAPI(lifetime, a.Release, a.Plugins.Fork())
	served := *a.Surface()
	served.api, served.replaced, served.restarted = out, make(chan struct{}), make(chan struct{})
	out.served.Store(&served)
	out.policies.Store(a.policies.Load())
	return out
}

// Surface returns what is served now.
func (a *API) Surface() *Surface { return a.served.Load() }

// Policies returns the webhooks and policies that are called, nil if there are none.
func (a *API) Policies() *dynamic.Snapshot { return a.policies.Load() }

// SetPolicies replaces the webhooks and policies.
func (a *API) SetPolicies(p *dynamic.Snapshot) { a.policies.Store(p) }

// Serve replaces the Surface by one of other definitions and types. It must not run
// concurrently with itself or with Restart.
func (a *API) Serve(d Definitions, types *resource.Types) {
	was := a.served.Load()
	out := *was
	out.Definitions = d
	if types == was.Types {
		a.served.Store(&out)
		return
	}
	out.Types, out.replaced = types, make(chan struct{})
	a.served.Store(&out)
	close(was.replaced)
}

// Restart makes the watches of the Surface look which one serves them.
func (a *API) Restart() {
	was := a.served.Load()
	out := *was
	out.replaced, out.restarted = make(chan struct{}), make(chan struct{})
	a.served.Store(&out)
	close(was.replaced)
	close(was.restarted)
}

// builtin is what all servers of a release share. It is made once per process.
type builtin struct {
	types    *resource.Types
	managers *managerCache
	none     Definitions
}

var builtinOf = once.PerKey(func(p *release.Release) *builtin {
	return &builtin{types: resource.NewTypes(kinds.Types(p)), managers: newManagerCache(context.Background(), p), none: newDefinitions()}
})

// Builtin returns the types of a release.
func Builtin(p *release.Release) *resource.Types { return builtinOf(p).types }
