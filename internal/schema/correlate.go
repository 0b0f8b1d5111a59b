package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A Pair is a value, or a part of one, and what it was before an update. The nil
// pair is of a part that corresponds to nothing that was.
type Pair struct {
	schema     *Schema
	value, was any
	// keyed are the old elements of a map list by their keys, nil until they are
	// asked for.
	keyed map[string]any
}

// Correlate pairs a value with what it was; nil is what has not been.
func Correlate(s *Schema, value, was any) *Pair {
	if was == nil {
		return nil
	}
	return &Pair{schema: s, value: value, was: was}
}

// Was is the old value, nil for none.
func (p *Pair) Was() any {
	if p == nil {
		return nil
	}
	return p.was
}

// Member is the pair of a member of an object.
func (p *Pair) Member(name string) *Pair {
	if p == nil {
		return nil
	}
	was, ok := p.was.(map[string]any)
	if !ok {
		return nil
	}
	value, ok := p.value.(map[string]any)
	if !ok {
		return nil
	}
	_, now := value[name]
	_, before := was[name]
	s := p.schema.Member(name)
	if !now || !before || s == nil {
		return nil
	}
	return &Pair{schema: s, value: value[name], was: was[name]}
}

// Element is the pair of an element of a list.
func (p *Pair) Element(i int) *Pair {
	if p == nil || p.schema.ListType != "map" || p.schema.Items == nil {
		return nil
	}
	list, ok := p.value.([]any)
	if !ok || i >= len(list) {
		return nil
	}
	if p.keyed == nil {
		was, _ := p.was.([]any)
		p.keyed = make(map[string]any, len(was))
		for _, elem := range was {
			if key, ok := p.schema.key(elem); ok && p.keyed[key] == nil {
				p.keyed[key] = elem
			}
		}
	}
	key, ok := p.schema.key(list[i])
	if !ok || p.keyed[key] == nil {
		return nil
	}
	return &Pair{schema: p.schema.Items, value: list[i], was: p.keyed[key]}
}

// Unchanged reports whether the value is what it was. The order of a map list
// does not matter, and nothing can be said of members that have no schema.
func (p *Pair) Unchanged() bool {
	if p == nil {
		return false
	}
	switch value := p.value.(type) {
	case map[string]any:
		was, ok := p.was.(map[string]any)
		if !ok || len(was) != len(value) {
			return false
		}
		for name := range value {
			if !p.Member(name).Unchanged() {
				return false
			}
		}
		return true
	case []any:
		was, ok := p.was.([]any)
		if !ok || len(was) != len(value) {
			return false
		}
		if p.schema.ListType != "map" {
			return reflect.DeepEqual(value, p.was)
		}
		for i := range value {
			if !p.Element(i).Unchanged() {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(p.value, p.was)
}

// Member is the schema of a member of an object, nil if there is none.
func (s *Schema) Member(name string) *Schema {
	if property, ok := s.Properties[name]; ok {
		return property
	}
	return s.Additional
}

// key is what tells an element of a map list from others. It reports false for
// one that lacks a key.
func (s *Schema) key(elem any) (string, bool) {
	obj, ok := elem.(map[string]any)
	if !ok || len(s.ListMapKeys) == 0 {
		return "", false
	}
	var b strings.Builder
	for _, name := range s.ListMapKeys {
		switch v := obj[name].(type) {
		case bool, int64, float64, string:
			fmt.Fprintf(&b, "%T %q\x00", v, fmt.Sprint(v))
		default:
			return "", false
		}
	}
	return b.String(), true
}

// listedText is how an enumeration lists a value.
func listedText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
