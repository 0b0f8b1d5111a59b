// Package route reads what the method and the URL of a request to a Kubernetes
// API server ask for. It does not ask whether a server has what they name: who
// stands before a server, or plays one, reads requests as the server does.
package route

import (
	"net/http"
	"net/url"
	"strings"
)

// A Route is what a request asks for.
type Route struct {
	Path string

	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection, and "" for other methods of a resource. Of paths that
	// are of no resource it is the method in lower case.
	Verb string

	// IsResource tells that the path is below a group and version. Where it is
	// not, the fields below are as much as the path says of them.
	IsResource bool

	Group, Version string
	Namespace      string // "" at cluster scope and across namespaces
	Resource, Name string
	Subresource    string
	Rest           string // of the path, below the subresource
	LegacyWatch    bool   // the path has the prefix watch/ before the resource
}

// Parse reads a method and a URL.
//
//	/api/{version}/...                                  the legacy group
//	/apis/{group}/{version}/...                         other groups
//	.../{resource}[/{name}[/{subresource}[/{rest}]]]    at cluster scope
//	.../namespaces/{namespace}/{resource}[/{name}...]   in a namespace
//	.../watch/...                                       either, always a watch
func Parse(method string, u *url.URL) Route {
	r := Route{Path: u.Path, Verb: strings.ToLower(method)}
	rest, ok := strings.CutPrefix(r.Path, "/apis/")
	if ok {
		if r.Group, rest, ok = strings.Cut(rest, "/"); !ok || r.Group == "" {
			return r
		}
	} else if rest, ok = strings.CutPrefix(r.Path, "/api/"); !ok {
		return r
	}
	r.Version, rest, ok = strings.Cut(rest, "/")
	if !ok || rest == "" {
		return r // discovery
	}
	rest = strings.TrimSuffix(rest, "/")
	if tail, ok := strings.CutPrefix(rest, "watch/"); ok {
		r.LegacyWatch = true
		rest = tail
	}
	r.IsResource = true
	r.parseResource(rest)
	r.Verb = r.verbOf(method, u.RawQuery)
	return r
}

// parseResource reads the path below the version.
func (r *Route) parseResource(path string) {
	first, tail, deeper := strings.Cut(path, "/")
	if first == "namespaces" && deeper {
		ns, tail, deeper := strings.Cut(tail, "/")
		switch {
		case ns == "" && deeper: // an empty namespace is all of them
			path = tail
		case !deeper, tail == "status", tail == "finalize":
			// A namespace is itself in the namespace of its name.
			r.Resource, r.Namespace, r.Name, r.Subresource = first, ns, ns, tail
			return
		default:
			r.Namespace, path = ns, tail
		}
	}
	r.Resource, tail, _ = strings.Cut(path, "/")
	r.Name, tail, _ = strings.Cut(tail, "/")
	r.Subresource, r.Rest, _ = strings.Cut(tail, "/")
}

// verbOf is what a method asks of a resource.
func (r *Route) verbOf(method, query string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case r.LegacyWatch, r.Name == "" && wantsWatch(query):
			return "watch"
		case r.Name == "":
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if r.Name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return ""
}

// wantsWatch reads the parameter watch of a query, as [url.ParseQuery] has it:
// the first value counts.
func wantsWatch(query string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(key)
		if key != "watch" || err != nil || strings.Contains(pair, ";") {
			continue
		}
		if value, err = url.QueryUnescape(value); err == nil {
			return ParseBool(value)
		}
	}
	return false
}

// ParseBool reads a boolean parameter as kube-apiserver does: anything but 0 and
// false, in any case, is true.
func ParseBool(value string) bool {
	return value != "0" && !strings.EqualFold(value, "false")
}
