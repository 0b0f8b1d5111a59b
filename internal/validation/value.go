package validation

import "time"

// The functions below read a value of a decoded object as its type in the API.
// Any other value, and a missing one, is the type's zero value.

func text(v any) string {
	s, _ := v.(string)
	return s
}

func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}

func members(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func items(v any) []any {
	l, _ := v.([]any)
	return l
}

// texts reads a list of strings, nil for anything else.
func texts(v any) []string {
	l := items(v)
	if len(l) == 0 {
		return nil
	}
	s := make([]string, len(l))
	for i, v := range l {
		s[i] = text(v)
	}
	return s
}

// timestamp reads a time in RFC 3339. ok is false if there is none.
func timestamp(v any) (time.Time, bool) {
	s := text(v)
	if s == "" {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}
