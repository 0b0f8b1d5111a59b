package server

import (
	"net/http"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/header"
)

// auditIDHeader identifies a request in the audit log. The client may choose the
// value.
const auditIDHeader = "Audit-Id"

// setHeaders sets the headers of every answer.
func (r *request) setHeaders() {
	r.auditID[0] = r.clientAuditID()
	if r.auditID[0] == "" {
		r.auditID[0] = r.server.random.UID()
	}
	h := r.w.Header()
	h[auditIDHeader] = r.auditID[:]
	h["Cache-Control"] = noCache
	if value := r.server.config.StrictTransportSecurity; value != "" {
		h.Set("Strict-Transport-Security", value)
	}
}

// Answers share the values of headers that most of them have. Nobody changes them.
var (
	noCache  = []string{"no-cache, private"}
	jsonType = []string{codec.JSON.MediaType()}
)

// setContentType sets the media type of the answer.
func setContentType(h http.Header, mediaType string) {
	if mediaType == jsonType[0] {
		h["Content-Type"] = jsonType
		return
	}
	h.Set("Content-Type", mediaType)
}

// classify sets the headers with the UIDs of the FlowSchema and the priority level
// of the request. Long-running requests have none, except watches.
func (r *request) classify() {
	if r.isLongRunning() && r.Verb != "watch" {
		return
	}
	at := authz.Attributes{
		Verb: r.Verb, IsResource: r.IsResource, Path: r.Path,
		Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace,
	}
	if class := r.server.cluster.Classify(r.user, &at); class != nil {
		class.SetHeaders(r.w.Header())
	}
}

// withNoSniff returns err, whose answer forbids browsers to guess its media type.
func (r *request) withNoSniff(err error) error {
	r.w.Header().Set("X-Content-Type-Options", "nosniff")
	return err
}

// clientAuditID returns the name that the client has given the request for the audit log; "" for
// none.
func (r *request) clientAuditID() string { return header.Get(r.http.Header, auditIDHeader) }
