package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// A request is one HTTP request while it is served: what its URL asks for, its
// user, and where the answer goes.
type request struct {
	route.Route

	server  *Server
	http    *http.Request
	w       *response
	surface *registry.Surface // when the request came
	user    *authn.User
	start   time.Time
	order   int64 // in the journal

	typ *resource.Type
	sub *resource.Subresource // nil for the object itself
	// byDefinition is set if a definition serves the path. kube-apiserver then
	// answers from its handler of custom resources, whose errors differ from its
	// router's.
	byDefinition bool
	values       url.Values // the query, parsed on first use
	warned       warnings
	out          codec.Response // the form of the answer

	revision mvcc.Revision // that was read or written; 0 if none was
}

// ctx ends when the client hangs up.
func (r *request) ctx() context.Context { return r.http.Context() }

// target returns what the request asks of the registry.
func (r *request) target() registry.Request {
	return registry.Request{
		Type: r.typ, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
		User: r.user, UserAgent: r.http.UserAgent(), Warn: r.addWarning,
	}
}

// query returns the parsed query without the parts that do not parse.
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

// resolve finds the type and the subresource that the path names, and checks that
// the method is routed there.
func (r *request) resolve() error {
	if r.isDynamic() {
		return r.resolveDynamic()
	}
	if !r.surface.ServesVersion(resource.GroupVersion{Group: r.Group, Version: r.Version}) {
		if r.Group != "" && !r.surface.ServesGroup(r.Group) {
			return errNoPage
		}
		return status.NoResource()
	}
	r.typ = r.surface.Lookup(r.Group, r.Version, r.Resource)
	if r.typ == nil || !r.inScope() || r.Rest != "" && r.Subresource != "proxy" {
		return status.NoResource()
	}
	if r.http.Method == http.MethodHead {
		return status.MethodNotAllowed()
	}
	if r.typ.Virtual() && r.Name != "" && r.Subresource == "" && !r.typ.Allows("get") {
		return status.NoResource() // virtual types have no names
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
		r.warnDeprecated()
		return status.MethodNotSupported(r.groupResource(), "watch")
	}
	if !r.routed() {
		return status.MethodNotAllowed()
	}
	return nil
}

// isDynamic reports whether the path is served by definitions and not by the
// release.
func (r *request) isDynamic() bool {
	own := r.surface.Builtin()
	if !own.ServesGroup(r.Group) {
		return r.surface.ServesGroup(r.Group)
	}
	gv := resource.GroupVersion{Group: r.Group, Version: r.Version}
	return !own.ServesVersion(gv) && r.surface.ServesVersion(gv) ||
		own.Lookup(r.Group, r.Version, r.Resource) == nil && r.surface.Lookup(r.Group, r.Version, r.Resource) != nil
}

// resolveDynamic does what resolve does for custom resources.
func (r *request) resolveDynamic() error {
	r.byDefinition = true
	r.typ = r.surface.Lookup(r.Group, r.Version, r.Resource)
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

// dynamicVerbs are the verbs of every custom resource.
var dynamicVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// inScope reports whether the path fits the scope of the type. A path without a
// namespace lists and watches a namespaced type across namespaces. The path of a
// Namespace names it as its own namespace.
func (r *request) inScope() bool {
	if r.typ.Namespaced {
		return r.Namespace != "" || r.Name == "" && (r.Verb != "create" || !r.typ.Virtual())
	}
	return r.Namespace == "" || r.Resource == "namespaces"
}

// routed reports whether the path, which names no subresource, takes the method.
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
