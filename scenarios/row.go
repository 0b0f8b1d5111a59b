package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/scrub"
)

// A Row is one of the requests of a step with rows: the request of the step with other values.
// In a file the values are members of the row beside those that a step has too:
//
//	rows:
//	- {name: six replicas, spec.replicas: 6, expect: denied "no more than 5"}
type Row struct {
	Name     string            `json:"name,omitempty"`
	As       string            `json:"as,omitempty"`
	Groups   []string          `json:"groups,omitempty"`
	Expect   *Expectation      `json:"expect,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	Audit    map[string]string `json:"audit,omitempty"`
	// Values are the values of variables by their names, ${name} in the step, and those of fields
	// of the object by their paths, such as spec.containers[0].image. A null removes the field.
	Values map[string]any `json:"-"`
}

// rowKeys are the members of a row that are not values.
var rowKeys = []string{"name", "as", "groups", "expect", "warnings", "audit"}

// UnmarshalJSON decodes a row with its values.
func (r *Row) UnmarshalJSON(b []byte) error {
	var all map[string]any
	if err := decode(b, &all); err != nil {
		return err
	}
	known := map[string]any{}
	for _, key := range rowKeys {
		if v, ok := all[key]; ok {
			known[key] = v
			delete(all, key)
		}
	}
	b, err := marshal(known)
	if err != nil {
		return err
	}
	type row Row
	if err := decode(b, (*row)(r)); err != nil {
		return err
	}
	r.Values = all
	return nil
}

// MarshalJSON encodes a row with its values.
func (r Row) MarshalJSON() ([]byte, error) {
	out := maps.Clone(r.Values)
	if out == nil {
		out = map[string]any{}
	}
	type row Row
	b, err := marshal(row(r))
	if err != nil {
		return nil, err
	}
	var known map[string]any
	if err := decode(b, &known); err != nil {
		return nil, err
	}
	if r.Warnings != nil && len(r.Warnings) == 0 {
		known["warnings"] = []string{}
	}
	maps.Copy(out, known)
	return json.Marshal(out)
}

// String returns the name of the row, or its values.
func (r *Row) String() string {
	if r.Name != "" {
		return r.Name
	}
	var parts []string
	if r.As != "" {
		parts = append(parts, "as "+r.As)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Values)) {
		parts = append(parts, key+": "+short(r.Values[key]))
	}
	return strings.Join(parts, ", ")
}

// row returns the step that a row is: with the values of the row.
func (s *Step) row(r *Row) (*Step, error) {
	plain := *s
	plain.Rows = nil
	text, err := marshal(plain)
	if err != nil {
		return nil, err
	}
	variables, fields := map[string]any{}, map[string]any{}
	for key, value := range r.Values {
		if strings.Contains(string(text), "${"+key+"}") {
			variables[key] = value
		} else {
			fields[key] = value
		}
	}
	var tree any
	if err := decode(text, &tree); err != nil {
		return nil, err
	}
	if text, err = marshal(substitute(tree, variables)); err != nil {
		return nil, err
	}
	out := &Step{}
	if err := decode(text, out); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if err := out.setField(key, fields[key]); err != nil {
			return nil, err
		}
	}
	out.Name = r.String()
	if r.As != "" {
		out.As, out.Groups = r.As, nil
	}
	if r.Groups != nil {
		out.Groups = r.Groups
	}
	if r.Expect != nil {
		out.Expect = r.Expect
	}
	if r.Warnings != nil {
		out.Warnings = r.Warnings
	}
	if r.Audit != nil {
		out.Audit = r.Audit
	}
	return out, nil
}

// substitute returns a copy of v with the values of variables. A string that is nothing but a
// variable becomes the value itself.
func substitute(v any, variables map[string]any) any {
	switch t := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(t, "${"); ok {
			if value, ok := variables[strings.TrimSuffix(name, "}")]; ok {
				return value
			}
		}
		return variablePattern.ReplaceAllStringFunc(t, func(ref string) string {
			value, ok := variables[ref[2:len(ref)-1]]
			if !ok {
				return ref
			}
			if text, ok := value.(string); ok {
				return text
			}
			b, err := marshal(value)
			if err != nil {
				return ref // unreachable: the value was decoded from JSON
			}
			return string(b)
		})
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = substitute(e, variables)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = substitute(e, variables)
		}
		return out
	}
	return v
}

// bracket matches the index of a list or the key of a map in a path.
var bracket = regexp.MustCompile(`\[([^\]]*)\]`)

// setField sets the field at a path of the step's object; nil removes it.
func (s *Step) setField(path string, value any) error {
	objects := s.objects()
	if len(objects) != 1 {
		return fmt.Errorf("%s: the step has no object", path)
	}
	parts := splitPath(path)
	if _, ok := objects[0][parts[0]]; !ok && len(parts) == 1 {
		return fmt.Errorf("%s: the step has no ${%s}, and the object no such field", path, path)
	}
	if !setPath(objects[0], parts, value) {
		return fmt.Errorf("%s: the object has no such place", path)
	}
	return nil
}

// splitPath returns the parts of a path, such as a.b[0][c.d].
func splitPath(path string) []string {
	return scrub.SplitPath(bracket.ReplaceAllStringFunc(path, func(key string) string {
		return "." + strings.ReplaceAll(key[1:len(key)-1], ".", `\.`)
	}))
}

// setPath sets the value at a path, with the maps that lead to it. It reports false if the path
// leads through another value.
func setPath(in any, path []string, value any) bool {
	switch t := in.(type) {
	case map[string]any:
		switch next, ok := t[path[0]]; {
		case len(path) == 1 && value == nil:
			delete(t, path[0])
			return true
		case len(path) == 1:
			t[path[0]] = value
			return true
		case ok && next != nil:
			return setPath(next, path[1:], value)
		case value == nil:
			return true
		}
		next := map[string]any{}
		t[path[0]] = next
		return setPath(next, path[1:], value)
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i < 0 || i >= len(t):
			return false
		case len(path) == 1:
			t[i] = value
			return true
		}
		return setPath(t[i], path[1:], value)
	}
	return false
}
