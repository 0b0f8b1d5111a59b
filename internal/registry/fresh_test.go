//go:build go1.24

package registry

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// A fixture says how a registry differs from one of the newest release on a running clock.
type fixture struct {
	release *release.Release
	seed    uint64
	clock   *clock.Clock
}

// fresh returns a registry with the namespace default.
func fresh(t testing.TB, of fixture) *Registry {
	t.Helper()
	if of.release == nil {
		newest, err := release.Open("")
		require.NoError(t, err)
		of.release = newest
	}
	if of.clock == nil {
		of.clock = clock.New()
	}
	types, source, now := serving.Builtin(of.release), ids.New(of.seed), of.clock.Now
	plugins, err := plugin.Selection{}.Chain(of.release, types)
	require.NoError(t, err)
	store := storage.NewStore(of.clock, storage.Limits{})
	definer := &definer{serving.NewAPI(t.Context(), of.release, plugins)}
	definer.Allocator = allocator.New(allocator.Config{
		Services: types.Lookup("", "v1", "services"), Endpoints: types.Lookup("", "v1", "endpoints"), Store: store, Random: source.Below,
	})
	tokens := &serviceaccount.Tokens{Keys: serviceaccount.NewKeys(serviceaccount.Config{}), Types: types, Store: store, Now: now, NewUID: source.UID}
	g := New(Config{
		Context: t.Context(), Clock: of.clock, Store: store, IDs: source, Journal: journal.New(now), Follower: definer, Tokens: tokens,
		Authenticator: &authn.Authenticator{Now: now, ServiceAccounts: tokens}, Authorizer: authz.Authorizer{Policy: &authz.StorePolicy{Types: types, Store: store}},
	})
	t.Cleanup(func() {
		store.Close()
		g.Close()
	})
	_, err = g.Put([]byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`))
	require.NoError(t, err)
	return g
}

// A definer serves what the definitions in the store define. It is a Follower.
type definer struct{ *serving.API }

func (definer) Begin(*resource.Type, bool) (end func()) { return func() {} }

func (d *definer) Committed(w Write) {
	if w.Type.Virtual() || !w.Type.DefinesAPI {
		return
	}
	now := d.Surface()
	for _, e := range w.Events {
		obj := e.Item.Value.Decode(w.Type)
		for next := obj; next != nil; next = crd.Reconcile(object.ViewOf(obj), now.Definitions.Names, "2030-01-01T00:00:00Z") {
			obj = next
		}
		made := serving.NewDefinition(context.Background(), d.Release, w.Type, storage.New(w.Type, obj, nil), nil, crd.Options{})
		d.Serve(now.Definitions.With(e.Item.Value.Name, made), now.Types.Replace(nil, made.Types))
	}
}
