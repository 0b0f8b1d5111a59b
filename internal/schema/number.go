package schema

import (
	"math"
	"strconv"

	"github.com/kubefake/kubefake/internal/validation"
)

// number validates minimum, maximum and multipleOf. A limit that does not fit the type
// is a failure.
func (v validator) number(s *Schema, c *Constraints, value any, at *validation.Path) result {
	r := result{score: 1}
	fits := func(n any, name string) bool {
		ok := v.options.FormatsOfStrings || s.fitsType(n, c.formatName)
		if !ok {
			r.addMessage("%s value must be of type %s in %s", name, s.numberType(c.formatName), pathText(at))
		}
		return ok
	}
	i, whole := value.(int64)
	f, ok := value.(float64)
	if !ok {
		f = float64(i)
	}
	fits(value, "Checked")
	if c.MultipleOf != nil {
		if fits(*c.MultipleOf, "MultipleOf") && whole {
			multiple(&r, i, int64(*c.MultipleOf), at, func(i, factor int64) bool { return i%factor == 0 })
		} else {
			multiple(&r, f, *c.MultipleOf, at, divides)
		}
	}
	if c.Minimum != nil {
		if fits(*c.Minimum, "Minimum boundary") && whole {
			atLeast(&r, i, int64(*c.Minimum), c.ExclusiveMinimum, at)
		} else {
			atLeast(&r, f, *c.Minimum, c.ExclusiveMinimum, at)
		}
	}
	if c.Maximum != nil {
		if fits(*c.Maximum, "Maximum boundary") && whole {
			atMost(&r, i, int64(*c.Maximum), c.ExclusiveMaximum, at)
		} else {
			atMost(&r, f, *c.Maximum, c.ExclusiveMaximum, at)
		}
	}
	return r
}

func atLeast[N int64 | float64](r *result, n, limit N, exclusive bool, at *validation.Path) {
	switch {
	case exclusive && n <= limit:
		r.addInvalid(at, n, "should be greater than %v", limit)
	case n < limit:
		r.addInvalid(at, n, "should be greater than or equal to %v", limit)
	}
}

func atMost[N int64 | float64](r *result, n, limit N, exclusive bool, at *validation.Path) {
	switch {
	case exclusive && n >= limit:
		r.addInvalid(at, n, "should be less than %v", limit)
	case n > limit:
		r.addInvalid(at, n, "should be less than or equal to %v", limit)
	}
}

func multiple[N int64 | float64](r *result, n, factor N, at *validation.Path, divides func(n, factor N) bool) {
	if factor <= 0 {
		r.addInvalidMultipleOf(at, factor)
	} else if !divides(n, factor) {
		r.addInvalid(at, n, "should be a multiple of %v", factor)
	}
}

// addInvalidMultipleOf adds the failure of a factor that is not positive.
func (r *result) addInvalidMultipleOf(at *validation.Path, factor any) {
	text := "factor MultipleOf declared for " + pathText(at) + " must be positive: " + supportedValueText(factor)
	r.add(failure{at, text, func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, factor, text)
	}})
}

func divides(n, factor float64) bool {
	if factor < 1 {
		return isInteger(1 / factor * n)
	}
	return isInteger(n / factor)
}

// fitsType reports whether a number fits the schema's type and format.
func (s *Schema) fitsType(n any, format string) bool {
	integer := s.Type == "integer" && !s.IntOrString
	switch n := n.(type) {
	case int64:
		return !integer || format != "int32" || n == int64(int32(n))
	case float64:
		if !integer {
			return format != "float" || !math.IsInf(float64(float32(n)), 0)
		}
		bits := 64
		if format == "int32" {
			bits = 32
		}
		_, err := strconv.ParseInt(strconv.FormatFloat(n, 'f', -1, 64), 10, bits)
		return err == nil
	}
	return false
}

// numberType returns the schema's type and format for messages.
func (s *Schema) numberType(format string) string {
	if format == "" || s.IntOrString {
		return s.Type + " (default format)"
	}
	return s.Type + " with format " + format
}

// maxExactInteger is the greatest integer n such that n and n+1 are different float64s.
const maxExactInteger = 1<<53 - 1

// isInteger reports whether f is an integer within the tolerance of kube-apiserver.
func isInteger(f float64) bool {
	if math.IsNaN(f) || math.Abs(f) > maxExactInteger {
		return false
	}
	if f == math.Trunc(f) {
		return true
	}
	const epsilon = 1e-9
	whole := math.Trunc(f)
	if whole == 0 {
		return false
	}
	return math.Abs(f-whole)/(math.Abs(f)+math.Abs(whole)) < epsilon
}
