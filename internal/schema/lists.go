package schema

import (
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// ValidateLists checks that lists of type set have no equal elements, and lists of type
// map no elements with equal keys. path is the path of v, nil for an object. The schema is one
// that FromProps returned, or a part of one.
func (s *Schema) ValidateLists(v any, path *validation.Path) validation.List {
	if s == nil || !s.hasListTypes {
		return nil
	}
	var list validation.List
	switch v := v.(type) {
	case map[string]any:
		list = inOrder(v, func(name string, member any) validation.List {
			if known := s.member(name); known != nil && known.hasListTypes {
				return known.ValidateLists(member, s.path(path, name))
			}
			return nil
		})
	case []any:
		switch s.ListType {
		case "set":
			list = duplicates(v, path)
		case "map":
			list = s.duplicateKeys(v, path)
		}
		for i, elem := range v {
			list = append(list, s.Items.ValidateLists(elem, path.Index(i))...)
		}
	}
	return list
}

// inOrder returns the errors that check returns for the members of an object, in the order of their
// names.
func inOrder(obj map[string]any, check func(name string, member any) validation.List) validation.List {
	var found map[string]validation.List
	for name, member := range obj {
		if errs := check(name, member); len(errs) > 0 {
			if found == nil {
				found = map[string]validation.List{}
			}
			found[name] = errs
		}
	}
	if found == nil {
		return nil
	}
	var list validation.List
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name]...)
	}
	return list
}

// duplicates reports the second of equal elements, but not further ones.
func duplicates(elems []any, path *validation.Path) validation.List {
	var list validation.List
	seen := make(map[any]int, len(elems))
	for i, elem := range elems {
		key := elem
		switch elem.(type) {
		case map[string]any, []any:
			key = jsonText(wire.AppendAny(nil, elem))
		}
		if seen[key]++; seen[key] == 2 {
			list = append(list, validation.Duplicate(path.Index(i), elem))
		}
	}
	return list
}

// jsonText is the JSON of a value that cannot be a key of a Go map.
type jsonText string

// duplicateKeys reports the second of elements with equal keys. Absent key fields are
// equal to each other. A null element has no fields.
func (s *Schema) duplicateKeys(elems []any, path *validation.Path) validation.List {
	for i, elem := range elems {
		if _, ok := elem.(map[string]any); !ok && elem != nil {
			return validation.List{validation.Invalid(path.Index(i), elem, "must be an object for an array of list-type map")}
		}
	}
	var list validation.List
	seen := make(map[string]int, len(elems))
	for i, elem := range elems {
		obj, _ := elem.(map[string]any)
		key := s.keyText(obj)
		if seen[key]++; seen[key] == 2 {
			list = append(list, validation.Duplicate(path.Index(i), s.keyFields(obj)))
		}
	}
	return list
}

// keyFields returns the key fields of an element of a list of type map.
func (s *Schema) keyFields(obj map[string]any) map[string]any {
	fields := map[string]any{}
	for _, name := range s.ListMapKeys {
		if v, ok := obj[name]; ok {
			fields[name] = v
		}
	}
	return fields
}

// keyText returns a text that is equal for elements with equal key fields.
func (s *Schema) keyText(obj map[string]any) string {
	var text []byte
	for _, name := range s.ListMapKeys {
		if v, ok := obj[name]; ok {
			text = wire.AppendAny(append(append(text, name...), 0), v)
		}
	}
	return string(text)
}
