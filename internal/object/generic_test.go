package object_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func pod() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "a", "finalizers": []any{"x", int64(1), "y"}},
		"spec":     map[string]any{"priority": int64(7), "hostNetwork": true, "nodeName": "n"},
	}
}

func TestRead(t *testing.T) {
	p := pod()
	assert.Equal(t, "a", object.String(p, "metadata", "name"))
	assert.Empty(t, object.String(p, "metadata", "name", "deeper"), "a string has no fields")
	assert.Empty(t, object.String(p, "spec", "priority"), "a number is not a string")
	assert.True(t, object.Bool(p, "spec", "hostNetwork"))

	n, ok := object.Int(p, "spec", "priority")
	assert.True(t, ok)
	assert.EqualValues(t, 7, n)
	_, ok = object.Int(p, "spec", "nodeName")
	assert.False(t, ok)

	assert.Equal(t, []string{"x", "y"}, object.Strings(p, "metadata", "finalizers"), "items of other types are skipped")
	assert.Nil(t, object.Strings(p, "metadata", "none"))
	assert.Nil(t, object.Map(p, "spec", "nodeName"))
	assert.Len(t, object.List(p, "metadata", "finalizers"), 3)
}

func TestText(t *testing.T) {
	for _, row := range []struct {
		name string
		path []string
		want string
	}{
		{"string", []string{"spec", "nodeName"}, "n"},
		{"number", []string{"spec", "priority"}, "7"},
		{"boolean", []string{"spec", "hostNetwork"}, "true"},
		{"object", []string{"spec"}, ""},
		{"absent", []string{"spec", "none"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, object.ViewOf(pod()).Text(row.path...))
		})
	}
}

func TestEach(t *testing.T) {
	a, b := map[string]any{"name": "a"}, map[string]any{"name": "b"}
	assert.Equal(t, []map[string]any{a, b}, slices.Collect(object.Each([]any{a, "no object", b})))
	assert.Empty(t, slices.Collect(object.Each(a)), "an object is not a list")
	for first := range object.Each([]any{a, b}) {
		assert.Equal(t, a, first)
		break
	}
}

func TestCondition(t *testing.T) {
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "first"}
	obj := map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "False"},
		ready,
		map[string]any{"type": "Ready", "status": "True", "reason": "second"},
	}}}
	view := object.ViewOf(obj)
	assert.True(t, view.Condition("Ready", "True").EqualTo(ready))
	assert.True(t, view.Condition("Ready", "Unknown").IsNil())
	assert.True(t, object.ViewOf(pod()).Condition("Ready", "True").IsNil())
}

func TestController(t *testing.T) {
	view := object.ViewOf(map[string]any{"metadata": map[string]any{"ownerReferences": []any{
		map[string]any{"uid": "1"}, map[string]any{"uid": "2", "controller": true},
	}}})
	assert.Equal(t, "2", view.ControllerOf().String("uid"))
	assert.True(t, view.ControlledBy("2"))
	assert.False(t, view.ControlledBy("1"))
	assert.True(t, object.View{}.ControllerOf().IsNil())
	assert.False(t, object.View{}.ControlledBy(""))
}

func TestAll(t *testing.T) {
	v := map[string]any{"a": []any{int64(1), map[string]any{"b": nil}}}
	var seen []string
	assert.True(t, object.All(v, func(name string, v any) bool {
		seen = append(seen, name)
		return true
	}))
	assert.Equal(t, []string{"", "a", "", "", "b"}, seen)
	assert.False(t, object.All(v, func(_ string, v any) bool { return v != nil }))
	assert.False(t, object.All(v, func(name string, _ any) bool { return name != "b" }))
	assert.True(t, object.All("x", func(_ string, v any) bool { return v == "x" }))
}

func TestSame(t *testing.T) {
	m, l := map[string]any{"a": int64(1)}, []any{int64(1), int64(2)}
	assert.True(t, object.Same(m, m))
	assert.True(t, object.Same(l, l))
	assert.False(t, object.Same(m, map[string]any{"a": int64(1)}), "equal, but another map")
	assert.False(t, object.Same(l, l[:1]))
	assert.False(t, object.Same(m, l))
	assert.False(t, object.Same("a", "a"), "scalars are never the same")
	assert.False(t, object.Same(nil, nil))
}

func TestIntegers(t *testing.T) {
	got := object.Integers(map[string]any{"a": json.Number("7"), "b": []any{json.Number("1.5")}, "c": map[string]any{"d": json.Number("9223372036854775808")}})
	assert.Equal(t, map[string]any{"a": int64(7), "b": []any{1.5}, "c": map[string]any{"d": 9223372036854775808.0}}, got)
}

func TestMeta(t *testing.T) {
	p := map[string]any{"metadata": "no object"}
	object.Meta(p)["name"] = "a"
	assert.Equal(t, "a", object.String(p, "metadata", "name"), "missing metadata is created")
}

func TestSet(t *testing.T) {
	p := pod()
	object.Set(p, int64(3), "spec", "priority")
	object.Set(p, "x", "status", "phase", "deep")
	n, _ := object.Int(p, "spec", "priority")
	assert.EqualValues(t, 3, n)
	assert.Equal(t, "x", object.String(p, "status", "phase", "deep"))
}

func TestKeep(t *testing.T) {
	dst, src := map[string]any{"a": 1, "b": 2}, map[string]any{"a": 3}
	object.Keep(dst, object.ViewOf(src), "a")
	object.Keep(dst, object.ViewOf(src), "b")
	assert.Equal(t, map[string]any{"a": 3}, dst)
}

func TestPruneItems(t *testing.T) {
	drop := func(field string) bool { return field == "b" }
	pruned := map[string]any{"a": int64(1), "b": int64(2)}
	obj := map[string]any{"list": []any{map[string]any{"a": int64(0)}, pruned, "text"}}
	shared := obj["list"].([]any)
	object.PruneItems(obj, "list", drop)
	assert.Equal(t, []any{map[string]any{"a": int64(0)}, map[string]any{"a": int64(1)}, "text"}, obj["list"])
	assert.Len(t, pruned, 2, "another object may share it")
	assert.True(t, object.Same(pruned, shared[1]))

	list := obj["list"]
	object.PruneItems(obj, "list", drop)
	assert.True(t, object.Same(list, obj["list"]), "nothing to prune, nothing to copy")
	object.PruneItems(obj, "other", drop)
	assert.NotContains(t, obj, "other")
}

func TestCopy(t *testing.T) {
	p := pod()
	c := object.Copy(p)
	assert.Equal(t, p, c)
	object.Meta(c)["name"] = "b"
	object.List(c, "metadata", "finalizers")[0] = "z"
	assert.Equal(t, pod(), p, "a copy shares nothing")
	assert.Nil(t, object.Copy[map[string]any](nil))
}

func TestEqual(t *testing.T) {
	for _, row := range []struct {
		name string
		a, b any
		want bool
	}{
		{"same objects", pod(), pod(), true},
		{"other value", map[string]any{"a": "x"}, map[string]any{"a": "y"}, false},
		{"other field", map[string]any{"a": "x"}, map[string]any{"b": "x"}, false},
		{"nil field and absent field", map[string]any{"a": nil}, map[string]any{}, false},
		{"order of a list", []any{"a", "b"}, []any{"b", "a"}, false},
		{"shorter list", []any{"a", "b"}, []any{"a"}, false},
		{"empty list and nil list", []any{}, []any(nil), false},
		{"list and object", []any{}, map[string]any{}, false},
		{"scalar and list", "a", []any{"a"}, false},
		{"integer and float", int64(1), float64(1), false},
		{"nil values", nil, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, object.Equal(row.a, row.b))
			assert.Equal(t, row.want, object.Equal(row.b, row.a))
		})
	}
}

func TestEqualExcept(t *testing.T) {
	obj := map[string]any{"metadata": "a", "spec": []any{int64(1)}}
	for _, row := range []struct {
		name  string
		other map[string]any
		want  bool
	}{
		{"equal", map[string]any{"metadata": "a", "spec": []any{int64(1)}}, true},
		{"another metadata", map[string]any{"metadata": "b", "spec": []any{int64(1)}}, true},
		{"another spec", map[string]any{"metadata": "a", "spec": []any{int64(2)}}, false},
		{"no spec", map[string]any{"metadata": "a"}, false},
		{"no metadata", map[string]any{"spec": []any{int64(1)}}, false},
		{"another member", map[string]any{"spec": []any{int64(1)}, "status": "x"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, object.ViewOf(obj).EqualExcept(object.ViewOf(row.other), "metadata"))
			assert.Equal(t, row.want, object.ViewOf(row.other).EqualExcept(object.ViewOf(obj), "metadata"))
		})
	}
}

func TestShareMembers(t *testing.T) {
	decode := func(text string) (obj map[string]any) {
		require.NoError(t, json.Unmarshal([]byte(text), &obj))
		return obj
	}
	for _, row := range []struct {
		obj, old string
		equal    bool
		shares   string // the members that are shared
	}{
		{`{"a":{"b":1},"c":[{"d":2}]}`, `{"a":{"b":1},"c":[{"d":2}]}`, true, "a c"},
		{`{"a":{"b":1},"c":[{"d":2},{"d":3}]}`, `{"a":{"b":2},"c":[{"d":2},{"d":3}]}`, false, "c"},
		{`{"a":{"b":1},"c":1}`, `{"a":{"b":1},"c":2}`, false, "a"},
		{`{"a":{"b":1}}`, `{"a":{"b":1},"c":[]}`, false, "a"},
		{`{"a":{"b":1},"c":[]}`, `{"a":{"b":1}}`, false, "a"},
		{`{"a":{},"c":[]}`, `{"a":[],"c":{}}`, false, ""},
		{`{"a":null,"c":[null]}`, `{"a":{},"c":[[]]}`, false, ""},
		{`{"a":[1,2]}`, `{"a":[1]}`, false, ""},
		{`{}`, `{}`, true, ""},
	} {
		obj, old := decode(row.obj), decode(row.old)
		assert.Equal(t, row.equal, object.ShareMembers(obj, object.ViewOf(old)), row.obj)
		assert.Equal(t, decode(row.obj), obj)
		assert.Equal(t, decode(row.old), old)
		for name, v := range obj {
			assert.Equal(t, strings.Contains(row.shares, name), object.Same(v, old[name]), "%s in %s", name, row.obj)
		}
	}
	obj, old := decode(`{"a":[{"b":{"c":1}},{"b":{"c":2}}]}`), decode(`{"a":[{"b":{"c":1}},{"b":{"c":3}},0]}`)
	object.ShareMembers(obj, object.ViewOf(old))
	element := func(obj map[string]any, i int) any { return object.List(obj, "a")[i] }
	assert.True(t, object.Same(element(obj, 0), element(old, 0)), "an element of a list")
	assert.False(t, object.Same(element(obj, 1), element(old, 1)))
}

func TestAlike(t *testing.T) {
	for _, row := range []struct {
		name string
		a, b any
		want bool
	}{
		{"equal", map[string]any{"a": "x"}, map[string]any{"a": "x"}, true},
		{"absent and empty", map[string]any{"a": "x"}, map[string]any{"a": "x", "b": "", "c": int64(0), "d": false, "e": []any{}, "f": map[string]any{"g": nil}}, true},
		{"absent and zero quantity", map[string]any{}, map[string]any{"a": "0"}, true},
		{"absent and set", map[string]any{}, map[string]any{"a": "x"}, false},
		{"nothing and empty", nil, map[string]any{"a": map[string]any{}}, true},
		{"in elements", []any{map[string]any{"a": ""}}, []any{map[string]any{}}, true},
		{"another number of elements", []any{""}, []any{}, false},
		{"another sort of value", "0", int64(0), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, object.Alike(row.a, row.b))
			assert.Equal(t, row.want, object.Alike(row.b, row.a))
		})
	}
}

func TestIsEmpty(t *testing.T) {
	for _, v := range []any{nil, map[string]any{}, []any{}, object.EmptyMap{}} {
		assert.True(t, object.IsEmpty(v), "%T", v)
	}
	for _, v := range []any{"", int64(0), false, map[string]any{"a": nil}, []any{nil}} {
		assert.False(t, object.IsEmpty(v), "%T", v)
	}
}
