package fault

import (
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/glob"
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

func newMatcher(f *faults.Fault) *matcher {
	return &matcher{
		event: glob.Split(f.Event),
		verb:  glob.Split(f.Verb), resource: glob.Split(f.Resource), namespace: glob.Split(f.Namespace), name: glob.Split(f.Name),
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
	return anyOf(m.namespace, namespace, glob.Match) && anyOf(m.name, name, glob.Match)
}

// requestOf reports whether the matcher accepts a client's request apart from its
// namespace and name.
func (m *matcher) requestOf(r *Request) bool {
	return m.webhook == "" &&
		(m.resource == nil || r.IsResource) &&
		anyOf(m.verb, r.Verb, glob.Match) &&
		anyOf(m.resource, &r.Route, matchesResource) &&
		(m.path == "" || glob.Match(m.path, r.Path)) &&
		(m.agent == "" || glob.Match(m.agent, r.HTTP.UserAgent())) &&
		(m.matches == nil || m.matches(r.HTTP))
}

// delivery reports whether the matcher accepts an event of a watch whose request it
// accepts.
func (m *matcher) delivery(typ string, o codec.Identity) bool {
	if m.event == nil && (typ == "BOOKMARK" || typ == "ERROR") {
		return false
	}
	return anyOf(m.event, typ, glob.Match) && m.object(o.Namespace, o.Name)
}

// call reports whether the matcher accepts a call to a webhook.
func (m *matcher) call(r *http.Request) bool {
	return m.webhook != "" && glob.Match(m.webhook, webhookURL(r)) && (m.matches == nil || m.matches(r))
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
	if !glob.Match(sub, r.Subresource) || sub == "*" && r.Subresource == "" {
		return false
	}
	if strings.Contains(pattern, ".") {
		return glob.Match(pattern, r.Resource+"."+r.Group)
	}
	return glob.Match(pattern, r.Resource)
}
