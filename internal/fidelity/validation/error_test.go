package validation_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestErrorBodies(t *testing.T) {
	values := []any{
		nil, "", "a", "<a>", "a\n\x00\xff\u2028é", true, int64(-1), int32(2), 3, uint64(4), 1.5, 1e21, float32(2.5),
		[]string{"a"}, []any{nil, int64(1)}, map[string]any{"b": "<", "a": nil}, new("p"), (*string)(nil), math.Inf(1), []float64{math.NaN()},
	}
	p, q := validation.NewPath("a", "b").Index(0), field.NewPath("a", "b").Index(0)
	for _, v := range values {
		check := func(want *field.Error, got *validation.Error) {
			t.Helper()
			assert.Equal(t, theirs(field.ErrorList{want}), ours(validation.List{got}))
			assert.Equal(t, want.ErrorBody(), got.Body())
		}
		check(field.NotFound(q, v), validation.NotFound(p, v))
		check(field.Duplicate(q, v), validation.Duplicate(p, v))
		check(field.Invalid(q, v, ""), validation.Invalid(p, v, ""))
		check(field.Invalid(q, v, "d"), validation.Invalid(p, v, "d"))
		check(field.TypeInvalid(q, v, "d"), validation.TypeInvalid(p, v, "d"))
		check(field.NotSupported(q, v, []string{"x", `"`}), validation.NotSupported(p, v, []string{"x", `"`}))
		check(field.NotSupported[string](q, v, nil), validation.NotSupported(p, v, nil))
	}
	for _, n := range []int{-1, 0, 1, 2} {
		assert.Equal(t, theirs(field.ErrorList{field.TooLong(q, "", n), field.TooMany(q, n, n)}),
			ours(validation.List{validation.TooLong(p, n), validation.TooMany(p, n, n)}))
	}
	assert.Equal(t, theirs(field.ErrorList{field.Required(q, ""), field.Forbidden(q, "f"), field.InternalError(q, errors.New("e"))}),
		ours(validation.List{validation.Required(p, ""), validation.Forbidden(p, "f"), validation.Internal(p, errors.New("e"))}))
	assert.Equal(t, field.Invalid(q, types.UID("<u>"), "").Error(), validation.Invalid(p, validation.NamedString("<u>"), "").Error())
}

func TestNilPath(t *testing.T) {
	var p *validation.Path
	var q *field.Path
	assert.Equal(t, q.String(), p.String())
	assert.Equal(t, q.Child("a").Key("b").Index(1).String(), p.Child("a").Key("b").Index(1).String())
}
