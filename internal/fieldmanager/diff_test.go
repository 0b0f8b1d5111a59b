package fieldmanager

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// everything is a schema with every sort of type.
const everything = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  text: {type: string}
  number: {type: number}
  truth: {type: boolean}
  untyped: {}
  free: {type: object}
  struct: {type: object, properties: {text: {type: string}, number: {type: integer}}}
  atom: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
  map: {type: object, additionalProperties: {type: object, properties: {text: {type: string}, number: {type: integer}}}}
  list: {type: array, items: {type: object, properties: {text: {type: string}}}}
  set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
  mapList:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [text, number]
    items: {type: object, properties: {text: {type: string, default: a}, number: {type: integer, default: 0}, free: {type: object}}}
`

// TestDiff compares the diff of random objects with structured-merge-diff's
// comparison. Many of the objects do not match the schema.
func TestDiff(t *testing.T) {
	for _, k := range []struct {
		name string
		*kind
	}{{"schema", custom(t, everything)}, {"deduced", custom(t, "")}} {
		t.Run(k.name, func(t *testing.T) {
			compared := 0
			for seed := range uint64(500) {
				r := rand.New(rand.NewPCG(seed, 0))
				before, after := randomObject(r), randomObject(r)
				if checkDiff(t, k.kind, before, after) {
					compared++
				}
				if t.Failed() {
					t.Fatalf("seed %d: %s\n%s", seed, text(before), text(after))
				}
			}
			assert.Greater(t, compared, 50)
		})
	}
}

// checkDiff reports whether the objects can be compared.
func checkDiff(t *testing.T, k *kind, before, after map[string]any) bool {
	lhs, err := k.asTyped(before, typed.AllowDuplicates)
	if err != nil {
		return false
	}
	rhs, err := k.asTyped(after, typed.AllowDuplicates)
	if err != nil {
		return false
	}
	want, wantErr := lhs.Compare(rhs)
	got, err := k.diff(before, after, &comparer{})
	if wantErr != nil {
		assert.Error(t, err)
		return false
	}
	if !assert.NoError(t, err) {
		return false
	}
	changed := want.Modified.Union(want.Added)
	got.normalize(nil)
	assert.Equal(t, names(nil).tree(changed).encode(), got.changed.encode(), "changed")
	assert.Equal(t, names(nil).tree(want.Removed).encode(), got.removed.encode(), "removed")
	return true
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func randomObject(r *rand.Rand) map[string]any {
	obj := map[string]any{}
	for _, name := range []string{"text", "number", "truth", "untyped", "free", "struct", "atom", "map", "list", "set", "mapList"} {
		if r.IntN(2) == 0 {
			obj[name] = randomMember(r, name)
		}
	}
	return obj
}

// randomMember returns a value that mostly matches the member's type.
func randomMember(r *rand.Rand, name string) any {
	if r.IntN(20) == 0 {
		return nil
	}
	if r.IntN(200) == 0 {
		name = "untyped"
	}
	object := func(names ...string) any {
		m := map[string]any{}
		for _, name := range names {
			if r.IntN(2) == 0 {
				m[name] = randomMember(r, name)
			}
		}
		return m
	}
	several := func(of func() any) any {
		l := make([]any, r.IntN(4))
		for i := range l {
			l[i] = of()
		}
		return l
	}
	switch name {
	case "text":
		return string(rune('a' + r.IntN(3)))
	case "number":
		if r.IntN(3) == 0 {
			return float64(r.IntN(2))
		}
		return r.Int64N(2)
	case "truth":
		return r.IntN(2) == 0
	case "struct":
		return object("text", "number")
	case "atom":
		m := map[string]any{}
		for range r.IntN(3) {
			m[fmt.Sprint(r.IntN(3))] = randomMember(r, "text")
		}
		return m
	case "map":
		m := map[string]any{}
		for range r.IntN(3) {
			m[fmt.Sprint(r.IntN(3))] = randomMember(r, "struct")
		}
		return m
	case "list":
		return several(func() any { return object("text") })
	case "set":
		return several(func() any { return r.Int64N(4) })
	case "mapList":
		return several(func() any { return object("text", "number", "free") })
	case "free":
		m := map[string]any{}
		for range r.IntN(3) {
			m[fmt.Sprint(r.IntN(3))] = randomMember(r, "untyped")
		}
		return m
	}
	return randomMember(r, []string{"text", "number", "truth", "free", "list", "set"}[r.IntN(6)])
}

// TestDiffMissingKeys: an element may lack some of several keys without
// default, but not all.
func TestDiffMissingKeys(t *testing.T) {
	k := custom(t, `
type: object
properties:
  devices:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [driver, share]
    items: {type: object, properties: {driver: {type: string}, share: {type: string}}}
`)
	d, err := k.diff(nil, parse(t, `devices: [{driver: a}, {driver: a, share: b}]`), &comparer{})
	require.NoError(t, err)
	assert.JSONEq(t, `{"f:devices":{".":{},
		"k:{\"driver\":\"a\"}":{".":{},"f:driver":{}},
		"k:{\"driver\":\"a\",\"share\":\"b\"}":{".":{},"f:driver":{},"f:share":{}}}}`, string(d.changed.encode()))
	_, err = k.diff(nil, parse(t, `devices: [{}]`), &comparer{})
	assert.EqualError(t, err, `.devices: a map list has an element without any of the keys ["driver" "share"]`)
}
