package server

import (
	"github.com/kubefake/kubefake/internal/authz"
)

// auditIDHeader identifies a request in the audit log. The client may choose the
// value.
const auditIDHeader = "Audit-Id"

// setHeaders sets the headers of every answer.
func (r *request) setHeaders() {
	r.auditID = r.http.Header.Get(auditIDHeader)
	if r.auditID == "" {
		r.auditID = r.server.auditIDs.UID()
	}
	h := r.w.Header()
	h.Set(auditIDHeader, r.auditID)
	h.Set("Cache-Control", "no-cache, private")
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
	if class := r.server.registry.Classify(r.user, &at); class != nil {
		h := r.w.Header()
		h.Set("X-Kubernetes-Pf-Flowschema-Uid", class.FlowSchema)
		h.Set("X-Kubernetes-Pf-Prioritylevel-Uid", class.PriorityLevel)
	}
}

// unsniffed returns err, whose answer tells browsers not to guess its media type.
func (r *request) unsniffed(err error) error {
	r.w.Header().Set("X-Content-Type-Options", "nosniff")
	return err
}
