// Package scrub replaces secrets in what people read and in what is kept in files: stories,
// recordings, logs.
//
// A [Scrubber] replaces a value by a placeholder, scrubbed-1, scrubbed-2 and so on: equal
// values by equal ones, so that a reader still sees what is the same and what has changed,
// and a recording can still be played. Secrets are
//
//   - the values at the paths of [Defaults], and of more rules that a user names
//   - in any text: JSON Web Tokens, private keys in PEM, passwords in URLs, query parameters
//     such as token, headers that authenticate, cookies, and the credentials of kubeconfigs
package scrub

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Rule selects the values at a path of the objects of a resource.
type Rule struct {
	// Resource is a resource with its group, such as "secrets" or "widgets.example.com", or "*"
	// for all. "" are the answers and bodies of paths that are no resources.
	Resource string
	// Path is a dotted path. * means each member or element; \. is a literal dot.
	Path string
}

// Defaults returns the rules for the resources of kube-apiserver that every Scrubber has.
func Defaults() []Rule {
	return []Rule{
		{"secrets", "data.*"},
		{"secrets", "stringData.*"},
		{"secrets", `metadata.annotations.kubectl\.kubernetes\.io/last-applied-configuration`},
		{"serviceaccounts", "status.token"},
		{"tokenreviews.authentication.k8s.io", "spec.token"},
	}
}

// otherRules are the rules for what is no resource of kube-apiserver.
var otherRules = []Rule{
	{"", "token"}, // the control endpoint answers with a token
	{kubeconfigs, "users.*.user.token"},
	{kubeconfigs, "users.*.user.password"},
	{kubeconfigs, "users.*.user.client-key-data"},
	{kubeconfigs, "users.*.user.auth-provider.config.*"},
}

// kubeconfigs stands for the resource of kubeconfigs, which are objects that no server has.
const kubeconfigs = "kubeconfigs"

// kinds are the kinds with default rules, and their resources. An object of such a kind can be
// in any document.
var kinds = map[string]string{
	"v1 Secret":                             "secrets",
	"v1 SecretList":                         "secrets",
	"authentication.k8s.io/v1 TokenRequest": "serviceaccounts",
	"authentication.k8s.io/v1 TokenReview":  "tokenreviews.authentication.k8s.io",
	"v1 Config":                             kubeconfigs,
}

// maxKnown is how many values a Scrubber remembers.
const maxKnown = 100_000

// A Scrubber replaces secrets. It remembers the newest 100,000 values; an older one gets
// another placeholder. The methods of a nil Scrubber replace nothing. A Scrubber is not safe
// for concurrent use.
type Scrubber struct {
	rules []Rule
	// keepsEncoding replaces base64 by base64 and JSON objects by JSON objects, as API servers
	// demand of some values. It is false for texts that people read.
	keepsEncoding bool

	known  map[string]string // number of the placeholder, by value
	values []string          // of known, in the order of their numbers
	count  int               // numbers so far
}

// ForFiles returns a Scrubber for recordings, in which API servers and clients accept the
// placeholders.
func ForFiles(rules ...Rule) *Scrubber {
	s := ForReaders(rules...)
	s.keepsEncoding = true
	return s
}

// ForReaders returns a Scrubber for texts that people read.
func ForReaders(rules ...Rule) *Scrubber {
	return &Scrubber{rules: slices.Concat(Defaults(), otherRules, rules), known: map[string]string{}}
}

// HasRules reports whether objects of a resource have secrets.
func (s *Scrubber) HasRules(resource string) bool {
	return s != nil && slices.ContainsFunc(s.rules, func(r Rule) bool { return r.Resource == "*" || r.Resource == resource && resource != "" })
}

// Body returns a decoded body of a request for a resource, or of its answer, without secrets:
// an object, a list, a Table, a watch event of one of them, or a patch. It may change doc. A
// body that is a string could not be decoded; see [Scrubber.Raw].
func (s *Scrubber) Body(resource string, doc any) any {
	if s == nil {
		return doc
	}
	if text, ok := doc.(string); ok {
		return s.Raw(resource, text)
	}
	s.apply(resource, doc)
	if has(doc, func(v any) bool { return resourceOf(v) != "" }) {
		walk(doc, func(o map[string]any) {
			if own := resourceOf(o); own != "" && own != resource {
				s.apply(own, o)
			}
		})
	}
	if has(doc, func(v any) bool { text, ok := v.(string); return ok && mayHaveSecret(text) }) {
		return s.texts(doc)
	}
	return doc
}

// resourceOf returns the resource of an object whose kind has default rules; "" for others.
func resourceOf(v any) string {
	o, _ := v.(map[string]any)
	kind, _ := o["kind"].(string)
	apiVersion, _ := o["apiVersion"].(string)
	if kind == "" || apiVersion == "" {
		return ""
	}
	return kinds[apiVersion+" "+kind]
}

// has reports whether a document has a value, or the name of a member, of which is is true.
func has(v any, is func(any) bool) bool {
	if is(v) {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if is(name) || has(e, is) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if has(e, is) {
				return true
			}
		}
	}
	return false
}

// Raw returns a body that cannot be decoded without secrets: nothing of it, if objects of the
// resource have secrets.
func (s *Scrubber) Raw(resource, text string) string {
	if s.HasRules(resource) {
		return s.value(text, false)
	}
	return s.Text(text)
}

// walk visits the objects in a document, at all depths, in a fixed order.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, name := range sortedNames(v) {
			walk(v[name], visit)
		}
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	}
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// texts returns v with the secrets in its strings replaced.
func (s *Scrubber) texts(v any) any {
	switch v := v.(type) {
	case string:
		return s.Text(v)
	case map[string]any:
		for _, name := range sortedNames(v) {
			e := s.texts(v[name])
			if clean := s.Text(name); clean != name {
				delete(v, name)
				name = clean
			}
			v[name] = e
		}
	case []any:
		for i, e := range v {
			v[i] = s.texts(e)
		}
	}
	return v
}

// apply replaces the values that the rules for a resource select in a document.
func (s *Scrubber) apply(resource string, doc any) {
	for _, r := range s.rules {
		if r.Resource != resource && r.Resource != "*" {
			continue
		}
		at := target{path: SplitPath(r.Path), plain: r == Rule{"secrets", "stringData.*"}}
		s.document(doc, at)
		s.jsonPatch(doc, at)
	}
}

// A target is what a rule selects, below a place in a document.
type target struct {
	path  []string
	plain bool // the values are no base64, even if they look like it
}

// below returns the target below a member.
func (t target) below() target {
	t.path = t.path[1:]
	return t
}

// document replaces a target in the objects of a document.
func (s *Scrubber) document(doc any, at target) {
	s.members(doc, at)
	o, ok := doc.(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"items", "rows"} {
		list, _ := o[name].([]any)
		for _, e := range list {
			s.document(e, at)
		}
	}
	if inner, ok := o["object"].(map[string]any); ok {
		s.document(inner, at)
	}
}

// members replaces a target in the members of v.
func (s *Scrubber) members(v any, at target) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			if at.path[0] == "*" && !strings.HasPrefix(name, "$") || at.path[0] == name { // $patch is a directive
				v[name] = s.at(v[name], at.below())
			}
		}
	case []any:
		for i, e := range v {
			if at.path[0] == "*" || at.path[0] == strconv.Itoa(i) {
				v[i] = s.at(e, at.below())
			}
		}
	}
}

// at returns v with a target replaced.
func (s *Scrubber) at(v any, at target) any {
	if len(at.path) > 0 {
		s.members(v, at)
		return v
	}
	return s.all(v, at)
}

// all returns v with all its strings replaced.
func (s *Scrubber) all(v any, at target) any {
	switch v := v.(type) {
	case string:
		return s.value(v, !at.plain)
	case map[string]any:
		for _, name := range sortedNames(v) {
			v[name] = s.all(v[name], at)
		}
	case []any:
		for i, e := range v {
			v[i] = s.all(e, at)
		}
	}
	return v
}

// jsonPatch replaces what the operations of a JSON patch write at a target or above it.
func (s *Scrubber) jsonPatch(doc any, at target) {
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
		if rest, ok := belowPointer(pointer, at.path); ok {
			at := at
			at.path = rest
			o["value"] = s.at(o["value"], at)
		}
	}
}

// belowPointer returns the part of path that is below a JSON pointer; false if the pointer
// points elsewhere. If the pointer is below path, the rest is empty.
func belowPointer(pointer string, path []string) ([]string, bool) {
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

// prefix is that of placeholders.
const prefix = "scrubbed-"

// value returns the placeholder of a value. The empty string has none. If the value may be
// encoded, the placeholder is that of the decoded value.
func (s *Scrubber) value(v string, mayBeEncoded bool) string {
	if v == "" || isPlaceholder(v) {
		return v
	}
	plain, encoded := v, false
	if mayBeEncoded {
		if b, err := base64.StdEncoding.DecodeString(v); err == nil && len(b) > 0 {
			plain, encoded = string(b), true
		}
	}
	out := s.placeholder(plain)
	if !s.keepsEncoding {
		return out
	}
	if isObject(plain) {
		out = `{"` + out + `":{}}`
	}
	if encoded {
		out = base64.StdEncoding.EncodeToString([]byte(out))
	}
	return out
}

// isObject reports whether a text is a JSON object.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}

// placeholder returns the placeholder of a plain value.
func (s *Scrubber) placeholder(plain string) string {
	out, ok := s.known[plain]
	if !ok {
		s.count++
		out = prefix + strconv.Itoa(s.count)
		s.known[plain] = out
		s.values = append(s.values, plain)
		if len(s.values) > maxKnown {
			delete(s.known, s.values[0])
			s.values = s.values[1:]
		}
	}
	return out
}

// The beginnings of placeholders: as they are, as base64, and as the base64 of an object.
const (
	encodedPrefix = "c2NydWJiZWQt"
	encodedObject = "eyJzY3J1YmJlZC"
)

// Contains reports whether a text contains a placeholder.
func Contains(text string) bool {
	return strings.Contains(text, prefix) || strings.Contains(text, encodedPrefix) || strings.Contains(text, encodedObject)
}

// isPlaceholder reports whether a text is a placeholder.
func isPlaceholder(text string) bool {
	number, ok := strings.CutPrefix(text, prefix)
	if _, err := strconv.Atoi(number); ok && err == nil {
		return true
	}
	return strings.HasPrefix(text, `{"`+prefix) || strings.HasPrefix(text, encodedPrefix) || strings.HasPrefix(text, encodedObject)
}

// SplitPath splits a dotted path, in which \. is a literal dot.
func SplitPath(path string) []string {
	parts := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}
