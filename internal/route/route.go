// Package route parses the method and the URL of requests to a Kubernetes API
// server. It does not check whether a server serves the result: proxies and
// mock servers use it, too.
package route

import (
	"net/http"
	"net/url"
	"strings"
)

// A Route is a parsed request.
type Route struct {
	Path string

	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection, "" for other methods of a resource. For paths outside
	// of resources it is the method in lower case.
	Verb string

	// IsResource is set for paths below a group and version. The fields below
	// are set as far as the path has them.
	IsResource bool

	Group, Version string
	Namespace      string // "" at cluster scope and across namespaces
	InNamespace    bool   // namespaces/{namespace}/ comes before the resource, maybe with an empty namespace
	Resource, Name string
	Subresource    string
	Rest           string // the path below the subresource
	LegacyWatch    bool   // the path has the prefix watch/ before the resource

	// Malformed is set for a path that ends with watch or proxy in the place of the
	// resource. kube-apiserver serves no such path, whoever asks.
	Malformed bool
}

// Parse parses a method and a URL.
//
//	/api/{version}/...                                  the legacy group
//	/apis/{group}/{version}/...                         other groups
//	.../{resource}[/{name}[/{subresource}[/{rest}]]]    at cluster scope
//	.../namespaces/{namespace}/{resource}[/{name}...]   in a namespace
//	.../watch/...                                       either, always a watch
//	.../proxy/...                                       either, always the verb proxy
//
// Slashes at the end of a path do not count.
func Parse(method string, u *url.URL) Route {
	r := Route{Path: u.Path}
	rest, ok := r.parsePrefix()
	if !ok {
		r.Verb = strings.ToLower(method)
		return r
	}
	r.IsResource = true
	switch first, tail, deeper := strings.Cut(rest, "/"); first {
	case "watch", "proxy":
		if r.Malformed = !deeper; r.Malformed {
			r.Verb = strings.ToLower(method)
			return r
		}
		r.LegacyWatch = first == "watch"
		r.parseResource(tail)
		r.Verb = first
		if first == "proxy" {
			r.Subresource, r.Rest = "", ""
		}
	default:
		r.parseResource(rest)
		r.Verb = r.verbOf(method, u.RawQuery)
	}
	return r
}

// parsePrefix parses the path up to the version and returns the rest. ok is false for a path
// that ends before: outside of resources, or discovery of a group or a version.
func (r *Route) parsePrefix() (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimRight(r.Path, "/"), "/apis/")
	if ok {
		if r.Group, rest, ok = strings.Cut(rest, "/"); !ok {
			return "", false
		}
	} else if rest, ok = strings.CutPrefix(rest, "/api/"); !ok {
		return "", false
	}
	r.Version, rest, ok = strings.Cut(rest, "/")
	return rest, ok
}

// IsLongRunning reports whether a request for a resource has no deadline: the response is a
// watch or a connection, and not complete when the request is served.
func (r *Route) IsLongRunning() bool {
	switch r.Subresource {
	case "attach", "exec", "log", "portforward", "proxy":
		return true
	}
	return r.Verb == "watch" || r.Verb == "proxy"
}

// parseResource parses the path below the version.
func (r *Route) parseResource(path string) {
	first, tail, deeper := strings.Cut(path, "/")
	if first == "namespaces" && deeper {
		ns, tail, deeper := strings.Cut(tail, "/")
		switch {
		case !deeper, tail == "status", tail == "finalize":
			// A Namespace object is in the namespace of its name.
			r.Resource, r.Namespace, r.Name, r.Subresource = first, ns, ns, tail
			return
		case ns == "": // an empty namespace means all namespaces
			path, r.InNamespace = tail, true
		default:
			r.Namespace, path, r.InNamespace = ns, tail, true
		}
	}
	r.Resource, tail, _ = strings.Cut(path, "/")
	r.Name, tail, _ = strings.Cut(tail, "/")
	r.Subresource, r.Rest, _ = strings.Cut(tail, "/")
}

// verbOf returns the verb of a method on a resource.
func (r *Route) verbOf(method, query string) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case r.Name == "" && wantsWatch(query):
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

// wantsWatch returns the first value of the parameter watch of a query, parsed
// as [url.ParseQuery] does.
func wantsWatch(query string) bool {
	for more := true; more; {
		var pair string
		pair, query, more = strings.Cut(query, "&")
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

// ParseBool parses a boolean parameter as kube-apiserver does: any value but 0
// and false, in any case, is true.
func ParseBool(value string) bool {
	return value != "0" && !strings.EqualFold(value, "false")
}

// VersionPath returns the path of an apiVersion, below which its resources are: "/api/v1",
// "/apis/apps/v1".
func VersionPath(apiVersion string) string {
	if strings.Contains(apiVersion, "/") {
		return "/apis/" + apiVersion
	}
	return "/api/" + apiVersion
}
