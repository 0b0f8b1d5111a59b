package server

import (
	"context"
	"net/http"

	"github.com/kubefake/kubefake/internal/aggregator"
)

// forward forwards the request to the aggregated API server that serves its path.
func (r *request) forward() error {
	ctx, cancel := context.WithCancel(r.ctx())
	defer cancel()
	end := r.server.ctx
	if r.isLongRunning() {
		end = r.server.streams
	}
	defer context.AfterFunc(end, cancel)()
	user := *r.user
	if !r.surface.Release().Enabled("RemoteRequestHeaderUID") {
		user.UID = ""
	}
	err := r.remote.Forward(r.w, aggregator.Forwarding{
		Request: r.http.WithContext(ctx), User: &user, AuditID: r.auditID[0], IsResource: r.IsResource,
		Switching: func() { r.w.begin(http.StatusSwitchingProtocols) },
	})
	if err != nil && r.w.code != 0 {
		panic(http.ErrAbortHandler) // a part of the answer was sent
	}
	return err
}
