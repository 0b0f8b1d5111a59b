package object_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestView(t *testing.T) {
	o := object.FromMap(pod()).View()
	assert.Equal(t, "a", o.String("metadata", "name"))
	assert.Equal(t, "a", o.At("metadata").String("name"))
	assert.Empty(t, o.String("metadata", "name", "deeper"), "a string has no fields")
	assert.Empty(t, o.String("spec", "priority"), "a number is not a string")
	assert.True(t, o.Bool("spec", "hostNetwork"))
	n, ok := o.Int("spec", "priority")
	assert.True(t, ok)
	assert.EqualValues(t, 7, n)
	assert.Equal(t, []string{"x", "y"}, o.Strings("metadata", "finalizers"), "items of other types are skipped")
	assert.Nil(t, o.Strings("metadata", "none"))
	assert.Equal(t, 3, o.At("metadata", "finalizers").Len())
	assert.Equal(t, 2, o.Len())
	assert.True(t, o.At("spec", "none").IsNil())
	assert.False(t, o.At("spec").IsNil())

	names := map[string]bool{}
	for name, field := range o.At("spec").Fields() {
		names[name] = true
		assert.True(t, field.Shares(o.At("spec", name)))
	}
	assert.Equal(t, map[string]bool{"priority": true, "hostNetwork": true, "nodeName": true}, names)
	for i, item := range o.At("metadata", "finalizers").Items() {
		assert.True(t, item.EqualTo([]any{"x", int64(1), "y"}[i]))
	}
	for range o.At("metadata", "name").Items() {
		t.Error("a string has no items")
	}

	other := object.FromMap(pod()).View()
	assert.True(t, o.Equal(other))
	assert.False(t, o.Shares(other))
	assert.True(t, o.EqualTo(pod()))
	copied := o.CopyObject()
	object.Set(copied, "b", "metadata", "name")
	assert.Equal(t, "a", o.String("metadata", "name"))
}

// What is absent, null or of another type reads as nothing.
func TestViewOfNothing(t *testing.T) {
	for name, v := range map[string]object.View{
		"zero":      {},
		"nil map":   object.ViewOf(map[string]any(nil)),
		"nil list":  object.ViewOf([]any(nil)),
		"null":      object.ViewOf(nil),
		"absent":    object.ViewOf(pod()).At("spec", "none"),
		"below one": object.ViewOf(pod()).At("metadata", "name", "deeper"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.True(t, v.IsNil())
			assert.False(t, v.IsObject())
			assert.False(t, v.Has("a"))
			assert.Empty(t, v.Keys())
			assert.Zero(t, v.Len())
			assert.Nil(t, v.Shared())
			assert.Nil(t, v.SharedMembers())
			assert.Nil(t, v.SharedItems())
			assert.Nil(t, v.CopyObject())
			assert.Equal(t, map[string]any{}, v.ShallowCopy())
			assert.True(t, v.EqualTo(nil))
			assert.True(t, v.EqualTo([]any(nil)))
			assert.False(t, v.EqualTo(map[string]any{}))
			for range v.Objects() {
				t.Error("nothing has no items")
			}
		})
	}
	assert.True(t, object.ViewOf(map[string]any{"a": nil}).Has("a"), "a null member")
	assert.False(t, object.ViewOf(object.EmptyMap{}).IsNil(), "a map that a client sent empty")
}

func TestViewOfLists(t *testing.T) {
	v := object.ViewOf([]any{map[string]any{"name": "a"}, "no object", map[string]any{"name": "b"}})
	var names []string
	for item := range v.Objects() {
		names = append(names, item.String("name"))
	}
	assert.Equal(t, []string{"a", "b"}, names)
	assert.Equal(t, "no object", v.Item(1).String())
	for item := range v.Objects() {
		assert.Equal(t, "a", item.String("name"))
		break
	}
}

func TestViewSharesMembers(t *testing.T) {
	spec, status := map[string]any{}, []any{}
	v := object.ViewOf(map[string]any{"kind": "Pod", "spec": spec, "status": status})
	for _, row := range []struct {
		name  string
		other map[string]any
		want  bool
	}{
		{"the same members", map[string]any{"kind": "Pod", "spec": spec, "status": status}, true},
		{"an equal member that is another in memory", map[string]any{"kind": "Pod", "spec": map[string]any{}, "status": status}, false},
		{"another scalar", map[string]any{"kind": "Node", "spec": spec, "status": status}, false},
		{"another member of the excepted name", map[string]any{"kind": "Pod", "spec": spec, "status": "x"}, true},
		{"no member of the excepted name", map[string]any{"kind": "Pod", "spec": spec}, true},
		{"no spec", map[string]any{"kind": "Pod", "status": status}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			other := object.ViewOf(row.other)
			assert.Equal(t, row.want, v.SharesMembers(other, "status"))
			assert.Equal(t, row.want, other.SharesMembers(v, "status"))
		})
	}
}

// What a View returns to be written to is not what it shows.
func TestViewCopies(t *testing.T) {
	v := object.ViewOf(pod())
	shallow, deep := v.ShallowCopy(), v.CopyObject()
	shallow["spec"] = nil
	object.Set(deep, "b", "metadata", "name")
	object.Keep(shallow, v, "metadata")
	assert.True(t, object.ViewOf(shallow).At("metadata").Same(v.At("metadata")))
	assert.True(t, v.EqualTo(pod()))
}
