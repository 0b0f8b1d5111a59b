package apply

import (
	"testing"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// A kind is a built-in kind under test: its objects are made canonical as a
// server does on either side of this package.
type kind struct {
	*Type
	wire *wire.Type
}

// builtin returns a kind of the default release.
func builtin(t testing.TB, group, version, name string) *kind {
	t.Helper()
	p, err := profile.Open("")
	require.NoError(t, err)
	s, ok := schema.ForKind(p, group, version, name)
	require.True(t, ok, "%s has no schema", name)
	w, ok := wire.ForKind(group, version, name)
	require.True(t, ok, "%s has no Go type", name)
	k := &kind{wire: w}
	typeMeta := map[string]any{"apiVersion": version, "kind": name}
	if group != "" {
		typeMeta["apiVersion"] = group + "/" + version
	}
	k.Type = New(Kind{Group: group, Version: version, Kind: name, Schema: s, Zero: k.canonical(t, typeMeta)})
	return k
}

func (k *kind) canonical(t testing.TB, obj map[string]any) map[string]any {
	t.Helper()
	if k.wire == nil {
		return obj
	}
	out, _, err := k.wire.Normalize(obj, wire.DecodeOptions{})
	require.NoError(t, err)
	return out
}

// parse reads an object from YAML, with int64 for whole numbers.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj))
	return integers(obj).(map[string]any)
}

func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// A story is what happens to one object, step by step.
type story struct {
	name  string
	kind  *kind
	steps []step
}

// A step is one request.
type step interface {
	run(t *testing.T, s *state)
}

// state is the object that a story is about, nil while there is none.
type state struct {
	kind *kind
	live map[string]any
	now  time.Time
}

// store is what the server does with a result: it keeps the object if it is
// another, and time goes on.
func (s *state) store(t *testing.T, obj map[string]any) {
	obj = KeepTimes(s.live, s.kind.canonical(t, obj))
	if object.String(obj, "metadata", "uid") == "" {
		obj = object.Copy(obj)
		object.Set(obj, "u", "metadata", "uid")
	}
	s.live = obj
	s.now = s.now.Add(time.Second)
}
