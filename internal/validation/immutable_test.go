package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestImmutableField(t *testing.T) {
	for _, tc := range []struct {
		name     string
		new, old any
		changed  bool
	}{
		{"the same", "a", "a", false},
		{"another", "a", "b", true},
		{"another type", "1", int64(1), true},
		{"gone", nil, "a", true},
		{"null twice", nil, nil, false},
		{"empty list and null", []any{}, nil, false},
		{"empty map and null", fields{}, nil, true},
		{"maps", fields{"a": int64(1), "b": nil}, fields{"a": int64(1), "c": []any{}}, false},
		{"maps of other keys", fields{"a": fields{}}, fields{"b": fields{}}, true},
		{"map and list", fields{}, []any{"a"}, true},
		{"lists", []any{"a", fields{"b": []any{}}}, []any{"a", fields{}}, false},
		{"longer list", []any{"a", nil}, []any{"a"}, true},
		{"other order", []any{"a", "b"}, []any{"b", "a"}, true},
		{"list and text", []any{"a"}, "a", true},
		{"Go values", []string{"a"}, []string{"a"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := validation.ImmutableField(tc.new, tc.old, validation.NewPath("spec", "x"))
			if !tc.changed {
				assert.Empty(t, list)
				return
			}
			assert.Equal(t, validation.List{validation.Invalid(validation.NewPath("spec", "x"), tc.new, "field is immutable")}, list)
		})
	}
}
