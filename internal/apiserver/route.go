package apiserver

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// A request is one HTTP request on its way: what its URL says, who makes it,
// and where the answer goes.
type request struct {
	route.Route // what its URL says

	server   *Server
	settles  bool // by it the server itself completes definitions
	http     *http.Request
	w        *response
	surface  *served
	registry *resource.Registry
	user     *authn.User
	start    time.Time
	came     int64 // the journal's Order at the start

	typ *resource.Type
	sub *resource.Subresource
	// byDefinition is set if a definition serves the path. kube-apiserver then
	// answers from its handler of custom resources, whose errors differ from its
	// router's.
	byDefinition bool
	values       url.Values // the query, parsed on first use
	warned       warnings

	wrote    *version      // what it has created, decoded
	manager  string        // of the fields that it writes; "" before that is known
	revision mvcc.Revision // of what it has read or written; 0 if it has not

	reservation allocator.Reservation // cluster IPs and node ports, until release

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
	return status.GroupResource{Group: r.Group, Resource: r.Resource}
}

// groupKind is the kind of the request's objects, in the group that they are
// stored in.
func (r *request) groupKind() status.GroupKind {
	return status.GroupKind{Group: r.typ.Stored.Group, Kind: r.typ.Kind}
}

// resolve finds the type, and the subresource, that the path names and checks
// that the method is routed there.
func (r *request) resolve() error {
	if r.isDynamic() {
		return r.resolveDynamic()
	}
	if !r.registry.Serves(resource.GroupVersion{Group: r.Group, Version: r.Version}) {
		if r.Group != "" && !r.registry.ServesGroup(r.Group) {
			return errNoPage
		}
		return status.NoResource()
	}
	r.typ = r.registry.Lookup(r.Group, r.Version, r.Resource)
	if r.typ == nil || !r.inScope() || r.Rest != "" && r.Subresource != "proxy" {
		return status.NoResource()
	}
	if r.http.Method == http.MethodHead {
		return status.MethodNotAllowed()
	}
	if r.typ.Virtual() && r.Name != "" && r.Subresource == "" && !r.typ.Allows("get") {
		return status.NoResource() // what is asked and not stored has no names
	}
	if r.Subresource != "" {
		if r.sub = r.typ.Subresource(r.Subresource); r.sub == nil {
			return status.NoResource()
		}
		if !slices.Contains(r.sub.Verbs, r.Verb) {
			return status.MethodNotAllowed()
		}
		return nil
	}
	if r.LegacyWatch && !r.typ.Allows("watch") {
		return status.NoResource()
	}
	if r.Verb == "watch" && !r.typ.Allows("watch") && r.typ.Allows("list") {
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
	if !own.ServesGroup(r.Group) {
		return r.registry.ServesGroup(r.Group)
	}
	gv := resource.GroupVersion{Group: r.Group, Version: r.Version}
	return !own.Serves(gv) && r.registry.Serves(gv) ||
		own.Lookup(r.Group, r.Version, r.Resource) == nil && r.registry.Lookup(r.Group, r.Version, r.Resource) != nil
}

// resolveDynamic is resolve where resources come from definitions.
func (r *request) resolveDynamic() error {
	r.byDefinition = true
	r.typ = r.registry.Lookup(r.Group, r.Version, r.Resource)
	if r.typ == nil {
		return errNoPage
	}
	across := r.Namespace == "" && r.Verb != "list" && r.Verb != "watch"
	if !r.typ.Namespaced && r.Namespace != "" || r.typ.Namespaced && across {
		return errNoPage
	}
	r.warn(r.typ.Warnings...)
	if r.Subresource == "" {
		if !slices.Contains(dynamicVerbs, r.Verb) {
			return status.MethodNotSupported(r.groupResource(), r.Verb)
		}
		return nil
	}
	if r.sub = r.typ.Subresource(r.Subresource); r.sub == nil {
		return status.NotFound(r.groupResource(), r.Name)
	}
	if !slices.Contains(r.sub.Verbs, r.Verb) {
		return status.MethodNotSupported(r.groupResource(), r.Verb)
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
		return r.Namespace != "" || r.Name == "" && (r.Verb != "create" || !r.typ.Virtual())
	}
	return r.Namespace == "" || r.Resource == "namespaces"
}

// routed reports whether the path, which is of no subresource, takes the method.
func (r *request) routed() bool {
	if !r.typ.Allows(r.Verb) || r.LegacyWatch && r.Verb != "watch" {
		return false
	}
	across := r.typ.Namespaced && r.Namespace == ""
	switch r.Verb {
	case "list", "watch":
		return true
	case "create", "deletecollection":
		return r.Name == "" && !across
	}
	return r.Name != ""
}
