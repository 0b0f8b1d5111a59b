package template

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"text/template"
)

// builtins are the functions of text/template but call, as no value is a function.
var builtins = Functions{
	"and":      func(first any, more ...any) any { return nil }, // execution.call evaluates both
	"or":       func(first any, more ...any) any { return nil },
	"not":      func(v any) bool { return !IsTrue(v) },
	"len":      length,
	"index":    index,
	"slice":    slice,
	"print":    fmt.Sprint,
	"printf":   fmt.Sprintf,
	"println":  fmt.Sprintln,
	"html":     template.HTMLEscaper,
	"js":       template.JSEscaper,
	"urlquery": template.URLQueryEscaper,
	"eq":       equalsAny,
	"ne":       func(a, b any) (bool, error) { same, err := equals(a, b); return !same, err },
	"lt":       func(a, b any) (bool, error) { order, err := compare(a, b); return order < 0, err },
	"le":       func(a, b any) (bool, error) { order, err := compare(a, b); return order <= 0, err },
	"gt":       func(a, b any) (bool, error) { order, err := compare(a, b); return order > 0, err },
	"ge":       func(a, b any) (bool, error) { order, err := compare(a, b); return order >= 0, err },
}

func length(v any) (int, error) {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return 0, errors.New("len of nil pointer")
	case reflect.String, reflect.Slice, reflect.Map:
		return r.Len(), nil
	}
	return 0, fmt.Errorf("len of type %T", v)
}

// index returns an element of the elements of v. An element that a map does not have is nil.
func index(v any, keys ...any) (any, error) {
	for _, key := range keys {
		switch r := reflect.ValueOf(v); r.Kind() {
		case reflect.Invalid:
			return nil, errors.New("index of untyped nil")
		case reflect.Map:
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("value has type %T; should be string", key)
			}
			v = nil
			if element := r.MapIndex(reflect.ValueOf(name)); element.IsValid() {
				v = element.Interface()
			}
		case reflect.String, reflect.Slice:
			i, err := position(key, r.Len()-1)
			if err != nil {
				return nil, err
			}
			v = r.Index(i).Interface()
		default:
			return nil, fmt.Errorf("can't index item of type %T", v)
		}
	}
	return v, nil
}

// slice returns v[from:to]. Three positions are those of a slice with a capacity.
func slice(v any, positions ...any) (any, error) {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return nil, errors.New("slice of untyped nil")
	case reflect.String, reflect.Slice:
	default:
		return nil, fmt.Errorf("can't slice item of type %T", v)
	}
	if len(positions) > 2 {
		return nil, fmt.Errorf("too many slice indexes: %d", len(positions))
	}
	bounds := []int{0, r.Len()}
	for i, p := range positions {
		var err error
		if bounds[i], err = position(p, r.Len()); err != nil {
			return nil, err
		}
	}
	if bounds[0] > bounds[1] {
		return nil, fmt.Errorf("invalid slice index: %d > %d", bounds[0], bounds[1])
	}
	return r.Slice(bounds[0], bounds[1]).Interface(), nil
}

// position returns an index between 0 and last.
func position(v any, last int) (int, error) {
	switch r := reflect.ValueOf(v); {
	case v == nil:
		return 0, errors.New("cannot index slice/array with nil")
	case !r.CanInt():
		return 0, fmt.Errorf("cannot index slice/array with type %T", v)
	case r.Int() < 0 || r.Int() > int64(last):
		return 0, fmt.Errorf("index out of range: %d", r.Int())
	default:
		return int(r.Int()), nil
	}
}

// equalsAny reports whether v equals one of others.
func equalsAny(v any, others ...any) (bool, error) {
	if len(others) == 0 {
		return false, errors.New("missing argument for comparison")
	}
	for _, other := range others {
		if same, err := equals(v, other); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// equals compares two values of the same basic kind, or with nil.
func equals(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == b, nil
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt() && y.CanInt():
		return x.Int() == y.Int(), nil
	case x.Type() != y.Type():
		return false, fmt.Errorf("incompatible types for comparison: %T and %T", a, b)
	case !x.Comparable():
		return false, fmt.Errorf("non-comparable type %T", a)
	}
	return a == b, nil
}

// compare orders two integers, two floating-point numbers or two strings.
func compare(a, b any) (int, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case a != nil && b != nil && x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), nil
	case x.Kind() == reflect.Float64 && y.Kind() == reflect.Float64:
		return cmp.Compare(x.Float(), y.Float()), nil
	case x.Kind() == reflect.String && y.Kind() == reflect.String:
		return cmp.Compare(x.String(), y.String()), nil
	}
	return 0, fmt.Errorf("incompatible types for comparison: %T and %T", a, b)
}
