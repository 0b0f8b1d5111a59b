package fieldmanager

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/merge"

	"github.com/kubefake/kubefake/internal/object"
)

const listSchema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  ports:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name, protocol]
    items:
      type: object
      properties: {name: {type: string}, protocol: {type: string, default: TCP}, port: {type: integer}, labels: {type: object, additionalProperties: {type: string}}}
  hosts: {type: array, x-kubernetes-list-type: set, items: {type: string}}
`

func listObject(ports, hosts []any) map[string]any {
	return map[string]any{
		"apiVersion": "ex.com/v1", "kind": "Foo", "metadata": map[string]any{"name": "x", "uid": "1"},
		"ports": ports, "hosts": hosts,
	}
}

// longObject returns an object with n elements in each associative list, in random
// order.
func longObject(r *rand.Rand, n int) map[string]any {
	ports, hosts := make([]any, n), make([]any, n)
	for i, k := range r.Perm(n) {
		name := fmt.Sprintf("n%07d", k)
		ports[i] = map[string]any{"name": name, "port": int64(k)}
		hosts[n-1-i] = name
	}
	return listObject(ports, hosts)
}

// TestApplyManyElements checks that the steps and the allocated objects of an apply
// grow with the length of lists, not with its square.
func TestApplyManyElements(t *testing.T) {
	k := custom(t, listSchema)
	measure := func(n int) (steps, allocs float64) {
		r := rand.New(rand.NewPCG(1, 2))
		live, err := k.Apply(object.View{}, longObject(r, n), Options{Manager: "a"})
		require.NoError(t, err)
		half := longObject(r, n/2)
		o := Options{Manager: "a", Now: time.Unix(1, 0)}
		allocs = testing.AllocsPerRun(1, func() {
			read, err := parseOwners(metadata(live)["managedFields"].([]any), nil)
			require.NoError(t, err)
			a := newApplication(k.Type, WithoutManagedFields(live), half, read, o)
			a.ctx = context.Background()
			out, err := a.run()
			require.NoError(t, err)
			require.Len(t, out["ports"], n/2)
			steps = float64(a.count)
		})
		return steps, allocs
	}
	steps, allocs := measure(2000)
	steps2, allocs2 := measure(4000)
	require.NotZero(t, steps)
	assert.Less(t, steps2/steps, 3.0, "steps: %v, %v", steps, steps2)
	assert.Less(t, allocs2/allocs, 3.0, "allocations: %v, %v", allocs, allocs2)
}

// TestApplyAsUpdater compares applies with those of structured-merge-diff's updater.
func TestApplyAsUpdater(t *testing.T) {
	t.Run("lists", func(t *testing.T) { applyAsUpdater(t, randomLists, custom(t, listSchema).Type) })
	t.Run("everything", func(t *testing.T) {
		random := func(r *rand.Rand, _ bool) map[string]any {
			obj := randomObject(r)
			obj["apiVersion"], obj["kind"], obj["metadata"] = "ex.com/v1", "Foo", map[string]any{"uid": "u"}
			return obj
		}
		applyAsUpdater(t, random, custom(t, everything).Type)
	})
}

// applyAsUpdater applies random objects, which are in the first version, in all of them.
func applyAsUpdater(t *testing.T, random func(r *rand.Rand, duplicates bool) map[string]any, versions ...*Type) {
	compared := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 0))
		live := random(r, r.IntN(3) == 0)
		last := map[string]map[string]any{} // by manager and version
		var err error
		for i := range 6 {
			k := versions[r.IntN(len(versions))]
			in := func(obj map[string]any) map[string]any {
				if obj["apiVersion"] != k.apiVersion {
					obj, _, err = k.convert(obj, k.apiVersion)
					require.NoError(t, err)
				}
				return obj
			}
			live = in(live)
			o := Options{Manager: string(rune('a' + r.IntN(3))), Now: time.Unix(int64(i), 0), Force: r.IntN(3) > 0}
			if r.IntN(4) == 0 {
				live = k.Update(object.ViewOf(live), withManaged(in(random(r, r.IntN(3) == 0)), live), o)
				continue
			}
			applied := in(random(r, r.IntN(20) == 0))
			if before := last[o.Manager+k.apiVersion]; before != nil && r.IntN(2) == 0 {
				// The same fields as before or more, some with other values.
				both := object.Copy(before)
				for name, v := range applied {
					if both[name] == nil || r.IntN(4) == 0 {
						both[name] = v
					}
				}
				applied = both
			}
			last[o.Manager+k.apiVersion] = applied
			applied = object.Copy(applied)
			delete(applied["metadata"].(map[string]any), "uid")
			before := WithoutManagedFields(live)
			var outs, managers [2]any
			var errs [2]error
			for j := range outs {
				list, _ := managedFields(live)
				read, err := parseOwners(list, nil)
				require.NoError(t, err)
				var out map[string]any
				var after owners
				if j == 0 {
					a := newApplication(k, before, applied, read, o)
					out, errs[j] = a.run()
					after = a.owners
				} else {
					out, after, errs[j] = k.applyTyped(before, applied, read, o)
				}
				if errs[j] == nil {
					outs[j], managers[j] = out, after.format()
				}
			}
			if errors.Is(errs[0], errInvalid) {
				continue // Apply asks the updater
			}
			compared++
			if errs[0] != nil {
				require.EqualError(t, errs[1], errs[0].Error(), "seed %d, step %d", seed, i)
			}
			var conflicts [2]merge.Conflicts
			require.Equal(t, errors.As(errs[1], &conflicts[1]), errors.As(errs[0], &conflicts[0]), "seed %d, step %d: %v", seed, i, errs)
			require.Equal(t, errs[1] == nil, errs[0] == nil, "seed %d, step %d: %v", seed, i, errs)
			if conflicts[0] != nil {
				require.Equal(t, conflicts[1].Error(), conflicts[0].Error())
			}
			require.Equal(t, outs[1], outs[0], "seed %d, step %d: %v + %v", seed, i, before, applied)
			require.Equal(t, managers[1], managers[0], "seed %d, step %d", seed, i)
			var next map[string]any
			if next, err = k.Apply(object.ViewOf(live), applied, o); err == nil {
				live = next
			}
		}
	}
	assert.Greater(t, compared, 400)
}

// withManaged returns obj with the managedFields of live.
func withManaged(obj, live map[string]any) map[string]any {
	list, _ := managedFields(live)
	setManagedFields(obj, list)
	return obj
}

// randomLists returns an object with short random lists.
func randomLists(r *rand.Rand, duplicates bool) map[string]any {
	names := func() (out []string) {
		for _, i := range r.Perm(7)[:r.IntN(7)] {
			out = append(out, string(rune('a'+i)))
		}
		if duplicates && len(out) > 0 {
			out = append(out, out[r.IntN(len(out))])
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	ports, hosts := []any{}, []any{}
	for _, name := range names() {
		port := map[string]any{"name": name}
		if r.IntN(3) == 0 {
			port["protocol"] = []any{"TCP", "UDP"}[r.IntN(2)]
		}
		switch r.IntN(5) {
		case 0:
			port["port"] = int64(r.IntN(2))
		case 1:
			port["labels"] = map[string]any{}
		case 2:
			port["labels"] = map[string]any{name: "x", "y": nil}
		case 3:
			port["labels"] = nil
		}
		ports = append(ports, port)
	}
	for _, name := range names() {
		hosts = append(hosts, name)
	}
	obj := listObject(ports, hosts)
	switch r.IntN(8) {
	case 0:
		delete(obj, "ports")
	case 1:
		obj["hosts"] = nil
	}
	return obj
}

// A countdown is a context that ends with its n-th check.
type countdown struct {
	context.Context
	left, checks int
}

func (c *countdown) Err() error {
	c.checks++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestEnd ends the context of writes at their checks.
func TestEnd(t *testing.T) {
	const n = 2 * pace
	k := custom(t, listSchema)
	r := rand.New(rand.NewPCG(1, 2))
	live, err := k.Apply(object.View{}, longObject(r, n), Options{Manager: "a"})
	require.NoError(t, err)
	next := longObject(r, n/2)
	for _, test := range []struct {
		name  string
		write func(o Options) bool // reports whether the write succeeds
	}{
		{"apply", func(o Options) bool {
			_, err := k.Apply(object.ViewOf(live), next, o)
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
			}
			return err == nil
		}},
		{"apply without managed fields", func(o Options) bool {
			_, err := k.Apply(object.ViewOf(WithoutManagedFields(live)), next, o)
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
			}
			return err == nil
		}},
		{"update", func(o Options) bool {
			_, managed := managedFields(k.Update(object.ViewOf(live), object.Copy(next), o))
			return managed
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for at := 0; ; at += 1 + at/4 {
				ctx := &countdown{Context: context.Background(), left: at}
				done := test.write(Options{Manager: "a", Force: true, Now: time.Unix(1, 0), Context: ctx})
				if done {
					assert.Greater(t, at, 4, "checks")
					return
				}
				assert.LessOrEqual(t, ctx.checks, at+3, "checks after the end")
				require.Less(t, at, 1000)
			}
		})
	}
}
