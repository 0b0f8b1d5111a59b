// Package glob matches text with patterns in which * is any number of characters.
package glob

import "strings"

// Split returns comma-separated patterns, without the spaces around them. It returns nil for "".
func Split(list string) []string {
	if list == "" {
		return nil
	}
	patterns := strings.Split(list, ",")
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
	}
	return patterns
}

// Match reports whether the pattern matches the whole of s. A * matches any number
// of characters.
func Match(pattern, s string) bool {
	head, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, head)
	if !ok {
		return false
	}
	for {
		next, after, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(s, next)
		}
		at := strings.Index(s, next) // the first match leaves the most to the rest of the pattern
		if at < 0 {
			return false
		}
		s, rest = s[at+len(next):], after
	}
}
