package apiserver

import (
	"net/http"

	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/webhook"
)

// isFaulty reports whether the request is to meet the faults: one that comes
// while there are any, and every watch, because faults can hit it later.
func (r *request) isFaulty() bool {
	return (r.Verb == "watch" || r.server.faults.Active()) && !r.isControl()
}

// faultless answers a request that has met the faults.
type faultless struct{ request *request }

var _ fault.Backend = faultless{}

// Serve implements [fault.Backend].
func (f faultless) Serve(w http.ResponseWriter, hr *http.Request) {
	f.through(w, hr, (*request).respond)
}

// Fail implements [fault.Backend].
func (f faultless) Fail(w http.ResponseWriter, hr *http.Request, st *status.Status) {
	f.through(w, hr, func(r *request) { r.fail(st) })
}

// through answers through a writer that a fault has put before the client's.
func (f faultless) through(w http.ResponseWriter, hr *http.Request, answer func(*request)) {
	r, before := f.request, f.request.w
	r.http, r.w = hr, &response{ResponseWriter: w}
	defer func() {
		before.failure, before.panic = r.w.failure, r.w.panic
		r.w = before
	}()
	answer(r)
}

// webhooks calls webhooks, on the server's clock and through its faults.
func (s *Server) webhooks() *webhook.Client {
	return &webhook.Client{Services: s.config.Services, Clock: s.clock, Through: s.faults.Transport}
}

// noteFault writes a fault that has hit somebody into the journal.
func (s *Server) noteFault(h fault.Hit) {
	resource := status.GroupResource{Group: h.Route.Group, Resource: h.Route.Resource}
	s.journal.RecordNote(journal.Note{Kind: journal.Fault, Text: h.String(), Resource: resource.String(), UserAgent: h.UserAgent})
}
