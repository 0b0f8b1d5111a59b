package server

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/kubefake/kubefake/internal/activity"
	"github.com/kubefake/kubefake/internal/aggregator"
	"github.com/kubefake/kubefake/internal/audit"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/usage"
	"github.com/kubefake/kubefake/mvcc"
)

// A request is one HTTP request while it is served: what its URL asks for, its
// user, and where the answer goes.
type request struct {
	route.Route

	server    *Server
	http      *http.Request
	userAgent string
	w         *response
	sent      response         // that of the client; w is another one while a fault wraps it
	surface   *serving.Surface // when the request came
	user      *authn.User
	// impersonator is who makes the request as user; nil for user.
	impersonator *authn.User
	start        time.Time
	remote       *aggregator.Remote // the server that serves the path; nil for this one
	order        int64              // in the journal
	auditID      [1]string          // the value of the answer's header Audit-Id

	event             *audit.Event      // of the audit log; nil if it has none
	omitManagedFields bool              // in event
	authentication    map[string]string // annotations of event by authenticators

	typ *resource.Type
	sub *resource.Subresource // nil for the object itself
	// byDefinition is set if a definition serves the path. kube-apiserver then
	// answers from its handler of custom resources, whose errors differ from its
	// router's.
	byDefinition bool
	values       url.Values // the query, parsed on first use
	warned       warnings
	out          codec.Response // the form of the answer
	deadline     deadline
	call         activity.Call // of a request that is not long-running
	lost         bool          // the server has ended the watch before its time

	revision      mvcc.Revision     // that was read or written; 0 if none was
	statusIgnored bool              // of the Result of the registry
	usage         *usage.Entry      // that counts the request; nil if none does
	annotations   map[string]string // of admission, if the client has named the request for the audit log
}

// ctx ends when the client hangs up and, unless the request is long-running, when
// its time is up or the server closes.
func (r *request) ctx() context.Context {
	if r.deadline.server == nil {
		return r.http.Context()
	}
	return &r.deadline
}

// target returns what the request asks of the registry.
func (r *request) target() registry.Request {
	out := registry.Request{
		Type: r.typ, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
		User: r.user, UserAgent: r.userAgent, Warnings: r, Surface: r.surface, Store: r.store(),
	}
	if r.event != nil {
		out.Decoded = r.auditObject
	}
	if r.event != nil || r.clientAuditID() != "" {
		out.Annotate = r.auditAdmission
	}
	if r.usage != nil {
		out.Needs = r
	}
	return out
}

// store returns the store with the watch caches that serve the client.
func (r *request) store() *storage.Store { return r.server.replica.Store(r.userAgent) }

// Warn implements [registry.Warnings] and [authn.Recorder].
func (r *request) Warn(text string) { r.warn(text) }

// Annotate implements [authn.Recorder]. The event begins after authentication.
func (r *request) Annotate(key, value string) {
	if r.server.config.Audit == nil {
		return
	}
	if r.authentication == nil {
		r.authentication = map[string]string{}
	}
	r.authentication[key] = value
}

// query returns the parsed query without the parts that do not parse; nil without a query.
func (r *request) query() url.Values {
	if r.values == nil && r.http.URL.RawQuery != "" {
		r.values = r.http.URL.Query()
	}
	return r.values
}

func (r *request) groupResource() status.GroupResource {
	return status.GroupResource{Group: r.Group, Resource: r.Resource}
}
