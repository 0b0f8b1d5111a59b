//go:build go1.24

package serving

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// newAPI returns the API of the newest release.
func newAPI(t *testing.T) *API {
	t.Helper()
	p, err := release.Open("")
	require.NoError(t, err)
	plugins, err := plugin.Selection{}.Chain(p, Builtin(p))
	require.NoError(t, err)
	return NewAPI(t.Context(), p, plugins)
}

// define returns an established definition of a kind.
func define(t *testing.T, a *API, plural string) *Definition {
	t.Helper()
	typ := a.Builtin.Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	require.NotNil(t, typ)
	names := map[string]any{"plural": plural, "singular": plural, "kind": "K" + plural, "listKind": "K" + plural + "List"}
	obj := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{"group": "example.com", "scope": "Namespaced", "names": names, "versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		}}},
	}
	for next := obj; next != nil; next = crd.Reconcile(object.ViewOf(obj), a.Surface().Definitions.Names, "2030-01-01T00:00:00Z") {
		obj = next
	}
	return NewDefinition(t.Context(), a.Release, typ, storage.New(typ, obj, nil), nil, crd.Options{UID: ids.New(1).UID})
}

// TestDefinitions adds and removes definitions at random, and checks that each set has what it had when
// it was made.
func TestDefinitions(t *testing.T) {
	a, random := newAPI(t), rand.New(rand.NewPCG(1, 2))
	var made []*Definition
	for i := range 6 {
		made = append(made, define(t, a, fmt.Sprint("things", i)))
	}
	type version struct {
		set  Definitions
		want map[string]*Definition
	}
	versions := []version{{a.Surface().Definitions, map[string]*Definition{}}}
	for range 60 {
		last := versions[len(versions)-1]
		next := version{want: maps.Clone(last.want)}
		d := made[random.IntN(len(made))]
		if name := d.Stored.Name; random.IntN(3) == 0 {
			next.set = last.set.With(name, nil)
			delete(next.want, name)
		} else {
			next.set = last.set.With(name, d)
			next.want[name] = d
		}
		versions = append(versions, next)
	}
	for i, v := range versions {
		got := map[string]*Definition{}
		var names []string
		for name, d := range v.set.All() {
			got[name] = d
			names = append(names, name)
		}
		assert.Equal(t, v.want, got, "set %d", i)
		assert.True(t, slices.IsSorted(names))
		assert.Len(t, v.set.Unsettled, len(v.want), "each is new")
		for _, d := range made {
			assert.Same(t, v.want[d.Stored.Name], v.set.Get(d.Stored.Name))
		}
	}
}

// isClosed reports whether a channel is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestServe checks which watches look for another Surface: those of custom resources after a change of
// the types, and all after a restart.
func TestServe(t *testing.T) {
	a := newAPI(t)
	pods := a.Builtin.Lookup("", "v1", "pods")
	d := define(t, a, "things")
	things := d.Types[0]
	first := a.Surface()

	a.Serve(first.Definitions.With(d.Stored.Name, d), first.Types.Replace(nil, d.Types))
	second := a.Surface()
	assert.True(t, isClosed(first.Replaced(things)))
	assert.False(t, isClosed(first.Replaced(pods)), "a definition does not concern it")
	assert.True(t, second.Serves(things))
	assert.False(t, first.Serves(things), "a Surface does not change")

	a.Serve(second.Definitions.Settled(d.Stored.Name), second.Types)
	assert.False(t, isClosed(second.Replaced(things)), "the types are the same")
	assert.Empty(t, a.Surface().Definitions.Unsettled)
	assert.Len(t, second.Definitions.Unsettled, 1)

	a.Restart()
	assert.True(t, isClosed(second.Replaced(pods)))
	assert.False(t, isClosed(a.Surface().Replaced(pods)))

	a.Serve(a.Surface().Definitions.With(d.Stored.Name, nil), a.Builtin)
	assert.False(t, a.Surface().Serves(things))
	assert.NotNil(t, a.Surface().ManagersOf(things), "a request that has begun may still need them")
}

// TestForkedAPI checks that a fork serves the same types, and does not follow its parent.
func TestForkedAPI(t *testing.T) {
	a := newAPI(t)
	d := define(t, a, "things")
	a.Serve(a.Surface().Definitions.With(d.Stored.Name, d), a.Surface().Types.Replace(nil, d.Types))
	fork := a.Fork(t.Context())
	a.Serve(a.Surface().Definitions.With(d.Stored.Name, nil), a.Builtin)
	assert.True(t, fork.Surface().Serves(d.Types[0]))
	assert.Same(t, fork, fork.Surface().API())
	assert.Same(t, a.Release, fork.Release)
	var types []*resource.Type
	for typ := range fork.Surface().All() {
		types = append(types, typ)
	}
	assert.Contains(t, types, d.Types[0])
}
