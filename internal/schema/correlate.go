package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A CorrelatedValue is a value with its old value before an update. A nil
// CorrelatedValue is that of a value that has no correlated old value.
type CorrelatedValue struct {
	schema     *Schema
	value, old any
	// oldByKey has the old elements of a list of type map by their keys. Element
	// sets it.
	oldByKey map[string]any
}

// Correlate returns a value with its old value. It returns nil if old is nil.
func Correlate(s *Schema, value, old any) *CorrelatedValue {
	if old == nil {
		return nil
	}
	return &CorrelatedValue{schema: s, value: value, old: old}
}

// Old returns the old value, nil if there is none.
func (c *CorrelatedValue) Old() any {
	if c == nil {
		return nil
	}
	return c.old
}

// Field returns the correlated value of a field of an object.
func (c *CorrelatedValue) Field(name string) *CorrelatedValue {
	if c == nil {
		return nil
	}
	old, ok := c.old.(map[string]any)
	if !ok {
		return nil
	}
	value, ok := c.value.(map[string]any)
	if !ok {
		return nil
	}
	_, isSet := value[name]
	_, wasSet := old[name]
	s := c.schema.member(name)
	if !isSet || !wasSet || s == nil {
		return nil
	}
	return &CorrelatedValue{schema: s, value: value[name], old: old[name]}
}

// Element returns the correlated value of an element of a list. Only elements of
// lists of type map can be correlated.
func (c *CorrelatedValue) Element(i int) *CorrelatedValue {
	if c == nil || c.schema.ListType != "map" || c.schema.Items == nil {
		return nil
	}
	list, ok := c.value.([]any)
	if !ok || i >= len(list) {
		return nil
	}
	if c.oldByKey == nil {
		old, _ := c.old.([]any)
		c.oldByKey = make(map[string]any, len(old))
		for _, elem := range old {
			if key, ok := c.schema.key(elem); ok && c.oldByKey[key] == nil {
				c.oldByKey[key] = elem
			}
		}
	}
	key, ok := c.schema.key(list[i])
	if !ok || c.oldByKey[key] == nil {
		return nil
	}
	return &CorrelatedValue{schema: c.schema.Items, value: list[i], old: c.oldByKey[key]}
}

// Unchanged reports whether the value equals the old value. The order of the
// elements of a list of type map does not matter. A value with a field that has no
// schema is not unchanged.
func (c *CorrelatedValue) Unchanged() bool {
	if c == nil {
		return false
	}
	switch value := c.value.(type) {
	case map[string]any:
		old, ok := c.old.(map[string]any)
		if !ok || len(old) != len(value) {
			return false
		}
		for name := range value {
			if !c.Field(name).Unchanged() {
				return false
			}
		}
		return true
	case []any:
		old, ok := c.old.([]any)
		if !ok || len(old) != len(value) {
			return false
		}
		if c.schema.ListType != "map" {
			return reflect.DeepEqual(value, c.old)
		}
		for i := range value {
			if !c.Element(i).Unchanged() {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(c.value, c.old)
}

// key returns the key of an element of a list of type map. It reports false for an
// element without all the key fields.
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

// supportedValueText returns a value as the list of supported values shows it.
func supportedValueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
