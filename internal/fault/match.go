package fault

import (
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
)

// A Request is an HTTP request with its parsed route.
type Request struct {
	HTTP *http.Request
	route.Route
}

// A matcher holds the matcher fields of a fault. A nil list of patterns, or an
// empty pattern, matches everything.
type matcher struct {
	verb, resource, namespace, name []string
	event                           []string // nil for ADDED, MODIFIED and DELETED
	agent, path, webhook            string
	matches                         func(*http.Request) bool
}

func newMatcher(f *Fault) *matcher {
	return &matcher{
		event: splitList(f.Event),
		verb:  splitList(f.Verb), resource: splitList(f.Resource), namespace: splitList(f.Namespace), name: splitList(f.Name),
		agent: f.UserAgent, path: f.Path, webhook: f.Webhook, matches: f.Matches,
	}
}

// request reports whether the matcher accepts a client's request.
func (m *matcher) request(r *Request) bool {
	needsResource := m.namespace != nil || m.name != nil
	return (!needsResource || r.IsResource) && m.object(r.Namespace, r.Name) && m.requestOf(r)
}

// object reports whether the matcher accepts a namespace and a name.
func (m *matcher) object(namespace, name string) bool {
	return anyOf(m.namespace, namespace, Glob) && anyOf(m.name, name, Glob)
}

// requestOf reports whether the matcher accepts a client's request apart from its
// namespace and name.
func (m *matcher) requestOf(r *Request) bool {
	return m.webhook == "" &&
		(m.resource == nil || r.IsResource) &&
		anyOf(m.verb, r.Verb, Glob) &&
		anyOf(m.resource, &r.Route, matchesResource) &&
		(m.path == "" || Glob(m.path, r.Path)) &&
		(m.agent == "" || Glob(m.agent, r.HTTP.UserAgent())) &&
		(m.matches == nil || m.matches(r.HTTP))
}

// delivery reports whether the matcher accepts an event of a watch whose request it
// accepts.
func (m *matcher) delivery(typ string, o codec.Identity) bool {
	if m.event == nil && (typ == "BOOKMARK" || typ == "ERROR") {
		return false
	}
	return anyOf(m.event, typ, Glob) && m.object(o.Namespace, o.Name)
}

// call reports whether the matcher accepts a call to a webhook.
func (m *matcher) call(r *http.Request) bool {
	return m.webhook != "" && Glob(m.webhook, webhookURL(r)) && (m.matches == nil || m.matches(r))
}

// anyOf reports whether patterns is nil or one of them matches v.
func anyOf[T any](patterns []string, v T, match func(pattern string, v T) bool) bool {
	for _, p := range patterns {
		if match(p, v) {
			return true
		}
	}
	return patterns == nil
}

// matchesResource reports whether a pattern such as "pods", "deployments.apps",
// "pods/status", "pods/*" or "*" matches the resource of a route. A pattern
// without a dot matches the resource in every API group.
func matchesResource(pattern string, r *route.Route) bool {
	if pattern == "*" {
		return true
	}
	pattern, sub, _ := strings.Cut(pattern, "/")
	if !Glob(sub, r.Subresource) || sub == "*" && r.Subresource == "" {
		return false
	}
	if strings.Contains(pattern, ".") {
		return Glob(pattern, r.Resource+"."+r.Group)
	}
	return Glob(pattern, r.Resource)
}

// splitList splits comma-separated patterns. It returns nil for "".
func splitList(list string) []string {
	if list == "" {
		return nil
	}
	patterns := strings.Split(list, ",")
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
	}
	return patterns
}

// Glob reports whether the pattern matches the whole of s. A * matches any number
// of characters.
func Glob(pattern, s string) bool {
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
