package apiserver

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// A request is one HTTP request on its way: what its URL says, who makes it,
// and where the answer goes.
type request struct {
	server   *Server
	settles  bool // by it the server itself completes definitions
	http     *http.Request
	w        *response
	surface  *served
	registry *resource.Registry
	user     *User
	start    time.Time

	path string
	verb string // get, list, watch, create, update, patch, delete, deletecollection; "" for other methods of a resource, else the method in lower case

	// What a resource path says. namespace is "" at cluster scope.
	isResource              bool
	group, version          string
	namespace, resource     string
	name, subresource, more string
	legacyWatch             bool // the path has the /watch/ prefix
	typ                     *resource.Type
	sub                     *resource.Subresource
	values                  url.Values // the query, parsed on first use

	reserves []string // addresses and ports, until the write is done

	out codec.Response // how the answer is to look
}

// ctx is the client's, the server's own where there is none.
func (r *request) ctx() context.Context {
	if r.http == nil {
		return r.server.ctx
	}
	return r.http.Context()
}

// query is the parsed query; what cannot be parsed of it is left out.
func (r *request) query() url.Values {
	if r.values == nil {
		if r.http.URL.RawQuery == "" {
			r.values = url.Values{}
		} else {
			r.values = r.http.URL.Query()
		}
	}
	return r.values
}

func (r *request) groupResource() status.GroupResource {
	return status.GroupResource{Group: r.group, Resource: r.resource}
}

// groupKind is the kind of the request's objects, in the group that they are
// stored in.
func (r *request) groupKind() status.GroupKind {
	return status.GroupKind{Group: r.typ.Stored.Group, Kind: r.typ.Kind}
}

// parse reads the URL and the method, without asking whether what they name is
// served: authorization comes before that.
//
//	/api/{version}/...                                  the legacy group
//	/apis/{group}/{version}/...                         other groups
//	.../{resource}[/{name}[/{subresource}]]             at cluster scope
//	.../namespaces/{namespace}/{resource}[/{name}...]   in a namespace
//	.../watch/...                                       either, always a watch
func (r *request) parse() {
	r.path = r.http.URL.Path
	r.verb = strings.ToLower(r.http.Method)
	rest, ok := strings.CutPrefix(r.path, "/apis/")
	if ok {
		if r.group, rest, ok = strings.Cut(rest, "/"); !ok || r.group == "" {
			return
		}
	} else if rest, ok = strings.CutPrefix(r.path, "/api/"); !ok {
		return
	}
	r.version, rest, ok = strings.Cut(rest, "/")
	if !ok || rest == "" {
		return // discovery
	}
	rest = strings.TrimSuffix(rest, "/")
	if tail, ok := strings.CutPrefix(rest, "watch/"); ok {
		r.legacyWatch = true
		rest = tail
	}
	r.isResource = true
	first, tail, deeper := strings.Cut(rest, "/")
	if first == "namespaces" && deeper {
		ns, tail, deeper := strings.Cut(tail, "/")
		sub, _, _ := strings.Cut(tail, "/")
		switch {
		case ns == "" && deeper: // an empty namespace is all of them
			rest = tail
		case !deeper, sub == "status" && tail == sub, sub == "finalize" && tail == sub:
			// A namespace is itself in the namespace of its name.
			r.resource, r.namespace, r.name, r.subresource = first, ns, ns, tail
			r.setVerb()
			return
		default:
			r.namespace, rest = ns, tail
		}
	}
	r.resource, tail, _ = strings.Cut(rest, "/")
	r.name, tail, _ = strings.Cut(tail, "/")
	r.subresource, r.more, _ = strings.Cut(tail, "/")
	r.setVerb()
}

// setVerb gives a resource request the verb of its method.
func (r *request) setVerb() {
	switch r.http.Method {
	case http.MethodGet, http.MethodHead:
		r.verb = "get"
		switch {
		case r.legacyWatch:
			r.verb = "watch"
		case r.name == "" && r.wantsWatch():
			r.verb = "watch"
		case r.name == "":
			r.verb = "list"
		}
	case http.MethodPost:
		r.verb = "create"
	case http.MethodPut:
		r.verb = "update"
	case http.MethodPatch:
		r.verb = "patch"
	case http.MethodDelete:
		r.verb = "delete"
		if r.name == "" {
			r.verb = "deletecollection"
		}
	default:
		r.verb = "" // of a resource these methods ask for nothing
	}
}

// wantsWatch reads the parameter watch: anything is true that is not 0 or
// false.
func (r *request) wantsWatch() bool {
	if r.http.URL.RawQuery == "" {
		return false
	}
	values, ok := r.query()["watch"]
	return ok && parseBool(values[0])
}

// resolve finds the type, and the subresource, that the path names and checks
// that the method is routed there.
func (r *request) resolve() error {
	if r.isDynamic() {
		return r.resolveDynamic()
	}
	if !r.registry.Serves(resource.GroupVersion{Group: r.group, Version: r.version}) {
		if r.group != "" && !r.registry.ServesGroup(r.group) {
			return errNoPage
		}
		return status.NoResource()
	}
	r.typ = r.registry.Lookup(r.group, r.version, r.resource)
	if r.typ == nil || !r.inScope() || r.more != "" && r.subresource != "proxy" {
		return status.NoResource()
	}
	if r.http.Method == http.MethodHead {
		return status.MethodNotAllowed()
	}
	if r.typ.Virtual() && r.name != "" && r.subresource == "" && !r.typ.Allows("get") {
		return status.NoResource() // what is asked and not stored has no names
	}
	if r.subresource != "" {
		if r.sub = r.typ.Subresource(r.subresource); r.sub == nil {
			return status.NoResource()
		}
		if !slices.Contains(r.sub.Verbs, r.verb) {
			return status.MethodNotAllowed()
		}
		return nil
	}
	if r.legacyWatch && !r.typ.Allows("watch") {
		return status.NoResource()
	}
	if r.verb == "watch" && !r.typ.Allows("watch") && r.typ.Allows("list") {
		r.warnOfKind()
		return status.MethodNotSupported(r.groupResource(), "watch")
	}
	if !r.routed() {
		return status.MethodNotAllowed()
	}
	return nil
}

// isDynamic reports whether the path is not one that the profile serves, in a
// group that definitions serve.
func (r *request) isDynamic() bool {
	own := r.surface.surface.registry
	if !own.ServesGroup(r.group) {
		return r.registry.ServesGroup(r.group)
	}
	gv := resource.GroupVersion{Group: r.group, Version: r.version}
	return !own.Serves(gv) && r.registry.Serves(gv) ||
		own.Lookup(r.group, r.version, r.resource) == nil && r.registry.Lookup(r.group, r.version, r.resource) != nil
}

// resolveDynamic is resolve where resources come from definitions.
func (r *request) resolveDynamic() error {
	r.typ = r.registry.Lookup(r.group, r.version, r.resource)
	if r.typ == nil {
		return errNoPage
	}
	across := r.namespace == "" && r.verb != "list" && r.verb != "watch"
	if !r.typ.Namespaced && r.namespace != "" || r.typ.Namespaced && across {
		return errNoPage
	}
	r.warn(r.typ.Warnings...)
	if r.subresource == "" {
		if !slices.Contains(dynamicVerbs, r.verb) {
			return status.MethodNotSupported(r.groupResource(), r.verb)
		}
		return nil
	}
	if r.sub = r.typ.Subresource(r.subresource); r.sub == nil {
		return status.NotFound(r.groupResource(), r.name)
	}
	if !slices.Contains(r.sub.Verbs, r.verb) {
		return status.MethodNotSupported(r.groupResource(), r.verb)
	}
	return nil
}

// dynamicVerbs are those of every resource that comes from a definition.
var dynamicVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// inScope reports whether the path is of the type's scope: a namespaced type is
// listed and watched across namespaces, but its objects are in one; a cluster's
// are in none, but that a namespace's path has its own name.
func (r *request) inScope() bool {
	if r.typ.Namespaced {
		return r.namespace != "" || r.name == "" && (r.verb != "create" || !r.typ.Virtual())
	}
	return r.namespace == "" || r.resource == "namespaces"
}

// routed reports whether the path, which is of no subresource, takes the method.
func (r *request) routed() bool {
	if !r.typ.Allows(r.verb) || r.legacyWatch && r.verb != "watch" {
		return false
	}
	across := r.typ.Namespaced && r.namespace == ""
	switch r.verb {
	case "list", "watch":
		return true
	case "create", "deletecollection":
		return r.name == "" && !across
	}
	return r.name != ""
}
