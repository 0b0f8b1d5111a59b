package server

import (
	"net/http"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/impersonation"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/usage"
)

// recordUsage counts what the request needs, if that is counted.
func (r *request) recordUsage() {
	if !r.server.cluster.Usage().On() || r.isControl() {
		return
	}
	at := r.attributes()
	r.usage = r.need(at, "", nil)
	if at.Verb == "watch" && valueOf(boolOf(r.http.URL.Query(), "sendInitialEvents")) {
		at.Verb = "list"
		r.need(at, usage.InitialEvents, nil)
	}
}

// need counts a permission that the request needs. instead would do, too; nil for nothing.
func (r *request) need(at authz.Attributes, reason usage.Reason, instead *authz.Attributes) *usage.Entry {
	client := usage.Client{User: r.user.Name, UserAgent: r.userAgent}
	if r.impersonator != nil {
		client.Impersonator = r.impersonator.Name
	}
	return r.server.cluster.Usage().Record(&usage.Need{
		Client: client, At: at, Reason: reason, Instead: instead, Request: r.http,
	})
}

// Need implements [registry.Needs].
func (r *request) Need(at authz.Attributes, reason usage.Reason, instead *authz.Attributes) {
	r.need(at, reason, instead)
}

// recordImpersonation counts what the request needs to be made as another user, before r.user is
// that one.
func (r *request) recordImpersonation(as *authn.User) {
	if r.server.cluster.Usage().On() && !r.isControl() {
		for _, at := range impersonation.Needs(as) {
			r.need(at, usage.Impersonates, nil)
		}
	}
}

// endUsage counts how the request ended.
func (r *request) endUsage() {
	if r.usage == nil {
		return
	}
	if r.w.code == http.StatusForbidden {
		r.usage.Refuse()
	}
}
