package storage

import (
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLabelSets(t *testing.T) {
	labelled := func(labels map[string]any) *Object {
		return New(thing(false), map[string]any{"kind": "Thing", "apiVersion": "test/v1", "metadata": map[string]any{"name": "a", "labels": labels}}, nil)
	}
	many := map[string]any{}
	for c := 'a'; len(many) <= maxSharedLabels; c++ {
		many[string(c)] = "x"
	}
	for _, row := range []struct {
		name          string
		first, second map[string]any
		shares        bool
	}{
		{"equal", map[string]any{"app": "shared", "tier": "web"}, map[string]any{"tier": "web", "app": "shared"}, true},
		{"empty value", map[string]any{"app": ""}, map[string]any{"app": ""}, true},
		{"other value", map[string]any{"app": "one"}, map[string]any{"app": "two"}, false},
		{"other key", map[string]any{"one": "x"}, map[string]any{"two": "x"}, false},
		{"key and value exchanged", map[string]any{"one": "two"}, map[string]any{"two": "one"}, false},
		{"fewer", map[string]any{"app": "x", "tier": "y"}, map[string]any{"app": "x"}, false},
		{"too many", many, maps.Clone(many), false},
		{"none", nil, map[string]any{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			first, second := labelled(row.first), labelled(row.second)
			for i, o := range []*Object{first, second} {
				want := []map[string]any{row.first, row.second}[i]
				assert.Len(t, o.Labels, len(want))
				for key, value := range want {
					assert.Equal(t, value, o.Labels[key])
				}
			}
			shares := first.Labels != nil && reflect.ValueOf(first.Labels).Pointer() == reflect.ValueOf(second.Labels).Pointer()
			assert.Equal(t, row.shares, shares)
			if row.shares {
				assert.True(t, second.sharesLabels)
			}
		})
	}
}
