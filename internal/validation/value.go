package validation

import "time"

// stringOf returns a map value or a list item that is a string, or "".
func stringOf(v any) string {
	s, _ := v.(string)
	return s
}

// Timestamp parses a time in RFC 3339, and reports whether v is one.
func Timestamp(v any) (time.Time, bool) {
	s := stringOf(v)
	if s == "" {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}
