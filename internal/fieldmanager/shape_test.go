package fieldmanager

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// TestShape checks that objects which have the shape of another one have its fields, and
// match the schema.
func TestShape(t *testing.T) {
	pod, err := os.ReadFile("testdata/pod.yaml")
	require.NoError(t, err)
	deployment := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {a: b}, finalizers: [ex.com/a, ex.com/b], ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  strategy: {rollingUpdate: {maxSurge: 1}}
  template:
    metadata: {labels: {a: b}}
    spec:
      tolerations: [{key: a, operator: Exists}]
      containers: [{name: c, image: i, args: [x], env: [{name: A, value: x}], ports: [{containerPort: 80}, {containerPort: 81, protocol: UDP}]}]
`
	for _, test := range []struct {
		name string
		*kind
		object func(r *rand.Rand) map[string]any
	}{
		{"schema", custom(t, everything), randomObject},
		{"deduced", custom(t, ""), randomObject},
		{"Pod", builtin(t, "", "v1", "Pod"), func(*rand.Rand) map[string]any { return parse(t, string(pod)) }},
		{"Deployment", builtin(t, "apps", "v1", "Deployment"), func(*rand.Rand) map[string]any { return parse(t, deployment) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			shapes, fit := 0, 0
			for seed := range uint64(400) {
				r := rand.New(rand.NewPCG(seed, 0))
				obj := varyObject(r, test.object(r))
				if test.wire != nil {
					var err error
					if obj, _, err = test.wire.Normalize(obj, wire.DecodeOptions{}); err != nil {
						continue
					}
				}
				want, err := test.changes(test.zero, obj, Options{})
				if err != nil || !test.matchSchema(test.zero, obj) {
					continue
				}
				s := shapeOf(test.compiled().types, test.zero, obj)
				if s == nil {
					continue
				}
				shapes++
				require.True(t, s.fits(obj), "seed %d: the object itself", seed)
				for range 20 {
					other := varyObject(r, obj)
					if !s.fits(other) {
						continue
					}
					fit++
					got, err := test.changes(test.zero, other, Options{})
					require.NoError(t, err, "seed %d: %s\n%s", seed, text(obj), text(other))
					require.Equal(t, want.text, got.text, "seed %d: %s\n%s", seed, text(obj), text(other))
					require.True(t, test.matchSchema(test.zero, other), "seed %d: %s", seed, text(other))
				}
			}
			assert.Greater(t, shapes, 50)
			assert.Greater(t, fit, 100)
		})
	}
}

func varyObject(r *rand.Rand, obj map[string]any) map[string]any {
	for {
		if out, ok := vary(r, obj).(map[string]any); ok {
			return out
		}
	}
}

// vary returns a copy of v, in which few values, members and elements are other ones.
func vary(r *rand.Rand, v any) any {
	if r.IntN(200) == 0 {
		return []any{nil, "other", int64(7), 1.5, true, []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": "y"}, object.EmptyMap{}}[r.IntN(10)]
	}
	switch v := v.(type) {
	case string:
		if r.IntN(16) == 0 {
			return v + "x"
		}
	case int64:
		return v + r.Int64N(2)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if r.IntN(200) > 0 {
				out[name] = vary(r, member)
			}
		}
		if r.IntN(200) == 0 {
			out["more"] = "x"
		}
		return out
	case []any:
		out := make([]any, 0, len(v)+1)
		for _, element := range v {
			out = append(out, vary(r, element))
		}
		if len(out) > 1 && r.IntN(20) == 0 {
			out[0] = out[1]
		}
		return out
	}
	return v
}

// TestPrediction checks that new objects get the fields of earlier ones only if they have them.
func TestPrediction(t *testing.T) {
	const schema = `
type: object
properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}, spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, properties: {x: {type: string}}}}
`
	k := custom(t, schema)
	except := Except("status")
	for i, step := range []struct {
		spec      string
		filter    *Filter
		predicted bool
	}{
		{"{a: x}", nil, false},
		{"{a: v}", nil, false},
		{"{a: w}", nil, true},
		{"{a: x, b: x}", nil, false},
		{"{a: x}", nil, false},
		{"{a: x}", nil, false},
		{"{a: v}", except, false},
		{"{a: v}", except, false},
		{"{a: w}", except, true},
		{"{a: 1}", except, false},
		{"{a: []}", nil, false},
		{"{a: []}", nil, false},
		{"{a: []}", nil, false},
		{"{a: w}", nil, false},
	} {
		obj := parse(t, "{apiVersion: ex.com/v1, kind: Foo, metadata: {name: "+fmt.Sprint("w", i)+"}, status: {x: x}, spec: "+step.spec+"}")
		assert.Equal(t, step.predicted, k.predicted(obj, &Options{Fields: step.filter}) != nil, "step %d", i)
		o := Options{Manager: "m", Fields: step.filter}
		want := custom(t, schema).Update(object.View{}, object.Copy(obj), o)
		assert.Equal(t, want, k.Update(object.View{}, obj, o), "step %d", i)
	}
}

// TestShapeSize checks that no shape is larger than maxShape.
func TestShapeSize(t *testing.T) {
	k := custom(t, everything)
	for _, obj := range []map[string]any{
		{"free": map[string]any{strings.Repeat("x", maxShape): true}},
		{"mapList": []any{map[string]any{"text": strings.Repeat("x", maxShape)}}},
		{"set": slices.Repeat([]any{int64(1)}, maxShape/partSize)},
	} {
		assert.Nil(t, shapeOf(k.compiled().types, k.zero, obj))
	}
	assert.NotNil(t, shapeOf(k.compiled().types, k.zero, map[string]any{"text": strings.Repeat("x", maxShape)}))
}
