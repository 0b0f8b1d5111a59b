package server

import (
	"net/http"

	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/status"
)

// meetsFaults reports whether faults may hit the request: if there are any, and
// for every watch, because faults injected later hit it too.
func (r *request) meetsFaults() bool {
	return (r.Verb == "watch" || r.server.faults.Active()) && !r.isControl()
}

// A backend answers a request that the faults let through.
type backend struct{ request *request }

var _ fault.Backend = backend{}

// Serve implements [fault.Backend].
func (b backend) Serve(w http.ResponseWriter, hr *http.Request) {
	b.serveThrough(w, hr, (*request).respond)
}

// Fail implements [fault.Backend].
func (b backend) Fail(w http.ResponseWriter, hr *http.Request, st *status.Status) {
	b.serveThrough(w, hr, func(r *request) { r.fail(st) })
}

// serveThrough answers through a writer that a fault has wrapped around the client's.
func (b backend) serveThrough(w http.ResponseWriter, hr *http.Request, answer func(*request)) {
	r, before := b.request, b.request.w
	r.http, r.w = hr, &response{ResponseWriter: w}
	defer func() {
		before.failure, before.panic, before.answered = r.w.failure, r.w.panic, r.w.answered
		r.w = before
	}()
	answer(r)
}
