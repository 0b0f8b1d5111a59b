package scenarios

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/scrub"
)

// A Secret selects values that a recording must not contain: those at a path of
// the objects of a resource.
type Secret struct {
	// Resource is a resource with its group, such as "secrets" or
	// "widgets.example.com", or "*" for all.
	Resource string
	// Path is a dotted path. * means each member or element; \. is a literal dot.
	Path string
}

// DefaultSecrets returns the secrets that no recording contains: the contents of
// Secrets and the tokens of service accounts. Besides these, no recording contains
// what looks like a credential in any text.
func DefaultSecrets() []Secret {
	var out []Secret
	for _, r := range scrub.Defaults() {
		out = append(out, Secret(r))
	}
	return out
}

// ParseSecret parses "RESOURCE:PATH".
func ParseSecret(s string) (Secret, error) {
	resource, path, ok := strings.Cut(s, ":")
	if !ok || resource == "" || path == "" {
		return Secret{}, fmt.Errorf("%q is not RESOURCE:PATH, such as secrets:data.*", s)
	}
	return Secret{resource, path}, nil
}

// newScrubber returns what replaces secrets in a recording; nil if show is set.
func newScrubber(additional []Secret, show bool) *scrub.Scrubber {
	if show {
		return nil
	}
	var rules []scrub.Rule
	for _, s := range additional {
		rules = append(rules, scrub.Rule(s))
	}
	return scrub.ForFiles(rules...)
}

// unscrub replaces scrubbed values with the placeholder <any>.
func unscrub(v any) any {
	return mapStrings(v, func(s string) string {
		if scrub.Contains(s) {
			return "<any>"
		}
		return s
	})
}
