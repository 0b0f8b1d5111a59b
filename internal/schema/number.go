package schema

import (
	"math"
	"strconv"

	"github.com/kubefake/kubefake/internal/validation"
)

// number checks the bounds of a number and the number it has to be a multiple
// of. A bound that the type cannot hold is itself a fault.
func (c *Constraints) number(s *Schema, value any, at *validation.Path) result {
	r := result{score: 1}
	bounded := func(n any, name string) bool {
		ok := s.holds(n, c.formatName)
		if !ok {
			r.whole("%s value must be of type %s in %s", name, s.numberType(c.formatName), pathText(at))
		}
		return ok
	}
	i, whole := value.(int64)
	f, ok := value.(float64)
	if !ok {
		f = float64(i)
	}
	bounded(value, "Checked")
	if c.MultipleOf != nil {
		if bounded(*c.MultipleOf, "MultipleOf") && whole {
			multiple(&r, i, int64(*c.MultipleOf), at, func(i, factor int64) bool { return i%factor == 0 })
		} else {
			multiple(&r, f, *c.MultipleOf, at, divides)
		}
	}
	if c.Minimum != nil {
		if bounded(*c.Minimum, "Minimum boundary") && whole {
			atLeast(&r, i, int64(*c.Minimum), c.ExclusiveMinimum, at)
		} else {
			atLeast(&r, f, *c.Minimum, c.ExclusiveMinimum, at)
		}
	}
	if c.Maximum != nil {
		if bounded(*c.Maximum, "Maximum boundary") && whole {
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
		r.invalid(at, n, "should be greater than %v", limit)
	case n < limit:
		r.invalid(at, n, "should be greater than or equal to %v", limit)
	}
}

func atMost[N int64 | float64](r *result, n, limit N, exclusive bool, at *validation.Path) {
	switch {
	case exclusive && n >= limit:
		r.invalid(at, n, "should be less than %v", limit)
	case n > limit:
		r.invalid(at, n, "should be less than or equal to %v", limit)
	}
}

func multiple[N int64 | float64](r *result, n, factor N, at *validation.Path, divides func(n, factor N) bool) {
	if factor <= 0 {
		r.multipleOfNothing(at, factor)
	} else if !divides(n, factor) {
		r.invalid(at, n, "should be a multiple of %v", factor)
	}
}

// multipleOfNothing adds that there are no multiples of a factor.
func (r *result) multipleOfNothing(at *validation.Path, factor any) {
	text := "factor MultipleOf declared for " + pathText(at) + " must be positive: " + listedText(factor)
	r.add(fault{at, text, func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, factor, text)
	}})
}

func divides(n, factor float64) bool {
	if factor < 1 {
		return integral(1 / factor * n)
	}
	return integral(n / factor)
}

// holds reports whether a number fits the schema's type and format.
func (s *Schema) holds(n any, format string) bool {
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

// numberType names the schema's type and format.
func (s *Schema) numberType(format string) string {
	if format == "" || s.IntOrString {
		return s.Type + " (default format)"
	}
	return s.Type + " with format " + format
}

// The integers that a float64 tells apart from their neighbours.
const maxExactInteger = 1<<53 - 1

// integral reports whether a number is an integer, as nearly as a kube-apiserver
// looks.
func integral(f float64) bool {
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
