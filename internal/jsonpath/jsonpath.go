// Package jsonpath evaluates the JSONPath expressions of printer columns and
// selectable fields in custom resource definitions: kubectl's dialect, without
// the braces and templates around it.
//
// See https://kubernetes.io/docs/reference/kubectl/jsonpath/.
package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// A Path is a parsed path. It is immutable.
type Path struct{ steps []step }

// A step maps the values at a path to the values one step further.
type step func(in []any) ([]any, error)

// Find returns the values at the path. A missing member yields no value; a
// missing list element is an error.
func (p *Path) Find(v any) ([]any, error) { return p.find([]any{v}) }

func (p *Path) find(values []any) (_ []any, err error) {
	for _, s := range p.steps {
		if values, err = s(values); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Text formats a value as kubectl does: lists and objects as JSON.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			return "" // unreachable: objects are JSON
		}
		return string(b)
	}
	return fmt.Sprint(v)
}

// field selects a member of objects.
func field(name string) step {
	return func(in []any) ([]any, error) {
		var out []any
		for _, v := range in {
			if m, ok := object.Plain(v).(map[string]any); ok {
				if member, ok := m[name]; ok {
					out = append(out, member)
				}
			}
		}
		return out, nil
	}
}

// constant yields one value for any input.
func constant(v any) step {
	return func(in []any) ([]any, error) {
		out := make([]any, len(in))
		for i := range out {
			out[i] = v
		}
		return out, nil
	}
}

// identifier fails: the dialect has no identifiers.
func identifier(name string) step {
	return func([]any) ([]any, error) { return nil, fmt.Errorf("unrecognized identifier %s", name) }
}

// children returns the elements of a list, or the members of an object sorted
// by name.
func children(v any) []any {
	switch v := object.Plain(v).(type) {
	case []any:
		return v
	case map[string]any:
		var out []any
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[name])
		}
		return out
	}
	return nil
}

// wildcard selects all elements and members.
func wildcard(in []any) (out []any, _ error) {
	for _, v := range in {
		out = append(out, children(v)...)
	}
	return out, nil
}

// descend selects every list and object in the values, the values themselves
// first.
func descend(in []any) (out []any, _ error) {
	for _, v := range in {
		if parts := children(v); len(parts) > 0 {
			below, _ := descend(parts)
			out = append(append(out, v), below...)
		}
	}
	return out, nil
}

// union selects the values of several paths.
func union(paths []*Path) step {
	return func(in []any) (out []any, _ error) {
		for _, p := range paths {
			found, err := p.find(in)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	}
}

// A bound is one number of a slice.
type bound struct {
	value int
	known bool
}

// elements selects a slice of a list. single is set for an index, where to is
// not given.
func elements(from, to, by bound, single bool) step {
	return func(in []any) (out []any, _ error) {
		for _, v := range in {
			if v == nil {
				continue
			}
			list, ok := v.([]any)
			if !ok {
				return nil, fmt.Errorf("%T is not array or slice", v)
			}
			part, err := cut(list, from, to, single)
			if err != nil {
				return nil, err
			}
			step := 1
			if by.known {
				step = by.value
			}
			if step <= 0 {
				return nil, errors.New("step must be > 0")
			}
			for i := 0; i < len(part); i += step {
				out = append(out, part[i])
			}
		}
		return out, nil
	}
}

func cut(list []any, from, to bound, single bool) ([]any, error) {
	first, end := from.value, len(list)
	if first < 0 {
		first += len(list)
	}
	switch {
	case single:
		end = first + 1
	case to.known:
		if end = to.value; end < 0 {
			end += len(list)
		}
	}
	switch {
	case first == end:
		return nil, nil
	case first < 0 || first >= len(list):
		return nil, fmt.Errorf("array index out of bounds: index %d, length %d", first, len(list))
	case end < 0 || end > len(list):
		return nil, fmt.Errorf("array index out of bounds: index %d, length %d", end-1, len(list))
	case first > end:
		return nil, fmt.Errorf("starting index %d is greater than ending index %d", first, end)
	}
	return list[first:end], nil
}

// filter selects the elements of lists for which a comparison is true or,
// without an operator, for which the left path yields a value.
func filter(left *Path, operator string, right *Path) step {
	return func(in []any) (out []any, _ error) {
		for _, v := range in {
			list, ok := v.([]any)
			if !ok {
				return nil, fmt.Errorf("%v is not array or slice and cannot be filtered", v)
			}
			for _, e := range list {
				holds, err := compare(e, left, operator, right)
				if err != nil {
					return nil, err
				}
				if holds {
					out = append(out, e)
				}
			}
		}
		return out, nil
	}
}

func compare(e any, left *Path, operator string, right *Path) (bool, error) {
	lefts, err := left.Find(e)
	if operator == "" {
		return len(lefts) > 0, nil
	}
	if err != nil || len(lefts) == 0 {
		return false, err
	}
	rights, err := right.Find(e)
	if err != nil || len(rights) == 0 {
		return false, err
	}
	if len(lefts) > 1 || len(rights) > 1 {
		return false, errors.New("can only compare one element at a time")
	}
	c, err := order(lefts[0], rights[0])
	if err != nil {
		return false, err
	}
	switch operator {
	case "<":
		return c < 0, nil
	case ">":
		return c > 0, nil
	case "<=":
		return c <= 0, nil
	case ">=":
		return c >= 0, nil
	case "!=":
		return c != 0, nil
	}
	return c == 0, nil
}
