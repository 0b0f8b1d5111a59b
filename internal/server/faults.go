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

// faultless answers a request that the faults let through.
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

// through answers through a writer that a fault has wrapped around the client's.
func (f faultless) through(w http.ResponseWriter, hr *http.Request, answer func(*request)) {
	r, before := f.request, f.request.w
	r.http, r.w = hr, &response{ResponseWriter: w}
	defer func() {
		before.failure, before.panic, before.answered = r.w.failure, r.w.panic, r.w.answered
		r.w = before
	}()
	answer(r)
}
