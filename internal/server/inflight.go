package server

import (
	"errors"
	"io"
	"net/http"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// An inflight limits the requests that are served at a time. Each request that is served
// is an element of the channel. Nil is no limit.
type inflight chan struct{}

func newInflight(limit int) inflight {
	if limit <= 0 {
		return nil
	}
	return make(inflight, limit)
}

// errTooManyRequests is the error for a request above a limit. The answer is plain text.
var errTooManyRequests = errors.New(status.TooManyRequestsText)

// enter counts the request against its limit until leave. It fails with
// errTooManyRequests. Long-running requests and those of system:masters have no limit.
func (r *request) enter() (leave func(), err error) {
	limit := r.server.writes
	switch r.Verb {
	case "get", "list", "watch":
		limit = r.server.reads
	}
	if limit == nil || r.isLongRunning() {
		return func() {}, nil
	}
	select {
	case limit <- struct{}{}:
		return func() { <-limit }, nil
	default:
	}
	if r.user.InGroup(authn.MastersGroup) {
		return func() {}, nil
	}
	return nil, errTooManyRequests
}

// failTooManyRequests answers a request above a limit.
func (r *request) failTooManyRequests() {
	h := r.w.Header()
	h.Set("Retry-After", "1")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	r.w.WriteHeader(http.StatusTooManyRequests)
	io.WriteString(r.w, errTooManyRequests.Error()+"\n")
}
