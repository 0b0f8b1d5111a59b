package validation_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

// printableChan has no JSON encoding.
type printableChan chan int

func (printableChan) String() string { return "from String" }

func TestError(t *testing.T) {
	path := validation.NewPath("spec", "x")
	three := int64(3)
	for _, tc := range []struct {
		name   string
		err    *validation.Error
		reason validation.Reason
		body   string
	}{
		{"not found", validation.NotFound(path, "a"), "FieldValueNotFound", `Not found: "a"`},
		{"required", validation.Required(path, ""), "FieldValueRequired", "Required value"},
		{"required with detail", validation.Required(path, "say it"), "FieldValueRequired", "Required value: say it"},
		{"duplicate", validation.Duplicate(path, map[string]any{"b": int64(1), "a": nil}), "FieldValueDuplicate", `Duplicate value: {"a":null,"b":1}`},
		{"invalid", validation.Invalid(path, "a\n\"b\"", "bad"), "FieldValueInvalid", `Invalid value: "a\n\"b\"": bad`},
		{"type", validation.TypeInvalid(path, true, "must be a string"), "FieldValueTypeInvalid", "Invalid value: true: must be a string"},
		{"not supported", validation.NotSupported(path, "c", []string{"b", "a", ""}), "FieldValueNotSupported", `Unsupported value: "c": supported values: "b", "a", ""`},
		{"no supported values", validation.NotSupported(path, "c", nil), "FieldValueNotSupported", `Unsupported value: "c"`},
		{"forbidden", validation.Forbidden(path, "may not"), "FieldValueForbidden", "Forbidden: may not"},
		{"too long", validation.TooLong(path, 63), "FieldValueTooLong", "Too long: may not be more than 63 bytes"},
		{"too long by one byte", validation.TooLong(path, 1), "FieldValueTooLong", "Too long: may not be more than 1 byte"},
		{"too long without limit", validation.TooLong(path, -1), "FieldValueTooLong", "Too long: value is too long"},
		{"too many", validation.TooMany(path, 3, 1), "FieldValueTooMany", "Too many: 3: must have at most 1 item"},
		{"too many without numbers", validation.TooMany(path, -1, -1), "FieldValueTooMany", "Too many: has too many items"},
		{"internal", validation.Internal(path, errors.New("oops")), "InternalError", "Internal error: oops"},

		{"value nil", validation.Invalid(path, nil, "bad"), "FieldValueInvalid", "Invalid value: null: bad"},
		{"value pointer", validation.Invalid(path, &three, "bad"), "FieldValueInvalid", "Invalid value: 3: bad"},
		{"value nil pointer", validation.Invalid(path, (*int64)(nil), "bad"), "FieldValueInvalid", "Invalid value: null: bad"},
		{"value list", validation.Invalid(path, []any{"a", int64(1), false}, "bad"), "FieldValueInvalid", `Invalid value: ["a",1,false]: bad`},
		{"value float", validation.Invalid(path, 1e21, "bad"), "FieldValueInvalid", "Invalid value: 1e+21: bad"},
		{"value string of HTML", validation.Invalid(path, "<a>", "bad"), "FieldValueInvalid", `Invalid value: "<a>": bad`},
		{"value named string of HTML", validation.Invalid(path, validation.NamedString("<a>"), "bad"), "FieldValueInvalid", `Invalid value: "\u003ca\u003e": bad`},
		{"value that JSON refuses", validation.Invalid(path, []float64{math.NaN()}, "bad"), "FieldValueInvalid", "Invalid value: []float64{NaN}: bad"},
		{"value that JSON refuses and String prints", validation.Invalid(path, printableChan(nil), "bad"), "FieldValueInvalid", "Invalid value: from String: bad"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.reason, tc.err.Reason)
			assert.Equal(t, tc.body, tc.err.Body())
			assert.Equal(t, "spec.x", tc.err.Field)
			assert.EqualError(t, tc.err, "spec.x: "+tc.body)
		})
	}
}

func TestListMessage(t *testing.T) {
	a := validation.Required(validation.NewPath("a"), "")
	b := validation.Required(validation.NewPath("b"), "")
	for _, tc := range []struct {
		name string
		list validation.List
		want string
	}{
		{"none", nil, ""},
		{"one", validation.List{a}, "a: Required value"},
		{"one twice", validation.List{a, a}, "a: Required value"},
		{"two", validation.List{a, b}, "[a: Required value, b: Required value]"},
		{"two twice", validation.List{b, a, b, a}, "[b: Required value, a: Required value]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.list.Message())
		})
	}
}

func TestEach(t *testing.T) {
	path := validation.NewPath("a")
	assert.Empty(t, validation.Each(path, "x", nil))
	assert.Equal(t, validation.List{validation.Invalid(path, "x", "m"), validation.Invalid(path, "x", "n")},
		validation.Each(path, "x", []string{"m", "n"}))
}
