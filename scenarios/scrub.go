package scenarios

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
// Secrets and the tokens of service accounts.
func DefaultSecrets() []Secret {
	return []Secret{
		{"secrets", "data.*"},
		{"secrets", "stringData.*"},
		{"secrets", `metadata.annotations.kubectl\.kubernetes\.io/last-applied-configuration`},
		{"serviceaccounts", "status.token"},
		{"tokenreviews.authentication.k8s.io", "spec.token"},
	}
}

// ParseSecret parses "RESOURCE:PATH".
func ParseSecret(s string) (Secret, error) {
	resource, path, ok := strings.Cut(s, ":")
	if !ok || resource == "" || path == "" {
		return Secret{}, fmt.Errorf("%q is not RESOURCE:PATH, such as secrets:data.*", s)
	}
	return Secret{resource, path}, nil
}

// A scrubber replaces secrets in a recording with "scrubbed-1", "scrubbed-2" and so
// on: equal values with equal ones, and base64 with base64.
type scrubber struct {
	secrets []Secret
	// known has the replacements of the newest values, in the order of values.
	known  map[string]string
	values []string
	count  int // the number of replacements so far
}

func newScrubber(additional []Secret) *scrubber {
	return &scrubber{secrets: append(DefaultSecrets(), additional...), known: map[string]string{}}
}

// hasSecrets reports whether objects of a resource have secrets.
func (s *scrubber) hasSecrets(resource string) bool {
	return slices.ContainsFunc(s.secrets, func(secret Secret) bool { return secret.Resource == resource || secret.Resource == "*" })
}

// body returns the decoded body of a request for a resource, or of its answer,
// without secrets. A body that is only text has not been decoded; if the resource
// has secrets it is one.
func (s *scrubber) body(resource string, doc any) any {
	if text, ok := doc.(string); ok {
		return s.raw(resource, text)
	}
	s.scrub(resource, doc)
	walkObjects(doc, func(o map[string]any) {
		if own := secretKinds[fmt.Sprint(o["apiVersion"], " ", o["kind"])]; own != "" && own != resource {
			s.scrub(own, o)
		}
	})
	return mapStrings(doc, s.credentials)
}

// secretKinds are the kinds with default secrets, and their resources. An object of
// such a kind can be in any document.
var secretKinds = map[string]string{
	"v1 Secret":                             "secrets",
	"authentication.k8s.io/v1 TokenRequest": "serviceaccounts",
	"authentication.k8s.io/v1 TokenReview":  "tokenreviews.authentication.k8s.io",
}

// raw is body for a body that cannot be decoded.
func (s *scrubber) raw(resource, text string) string {
	if s.hasSecrets(resource) {
		return s.text(text)
	}
	return s.credentials(text)
}

var (
	// credential matches JSON Web Tokens and private keys in PEM.
	credential = regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)
	// secretParameter matches the names of query parameters with secrets.
	secretParameter = regexp.MustCompile(`(?i)token|passw|secret|authorization|credential|signature|api[-_]?key|bearer`)
)

// credentials replaces what looks like a credential in a text.
func (s *scrubber) credentials(text string) string {
	if !strings.Contains(text, "eyJ") && !strings.Contains(text, "PRIVATE KEY-----") {
		return text
	}
	return credential.ReplaceAllStringFunc(text, s.text)
}

// parameter returns a parameter of a query without a secret.
func (s *scrubber) parameter(pair string) string {
	key, value, _ := strings.Cut(pair, "=")
	if name, err := url.QueryUnescape(key); err == nil && !secretParameter.MatchString(name) || value == "" {
		return s.credentials(pair)
	}
	if plain, err := url.QueryUnescape(value); err == nil {
		value = plain
	}
	return key + "=" + url.QueryEscape(s.text(value))
}

// scrub replaces the secrets of a resource in a document: an object, a list, a
// Table, a watch event of one of them, or a patch.
func (s *scrubber) scrub(resource string, doc any) {
	for _, secret := range s.secrets {
		if secret.Resource != resource && secret.Resource != "*" {
			continue
		}
		path := splitPath(secret.Path)
		s.document(doc, path)
		s.jsonPatch(doc, path)
	}
}

// document replaces the values at a path of the objects in a document.
func (s *scrubber) document(doc any, path []string) {
	s.object(doc, path)
	o, ok := doc.(map[string]any)
	if !ok {
		return
	}
	for _, key := range []string{"items", "rows"} {
		list, _ := o[key].([]any)
		for _, e := range list {
			s.document(e, path)
		}
	}
	if inner, ok := o["object"].(map[string]any); ok {
		s.document(inner, path)
	}
}

// object replaces the values at a path of v in place.
func (s *scrubber) object(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // sorted for a fixed numbering
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

// at returns v with the values at a path replaced.
func (s *scrubber) at(v any, path []string) any {
	if len(path) == 0 {
		return s.replace(v)
	}
	s.object(v, path)
	return v
}

// jsonPatch replaces the values that the operations of a JSON patch write at a path
// or above it.
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

// below returns the part of path that is below a JSON pointer; false if the pointer
// points elsewhere. If the pointer is below path, the rest is empty.
func below(pointer string, path []string) ([]string, bool) {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, token := range strings.Split(pointer, "/")[1:] { // "" points to the whole document
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

// replace returns v with all its strings replaced.
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

// text returns the replacement of a string. The empty string is not replaced.
func (s *scrubber) text(v string) string {
	if v == "" {
		return v
	}
	out, ok := s.known[v]
	if !ok {
		s.count++
		out = fmt.Sprintf("%s%d", scrubbed, s.count)
		if _, err := base64.StdEncoding.DecodeString(v); err == nil {
			out = base64.StdEncoding.EncodeToString([]byte(out))
		}
		s.known[v] = out
		s.values = forgetOldest(append(s.values, v), maxGenerated, func(old string) { delete(s.known, old) })
	}
	return out
}

// scrubbed is the prefix of replacements.
const scrubbed = "scrubbed-"

// unscrub replaces scrubbed values with the placeholder <any>.
func unscrub(v any) any {
	encoded := base64.StdEncoding.EncodeToString([]byte(scrubbed))
	return mapStrings(v, func(s string) string {
		if strings.HasPrefix(s, scrubbed) || strings.HasPrefix(s, encoded) {
			return "<any>"
		}
		return s
	})
}

// splitPath splits a dotted path, in which \. is a literal dot.
func splitPath(path string) []string {
	parts := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}
