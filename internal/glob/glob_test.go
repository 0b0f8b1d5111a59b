package glob

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch(t *testing.T) {
	for _, row := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "ab", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"a*", "a", true},
		{"a*", "ba", false},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "aXbXbXc", true},
		{"a*b*c", "aXcXb", false},
		{"*ab", "aab", true},
		{"*a*", "bab", true},
		{"**", "", true},
	} {
		assert.Equal(t, row.want, Match(row.pattern, row.s), "%q of %q", row.pattern, row.s)
	}
}

// FuzzMatch compares patterns with regular expressions.
func FuzzMatch(f *testing.F) {
	f.Add("a*b", "aXb")
	f.Add("**a*", "ba\n")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want, err := regexp.Compile(`(?s)\A` + strings.Join(parts, ".*") + `\z`)
		if err != nil {
			return // invalid UTF-8
		}
		assert.Equal(t, want.MatchString(s), Match(pattern, s), "%q of %q", pattern, s)
	})
}
