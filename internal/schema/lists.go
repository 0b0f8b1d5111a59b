package schema

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/validation"
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
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, s.member(name).ValidateLists(v[name], s.path(path, name))...)
		}
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

// duplicates reports the second of equal elements, but not further ones.
func duplicates(elems []any, path *validation.Path) validation.List {
	var list validation.List
	seen := make(map[any]int, len(elems))
	for i, elem := range elems {
		key := elem
		switch elem.(type) {
		case map[string]any, []any:
			text, err := json.Marshal(elem)
			if err != nil {
				return validation.List{validation.Invalid(path.Index(i), elem, "internal error")}
			}
			key = jsonText(text)
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
	keys := make([]any, len(elems))
	for i, elem := range elems {
		obj, ok := elem.(map[string]any)
		if !ok && elem != nil {
			return validation.List{validation.Invalid(path.Index(i), elem, "must be an object for an array of list-type map")}
		}
		key := map[string]any{}
		for _, name := range s.ListMapKeys {
			if v, ok := obj[name]; ok {
				key[name] = v
			}
		}
		keys[i] = key
	}
	return duplicates(keys, path)
}
