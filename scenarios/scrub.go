package scenarios

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Secret says which values a recording must not have: those at a path of the
// objects of a resource.
type Secret struct {
	// Resource is "secrets" or "widgets.example.com", and "*" any.
	Resource string
	// Path is dotted; * is every member or element, and \. a dot within a key.
	Path string
}

// Secrets are those that no recording has: what Secrets hold, and the tokens of
// service accounts.
var Secrets = []Secret{
	{"secrets", "data.*"},
	{"secrets", "stringData.*"},
	{"secrets", `metadata.annotations.kubectl\.kubernetes\.io/last-applied-configuration`},
	{"serviceaccounts", "status.token"},
	{"tokenreviews.authentication.k8s.io", "spec.token"},
}

// ParseSecret reads "RESOURCE:PATH".
func ParseSecret(s string) (Secret, error) {
	resource, path, ok := strings.Cut(s, ":")
	if !ok || resource == "" || path == "" {
		return Secret{}, fmt.Errorf("%q is not RESOURCE:PATH, such as secrets:data.*", s)
	}
	return Secret{resource, path}, nil
}

// A scrubber takes secrets out of a recording. In their place it puts
// "scrubbed-1", "scrubbed-2", ..., the same for the same value, so that what was
// equal still is. A value in base64 is replaced by one in base64.
type scrubber struct {
	secrets []Secret
	known   map[string]string // what stands for a value
}

func newScrubber(more []Secret) *scrubber {
	return &scrubber{secrets: append(Secrets[:len(Secrets):len(Secrets)], more...), known: map[string]string{}}
}

// scrub takes the secrets of a resource out of a document: an object, a list, a
// Table, a watch event, or a patch of one.
func (s *scrubber) scrub(resource string, doc any) {
	for _, secret := range s.secrets {
		if secret.Resource != resource && secret.Resource != "*" {
			continue
		}
		path := splitPath(secret.Path)
		s.object(doc, path)
		for _, inner := range [][]string{{"items", "*"}, {"rows", "*", "object"}, {"object"}} {
			s.object(doc, append(inner, path...))
		}
		s.jsonPatch(doc, path)
	}
}

// object replaces what is at a path of v, which is no string itself.
func (s *scrubber) object(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // so that numbers are given in one order
			if path[0] == "*" || path[0] == key {
				v[key] = s.at(v[key], path[1:])
			}
		}
	case []any:
		for i, element := range v {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				v[i] = s.at(element, path[1:])
			}
		}
	}
}

// at is v with what is at a path of it replaced.
func (s *scrubber) at(v any, path []string) any {
	if len(path) == 0 {
		return s.replace(v)
	}
	s.object(v, path)
	return v
}

// jsonPatch replaces the values that the operations of a JSON patch put at a
// path, or above it.
func (s *scrubber) jsonPatch(doc any, path []string) {
	operations, _ := doc.([]any)
	for _, o := range operations {
		o, ok := o.(map[string]any)
		if !ok {
			continue
		}
		pointer, ok := o["path"].(string)
		if !ok || o["value"] == nil {
			continue
		}
		if rest, ok := below(pointer, path); ok {
			o["value"] = s.at(o["value"], rest)
		}
	}
}

// below is what is left of a path under what a JSON pointer points to; false if
// that is elsewhere. What is under the path's end is at it.
func below(pointer string, path []string) ([]string, bool) {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, token := range strings.Split(pointer, "/")[1:] { // "" points to all
		if len(path) == 0 {
			break
		}
		if path[0] != "*" && path[0] != unescape.Replace(token) {
			return nil, false
		}
		path = path[1:]
	}
	return path, true
}

// replace is what stands for a secret value, whatever its form.
func (s *scrubber) replace(v any) any {
	switch v := v.(type) {
	case string:
		return s.text(v)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = s.replace(v[key])
		}
	case []any:
		for i, element := range v {
			v[i] = s.replace(element)
		}
	}
	return v
}

// text is what stands for a secret text. An empty one is none.
func (s *scrubber) text(v string) string {
	if v == "" {
		return v
	}
	out, ok := s.known[v]
	if !ok {
		out = fmt.Sprintf("%s%d", scrubbed, len(s.known)+1)
		if _, err := base64.StdEncoding.DecodeString(v); err == nil {
			out = base64.StdEncoding.EncodeToString([]byte(out))
		}
		s.known[v] = out
	}
	return out
}

// scrubbed begins what stands for a secret.
const scrubbed = "scrubbed-"

// unscrub puts in the place of what stands for a secret a placeholder of any
// value.
func unscrub(v any) any {
	encoded := base64.StdEncoding.EncodeToString([]byte(scrubbed))
	return mapStrings(v, func(s string) string {
		if strings.HasPrefix(s, scrubbed) || strings.HasPrefix(s, encoded) {
			return "<any>"
		}
		return s
	})
}

// splitPath cuts a dotted path, in which \. is a dot within a key.
func splitPath(path string) []string {
	parts := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}
