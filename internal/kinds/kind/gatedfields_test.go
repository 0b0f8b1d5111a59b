package kind

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestDropGated(t *testing.T) {
	r, err := release.Open("v1.32")
	require.NoError(t, err)
	pod := func(fields ...string) map[string]any {
		spec := map[string]any{"containers": []any{map[string]any{"name": "c"}}}
		for _, name := range fields {
			spec[name] = true
		}
		return map[string]any{"spec": spec}
	}
	typ := &resource.Type{Kind: "Pod"}
	for _, tt := range []struct {
		name           string
		gates          map[string]bool
		obj, old, want map[string]any
	}{
		{"off", nil, pod("hostUsers", "hostNetwork"), nil, pod("hostNetwork")},
		{"in use", nil, pod("hostUsers"), pod("hostUsers"), pod("hostUsers")},
		{"on", map[string]bool{"UserNamespacesSupport": true}, pod("hostUsers", "resources"), nil, pod("hostUsers")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gated, err := r.WithGates(tt.gates)
			require.NoError(t, err)
			prepared := false
			dropGated(gated, typ, func(obj map[string]any, old object.View) { prepared = true })(tt.obj, object.ViewOf(tt.old))
			assert.Equal(t, tt.want, tt.obj)
			assert.True(t, prepared)
		})
	}
}

func TestRemoveField(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		obj, want  map[string]any
	}{
		{"in lists", "a[].b", map[string]any{"a": []any{map[string]any{"b": "x", "c": "y"}, map[string]any{"b": "z"}}},
			map[string]any{"a": []any{map[string]any{"c": "y"}, map[string]any{}}}},
		{"in a map", "a{}.b", map[string]any{"a": map[string]any{"x": map[string]any{"b": "y", "c": "z"}, "w": map[string]any{}}},
			map[string]any{"a": map[string]any{"x": map[string]any{"c": "z"}, "w": map[string]any{}}}},
		{"in containers", "*.a", map[string]any{"initContainers": []any{map[string]any{"a": "x"}}}, map[string]any{"initContainers": []any{map[string]any{}}}},
		{"with its parent", "a?.b", map[string]any{"a": map[string]any{"b": "x"}}, map[string]any{}},
		{"at any depth", "a.**.b", map[string]any{"a": map[string]any{"b": "x", "c": []any{map[string]any{"b": "y", "d": map[string]any{"b": "z"}}}}, "b": "w"},
			map[string]any{"a": map[string]any{"c": []any{map[string]any{"d": map[string]any{}}}}, "b": "w"}},
		{"parent with others", "a?.b", map[string]any{"a": map[string]any{"b": "x", "c": "y"}}, map[string]any{"a": map[string]any{"c": "y"}}},
		{"empty parent", "a?.b", map[string]any{"a": map[string]any{}}, map[string]any{"a": map[string]any{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			removeField(tt.obj, parsePath(tt.path), nil, nil)
			assert.Equal(t, tt.want, tt.obj)
		})
	}
	t.Run("replaced", func(t *testing.T) {
		obj := map[string]any{"a": map[string]any{"b": "x"}, "c": map[string]any{}}
		removeField(obj, parsePath("a.b"), "y", nil)
		removeField(obj, parsePath("c.b"), "y", nil)
		assert.Equal(t, map[string]any{"a": map[string]any{"b": "y"}, "c": map[string]any{}}, obj)
		assert.False(t, hasField(obj, parsePath("a.b"), "y"))
		assert.True(t, hasField(obj, parsePath("a.b"), nil))
	})
}

func TestGatedFieldsNameGates(t *testing.T) {
	r, err := release.Open("")
	require.NoError(t, err)
	for _, f := range gatedPodFields {
		assert.NotPanics(t, func() { r.Enabled(f.gate) })
	}
	for _, fields := range gatedFields {
		for _, f := range fields {
			assert.NotPanics(t, func() { r.Enabled(f.gate) })
		}
	}
}

func TestFieldTree(t *testing.T) {
	fields := &fieldTree{}
	var paths []string
	for _, f := range gatedPodFields {
		if steps := parsePath(f.path); !slices.Contains(paths, f.path) {
			fields.add(&droppedField{f, steps}, steps)
			paths = append(paths, f.path)
		}
	}
	in := func(obj, old map[string]any) (found []string) {
		for _, f := range fields.find(obj, old, nil) {
			found = append(found, f.path)
		}
		return found
	}
	assert.Empty(t, in(nil, nil))
	for _, path := range paths {
		obj := objectWith(parsePath(path))
		want := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !hasField(obj, parsePath(p)) })
		assert.Contains(t, want, path)
		assert.ElementsMatch(t, want, in(obj, nil))
		assert.ElementsMatch(t, want, in(obj, objectWith(parsePath(path))), "an equal object is another one")
		assert.Empty(t, in(obj, obj))
	}
	both := map[string]any{"hostUsers": true, "resources": map[string]any{}, "securityContext": map[string]any{"seLinuxChangePolicy": "x"}}
	assert.ElementsMatch(t, []string{"hostUsers", "resources"}, in(both, map[string]any{"securityContext": both["securityContext"]}), "what is shared is not searched")
}

// objectWith returns an object with two fields at a path, if lists are on it.
func objectWith(path []step) map[string]any {
	if len(path) == 1 {
		return map[string]any{path[0].name: "x"}
	}
	list := []any{objectWith(path[1:]), objectWith(path[1:])}
	switch path[0].to {
	case items:
		return map[string]any{path[0].name: list}
	case containers:
		return map[string]any{"containers": list, "initContainers": list}
	}
	return map[string]any{path[0].name: objectWith(path[1:])}
}
