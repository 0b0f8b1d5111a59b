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
type Path struct {
	steps []step
	// further are paths that are no part of the result, but can fail.
	further []*Path
}

// A step maps the values at a path to the values one step further. If it fails it
// returns values, too: a filter without an operator counts them.
type step func(in []any) ([]any, error)

// Find returns the values at the path. A missing member yields no value; a
// missing list element is an error.
func (p *Path) Find(v any) ([]any, error) {
	out, err := p.find([]any{v})
	if err != nil {
		return nil, err
	}
	for _, other := range p.further {
		if _, err := other.find([]any{v}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *Path) find(values []any) (_ []any, err error) {
	for _, s := range p.steps {
		if values, err = s(values); err != nil {
			return values, err
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

// literal yields a text, once.
func literal(text string) step {
	return func([]any) ([]any, error) { return []any{text}, nil }
}

// constant yields one value for each input.
func constant(v any) step {
	return func(in []any) ([]any, error) {
		out := make([]any, len(in))
		for i := range out {
			out[i] = v
		}
		return out, nil
	}
}

// identifier fails: range and end, the identifiers of the dialect, are of no use in a path.
func identifier(name string) step {
	return func(in []any) ([]any, error) { return in, fmt.Errorf("unrecognized identifier %s", name) }
}

// children returns the elements of a list, the members of an object sorted by name,
// or the bytes of a text.
func children(v any) (out []any) {
	switch v := object.Plain(v).(type) {
	case []any:
		return v
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[name])
		}
	case string:
		for i := range len(v) {
			out = append(out, v[i])
		}
	}
	return out
}

// wildcard selects all elements and members.
func wildcard(in []any) (out []any, _ error) {
	for _, v := range in {
		out = append(out, children(v)...)
	}
	return out, nil
}

// descend selects every list, object and text in the values that is not empty,
// the values themselves first.
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
				return in, err
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

// elements selects a slice of lists. single is set for an index, where to is not
// given. A slice that is empty ends the selection.
func elements(from, to, by bound, single bool) step {
	return func(in []any) (out []any, _ error) {
		for _, v := range in {
			v = object.Plain(v)
			if v == nil {
				continue
			}
			list, ok := v.([]any)
			if !ok {
				return in, fmt.Errorf("%T is not array or slice", v)
			}
			part, err := cut(list, from, to, single)
			if err != nil {
				return in, err
			}
			if len(part) == 0 {
				return out, nil
			}
			step := 1
			if by.known {
				step = by.value
			}
			if step <= 0 {
				return in, errors.New("step must be > 0")
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
			list, ok := object.Plain(v).([]any)
			if !ok {
				return in, fmt.Errorf("%v is not array or slice and cannot be filtered", v)
			}
			for _, e := range list {
				lefts, err := left.find([]any{e})
				if operator == "" {
					if len(lefts) > 0 {
						out = append(out, e)
					}
					continue
				}
				rights, err := operands(lefts, err, right, e)
				if err != nil {
					return in, err
				}
				if len(lefts) == 0 || len(rights) == 0 {
					continue
				}
				holds, err := compare(lefts[0], operator, rights[0])
				if err != nil {
					return out, err
				}
				if holds {
					out = append(out, e)
				}
			}
		}
		return out, nil
	}
}

// operands returns the values of the right path in an element, if there is one on the
// left. More than one on a side is an error.
func operands(lefts []any, err error, right *Path, e any) ([]any, error) {
	if err != nil || len(lefts) == 0 {
		return nil, err
	}
	if len(lefts) > 1 {
		return nil, errOneAtATime
	}
	rights, err := right.find([]any{e})
	if err == nil && len(rights) > 1 {
		err = errOneAtATime
	}
	return rights, err
}

var errOneAtATime = errors.New("can only compare one element at a time")
