package object

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A RawJSON is untyped data of a built-in kind, a runtime.RawExtension: its JSON with the spaces, the
// order of members and the spelling of strings and numbers that the client wrote. Two are equal if
// their texts are.
//
// The functions of this package that read a field at a path read below it too.
type RawJSON string

// MarshalJSON implements [json.Marshaler].
func (r RawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Value returns the data in the form that JSON decodes to, nil if the text is not JSON.
func (r RawJSON) Value() any { return parse(string(r)) }

// parse returns what a JSON text has, nil if it is not JSON.
func parse(text string) any {
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	var v any
	if in.Decode(&v) != nil {
		return nil
	}
	return convertNumbers(v)
}

// Plain returns the value of a RawJSON or a FieldsV1, and any other value as it is.
func Plain(v any) any {
	switch v := v.(type) {
	case RawJSON:
		return v.Value()
	case FieldsV1:
		return v.Value()
	}
	return v
}

// WithoutRaw returns obj with the values of each RawJSON in their place. It shares with obj what has
// none, and returns obj itself if that has none.
func WithoutRaw(obj map[string]any) map[string]any {
	out, _ := withoutRaw(obj).(map[string]any)
	return out
}

func withoutRaw(v any) any {
	switch v := v.(type) {
	case RawJSON:
		return v.Value()
	case map[string]any:
		out := v
		for name, member := range v {
			plain := withoutRaw(member)
			if Identical(plain, member) {
				continue
			}
			if sameMap(out, v) {
				out = maps.Clone(v)
			}
			out[name] = plain
		}
		return out
	case []any:
		out := v
		for i, element := range v {
			plain := withoutRaw(element)
			if Identical(plain, element) {
				continue
			}
			if sameList(out, v) {
				out = slices.Clone(v)
			}
			out[i] = plain
		}
		return out
	}
	return v
}
