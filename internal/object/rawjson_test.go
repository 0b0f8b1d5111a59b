package object

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRawJSON(t *testing.T) {
	obj := map[string]any{"data": RawJSON(`{ "spec": {"n": 1.0}, "list": ["a"] }`), "metadata": map[string]any{"name": "x"}}
	view := FromMap(obj).View()
	assert.Equal(t, map[string]any{"n": 1.0}, Map(obj, "data", "spec"))
	assert.Equal(t, []any{"a"}, List(obj, "data", "list"))
	assert.Equal(t, "x", String(obj, "metadata", "name"))
	assert.Equal(t, 2, view.At("data").Len())
	assert.False(t, Equal(RawJSON(`{"a":1}`), RawJSON(`{"a": 1}`)))
	assert.True(t, Equal(Plain(RawJSON(`{"a":1}`)), Plain(RawJSON(`{"a": 1}`))))
}

func TestWithoutRaw(t *testing.T) {
	meta := map[string]any{"name": "x"}
	for _, tt := range []struct {
		name     string
		in, want map[string]any
	}{
		{"none", map[string]any{"a": []any{meta}}, map[string]any{"a": []any{meta}}},
		{"member", map[string]any{"a": RawJSON(`{"b":[1,1.5]}`), "m": meta}, map[string]any{"a": map[string]any{"b": []any{int64(1), 1.5}}, "m": meta}},
		{"element", map[string]any{"a": []any{"x", map[string]any{"b": RawJSON(`"y"`)}}, "m": meta}, map[string]any{"a": []any{"x", map[string]any{"b": "y"}}, "m": meta}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := Copy(tt.in)
			assert.Equal(t, tt.want, WithoutRaw(tt.in))
			assert.Equal(t, before, tt.in)
			if tt.in["m"] != nil {
				assert.True(t, Same(meta, WithoutRaw(tt.in)["m"]))
			} else {
				assert.True(t, Same(tt.in, WithoutRaw(tt.in)))
			}
		})
	}
}
