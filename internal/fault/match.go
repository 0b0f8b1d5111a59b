package fault

import (
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/route"
)

// A Request is one that faults may hit.
type Request struct {
	HTTP *http.Request
	route.Route
}

// A matcher is what a fault says of those that it hits. A nil list of patterns
// matches everything.
type matcher struct {
	verb, resource, namespace, name []string
	agent, path, webhook            string
	matches                         func(*http.Request) bool
}

func newMatcher(f *Fault) *matcher {
	return &matcher{
		verb: listOf(f.Verb), resource: listOf(f.Resource), namespace: listOf(f.Namespace), name: listOf(f.Name),
		agent: f.UserAgent, path: f.Path, webhook: f.Webhook, matches: f.Matches,
	}
}

// request reports whether the matcher matches a client's request.
func (m *matcher) request(r *Request) bool {
	ofResource := m.resource != nil || m.namespace != nil || m.name != nil
	return m.webhook == "" &&
		(!ofResource || r.IsResource) &&
		anyOf(m.verb, r.Verb, glob) &&
		anyOf(m.namespace, r.Namespace, glob) &&
		anyOf(m.name, r.Name, glob) &&
		anyOf(m.resource, &r.Route, namesResource) &&
		(m.path == "" || glob(m.path, r.Path)) &&
		(m.agent == "" || glob(m.agent, r.HTTP.UserAgent())) &&
		(m.matches == nil || m.matches(r.HTTP))
}

// call reports whether the matcher matches the call of a webhook.
func (m *matcher) call(r *http.Request) bool {
	return m.webhook != "" && glob(m.webhook, callee(r)) && (m.matches == nil || m.matches(r))
}

// anyOf reports whether one of the patterns matches, or there are none.
func anyOf[T any](patterns []string, v T, match func(pattern string, v T) bool) bool {
	for _, p := range patterns {
		if match(p, v) {
			return true
		}
	}
	return patterns == nil
}

// namesResource reports whether a pattern names the resource of a route. It is
// written as in the rules of a Role: "pods", "pods/status", "pods/*", "*". With
// a dot it names the group, too: "deployments.apps".
func namesResource(pattern string, r *route.Route) bool {
	if pattern == "*" {
		return true
	}
	pattern, sub, _ := strings.Cut(pattern, "/")
	if !glob(sub, r.Subresource) || sub == "*" && r.Subresource == "" {
		return false
	}
	if strings.Contains(pattern, ".") {
		return glob(pattern, r.Resource+"."+r.Group)
	}
	return glob(pattern, r.Resource)
}

// listOf splits a list of patterns at its commas.
func listOf(list string) []string {
	if list == "" {
		return nil
	}
	patterns := strings.Split(list, ",")
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
	}
	return patterns
}

// glob reports whether a pattern matches all of s. A * stands for any
// characters, or none.
func glob(pattern, s string) bool {
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
		at := strings.Index(s, next) // the first place leaves most to what follows
		if at < 0 {
			return false
		}
		s, rest = s[at+len(next):], after
	}
}
