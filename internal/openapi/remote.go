package openapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Remote is what another API server serves under /openapi. It is immutable and safe for
// concurrent use.
type Remote struct {
	urls   map[string]string // of its v3 documents, by the path in the index
	v2     *specV2           // nil if it has none
	digest [sha256.Size]byte // of what it was parsed from
}

// ParseRemote parses the index of the v3 documents of a server, and its v2 document, of which
// it keeps the paths that begin with prefix. Nil stands for what the server does not have.
func ParseRemote(index, v2 []byte, prefix string) (*Remote, error) {
	r := &Remote{urls: map[string]string{}, digest: sha256.Sum256(slices.Concat(index, []byte{0}, v2))}
	if index != nil {
		var in struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		if err := json.Unmarshal(index, &in); err != nil {
			return nil, err
		}
		for path, item := range in.Paths {
			r.urls[path] = item.ServerRelativeURL
		}
	}
	if v2 != nil {
		var spec specV2
		if err := json.Unmarshal(v2, &spec); err != nil {
			return nil, err
		}
		r.v2 = spec.only(func(path string) bool { return strings.HasPrefix(path, prefix) })
	}
	return r, nil
}

// Equal reports whether both were parsed from the same documents. Either may be nil.
func (r *Remote) Equal(other *Remote) bool {
	return r == other || r != nil && other != nil && r.digest == other.digest
}

// Has reports whether the server has the v3 document of a request's path.
func (r *Remote) Has(path string) bool {
	name, under := strings.CutPrefix(path, v3Path+"/")
	_, ok := r.urls[name]
	return under && ok
}

// A specV2 has the parts of a v2 document that are merged into another one. It is not changed
// once it is made.
type specV2 struct {
	Paths       map[string]any
	Definitions map[string]any
	Parameters  map[string]any
}

const (
	definitionsPrefix = "#/definitions/"
	parametersPrefix  = "#/parameters/"
)

// only returns the paths that keep wants, with all definitions but those that only other paths
// refer to.
func (s *specV2) only(keep func(path string) bool) *specV2 {
	out := &specV2{Paths: map[string]any{}, Definitions: map[string]any{}, Parameters: s.Parameters}
	for path, item := range s.Paths {
		if keep(path) {
			out.Paths[path] = item
		}
	}
	before, after := s.referred(s.Paths), s.referred(out.Paths)
	for name, definition := range s.Definitions {
		if after[definitionsPrefix+name] || !before[definitionsPrefix+name] {
			out.Definitions[name] = definition
		}
	}
	return out
}

// referred returns the references in some paths and in what they refer to.
func (s *specV2) referred(paths map[string]any) map[string]bool {
	seen := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, member := range v {
				ref, isRef := member.(string)
				if key != "$ref" || !isRef {
					walk(member)
					continue
				}
				if seen[ref] {
					continue
				}
				seen[ref] = true
				if name, ok := strings.CutPrefix(ref, definitionsPrefix); ok {
					walk(s.Definitions[name])
				} else if name, ok := strings.CutPrefix(ref, parametersPrefix); ok {
					walk(s.Parameters[name])
				}
			}
		}
	}
	for _, item := range paths {
		walk(item)
	}
	return seen
}

// rename returns the document with other references, and with the names of definitions and
// parameters in accordance with them. refs maps old references to new ones.
func (s *specV2) rename(refs map[string]string) *specV2 {
	if len(refs) == 0 {
		return s
	}
	var replace func(v any) any
	members := func(in map[string]any, name func(string) string) map[string]any {
		out := make(map[string]any, len(in))
		for key, member := range in {
			out[name(key)] = replace(member)
		}
		return out
	}
	replace = func(v any) any {
		switch v := v.(type) {
		case []any:
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = replace(item)
			}
			return out
		case map[string]any:
			out := members(v, func(name string) string { return name })
			if ref, ok := v["$ref"].(string); ok {
				out["$ref"] = cmp.Or(refs[ref], ref)
			}
			return out
		}
		return v
	}
	under := func(prefix string) func(string) string {
		return func(name string) string { return strings.TrimPrefix(cmp.Or(refs[prefix+name], prefix+name), prefix) }
	}
	return &specV2{
		Paths:       members(s.Paths, func(path string) string { return path }),
		Definitions: members(s.Definitions, under(definitionsPrefix)),
		Parameters:  members(s.Parameters, under(parametersPrefix)),
	}
}

// addSpec adds the paths of a document that the fragment does not have, and what they refer to.
// Definitions and parameters that differ from those of the same name get another name, with the
// suffix _v2 or a higher number.
func (f *fragment) addSpec(s *specV2) error {
	s = s.only(func(path string) bool { return f.paths[path] == nil })
	if len(s.Paths) == 0 {
		return nil
	}
	refs := map[string]string{}
	if err := findConflicts(refs, definitionsPrefix, f.definitions, s.Definitions, equalExceptKinds); err != nil {
		return err
	}
	if err := findConflicts(refs, parametersPrefix, f.parameters, s.Parameters, reflect.DeepEqual); err != nil {
		return err
	}
	s = s.rename(refs)
	for name, definition := range s.Definitions {
		if f.definitions[name] != nil {
			var err error
			if definition, err = withKindsOf(f.definitions[name], definition); err != nil {
				return err
			}
		}
		b, err := encoder{}.appendValue(nil, definition)
		if err != nil {
			return err
		}
		f.definitions[name] = b
	}
	for _, part := range []struct {
		into map[string]json.RawMessage
		from map[string]any
	}{{f.parameters, s.Parameters}, {f.paths, s.Paths}} {
		for name, v := range part.from {
			if part.into[name] != nil {
				continue
			}
			b, err := encoder{}.appendValue(nil, v)
			if err != nil {
				return err
			}
			part.into[name] = b
		}
	}
	return nil
}

// findConflicts adds to refs the references whose names in a document are names of something
// else in known, each with the reference by which it is added: to its equal in known, or with
// the first free number.
func findConflicts(refs map[string]string, prefix string, known map[string]json.RawMessage, added map[string]any, equal func(a, b any) bool) error {
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		next := name
		for i := 2; known[next] != nil || taken[next] || next != name && added[next] != nil; i++ {
			if known[next] != nil {
				var v any
				if err := json.Unmarshal(known[next], &v); err != nil {
					return err
				}
				if equal(v, added[name]) {
					break
				}
			}
			next = fmt.Sprintf("%s_v%d", name, i)
		}
		if next != name {
			refs[prefix+name] = prefix + next
			taken[next] = true
		}
	}
	return nil
}

// equalExceptKinds reports whether two definitions differ at most in the kinds that they list.
func equalExceptKinds(a, b any) bool {
	without := func(v any) any {
		m, ok := v.(map[string]any)
		if !ok {
			return v
		}
		m = maps.Clone(m)
		delete(m, kindExtension)
		return m
	}
	return reflect.DeepEqual(without(a), without(b))
}

// withKindsOf returns a definition with the kinds that known lists and those that it lists
// itself.
func withKindsOf(known json.RawMessage, definition any) (any, error) {
	var old map[string]any
	if err := json.Unmarshal(known, &old); err != nil {
		return nil, err
	}
	m, ok := definition.(map[string]any)
	if !ok {
		return definition, nil
	}
	kinds, _ := old[kindExtension].([]any)
	more, _ := m[kindExtension].([]any)
	before := len(kinds)
	for _, kind := range more {
		if !slices.ContainsFunc(kinds, func(k any) bool { return reflect.DeepEqual(k, kind) }) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return definition, nil
	}
	if before > 0 && len(kinds) > before {
		key := func(v any) string {
			kind, _ := v.(map[string]any)
			return fmt.Sprintf("%s/%s.%s", kind["group"], kind["version"], kind["kind"])
		}
		slices.SortStableFunc(kinds, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	}
	m = maps.Clone(m)
	m[kindExtension] = kinds
	return m, nil
}
