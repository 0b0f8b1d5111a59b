package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
)

const (
	// requestTimeout is the longest time of a request that is not long-running, as
	// with kube-apiserver's default --request-timeout.
	requestTimeout = 60 * time.Second
	// writeTimeout is the longest time of a create, update, patch or delete of one
	// object whose body was read. It starts with the request.
	writeTimeout = 34 * time.Second
)

// isLongRunning reports whether a request has no deadline.
func (r *request) isLongRunning() bool {
	if !r.IsResource {
		return strings.HasPrefix(r.Path, "/debug/pprof/") || r.isControl()
	}
	return r.IsLongRunning()
}

// IsImmediate reports whether a request is for one object or makes a change, so that its answer is
// complete when it is served, and mostly short. None is while there are faults, whose functions may
// wait for what the client does next, and none that an aggregated API server answers, which may
// stream.
func (s *Server) IsImmediate(hr *http.Request) bool {
	to := route.Parse(hr.Method, hr.URL)
	return to.IsResource && to.Verb != "list" && !to.IsLongRunning() && !s.faults.Active() && s.aggregator.Lookup(to.Path) == nil
}

// setDeadline starts the time of a request that is not long-running. The parameter
// timeout shortens it.
func (r *request) setDeadline() error {
	if r.isLongRunning() {
		return nil
	}
	limit := cmp.Or(r.server.config.RequestTimeout, requestTimeout)
	if r.http.URL.RawQuery != "" {
		if text := r.query().Get("timeout"); text != "" {
			asked, err := time.ParseDuration(text)
			if err != nil {
				return status.BadRequest("invalid timeout specified in the request URL - " + err.Error())
			}
			if asked > 0 {
				limit = min(limit, asked)
			}
		}
	}
	d := &r.deadline
	d.Context, d.server = r.http.Context(), r.server
	d.start = r.start
	d.at = d.start.Add(limit)
	return nil
}

// bodyRead ends the first part of a write, whose time is that of all requests. The
// whole write has writeTimeout.
func (r *request) bodyRead() {
	if r.deadline.server != nil && slices.Contains(writeVerbs, r.Verb) {
		r.deadline.limitWrite()
	}
}

var writeVerbs = []string{"create", "update", "patch", "delete"}

// timedOut reports whether the time of the request is up.
func (r *request) timedOut() bool {
	return r.deadline.server != nil && errors.Is(r.deadline.Err(), context.DeadlineExceeded)
}

// timeoutBody is what kube-apiserver answers when the time of a request is up. It
// declares no media type: net/http takes it for text.
const timeoutBody = `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n"

// failTimeout answers a request whose time is up. If a part of the answer was sent,
// it breaks the connection.
func (r *request) failTimeout() {
	if r.w.code != 0 {
		panic(http.ErrAbortHandler)
	}
	if r.deadline.isWrite {
		r.fail(status.Timeout("request did not complete within requested timeout - "+context.DeadlineExceeded.Error(), 0))
		return
	}
	r.w.failure = status.Timeout("request did not complete within the allotted timeout", 0)
	h := r.w.Header()
	h.Del("Warning")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	r.w.WriteHeader(http.StatusGatewayTimeout)
	io.WriteString(r.w, timeoutBody)
}

// A deadline is the context of a request that is not long-running. It ends when the
// client hangs up, when the server closes, and when the time of the request is up on
// the server's clock. The timer starts with the first call of Done, so that a
// request which waits for nothing has none.
//
// Deadline returns that of the HTTP request, because callers compare it with the
// wall clock.
type deadline struct {
	context.Context // of the HTTP request
	server          *Server
	start           time.Time

	mu      sync.Mutex // guards the fields below
	at      time.Time
	isWrite bool            // at is the end of writeTimeout
	timed   context.Context // nil before the first call of Done
	cancel  context.CancelCauseFunc
	timer   *clock.Timer // nil if timed has ended without it
	forget  func() bool  // stops waiting for the server
	ended   bool         // release was called
	expired bool         // expire was called
}

var _ context.Context = (*deadline)(nil)

// Done implements [context.Context].
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.startLocked()
	}
	return d.timed.Done()
}

func (d *deadline) startLocked() {
	d.timed, d.cancel = context.WithCancelCause(d.Context)
	if d.ended {
		d.cancel(nil)
		return
	}
	d.forget = context.AfterFunc(d.server.ctx, func() { d.cancel(context.Canceled) })
	d.setTimerLocked()
}

func (d *deadline) setTimerLocked() {
	if d.timer != nil {
		d.timer.Stop()
	}
	if !d.server.config.Clock.Now().Before(d.at) {
		d.cancel(context.DeadlineExceeded)
		return
	}
	d.timer = d.server.config.Clock.At(d.at, func() { d.cancel(context.DeadlineExceeded) })
}

// limitWrite ends the context after writeTimeout, if that is earlier.
func (d *deadline) limitWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.start.Add(writeTimeout)
	if d.isWrite || !at.Before(d.at) || !d.server.config.Clock.Now().Before(d.at) {
		return
	}
	d.at, d.isWrite = at, true
	if d.timed != nil {
		d.setTimerLocked()
	}
}

// Err implements [context.Context].
func (d *deadline) Err() error {
	d.mu.Lock()
	timed, at, expired := d.timed, d.at, d.expired
	d.mu.Unlock()
	if expired {
		return context.DeadlineExceeded
	}
	if timed != nil {
		if timed.Err() == nil {
			return nil
		}
		if context.Cause(timed) == context.DeadlineExceeded {
			return context.DeadlineExceeded
		}
		return context.Canceled
	}
	if err := d.Context.Err(); err != nil {
		return err
	}
	if err := d.server.ctx.Err(); err != nil {
		return err
	}
	if !d.server.config.Clock.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}

// expire ends the context because the time of the request is up. net/http cancels the
// context of a request whose body it cannot read, so that this context, without expire,
// would end as if the client had hung up.
func (d *deadline) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expired = true
	if d.timed != nil {
		d.cancel(context.DeadlineExceeded)
	}
}

// Value implements [context.Context].
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	timed, at := d.timed, d.at
	d.mu.Unlock()
	if key == (clock.DeadlineKey{}) {
		return at
	}
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}

// release ends the context after the request.
func (d *deadline) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.timed == nil {
		return
	}
	d.forget()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.cancel(nil)
}

// aLongTimeAgo is a time that has passed on every clock.
var aLongTimeAgo = time.Unix(1, 0)

// limitRead makes reads of the body fail when the time of the request is up, as they
// do when the client hangs up and when the server closes. The caller stops the timer
// after the last one.
func (r *request) limitRead() *clock.Timer {
	w, d := r.w.ResponseWriter, &r.deadline
	if d.server == nil {
		return clock.Never()
	}
	return d.server.config.Clock.At(d.at, func() {
		d.expire()
		http.NewResponseController(w).SetReadDeadline(aLongTimeAgo)
	})
}

// limitWrite makes writes of the answer fail when the request ends. The caller calls
// stop after the last one.
func (r *request) limitWrite() (stop func() bool) {
	w := r.w.ResponseWriter
	return context.AfterFunc(r.ctx(), func() { http.NewResponseController(w).SetWriteDeadline(aLongTimeAgo) })
}

// longAnswer is the length of the longest answer that is written without a limit of
// its time. The buffers of the connection take it at once.
const longAnswer = 64 << 10

// A limitedWriter writes an answer. It limits the time of one above longAnswer, which
// blocks while the client does not read.
type limitedWriter struct {
	io.Writer
	request *request
	written int
	stop    func() bool // nil before the limit
}

// Write implements [io.Writer].
func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.written += len(b); w.written > longAnswer && w.stop == nil {
		w.stop = w.request.limitWrite()
	}
	return w.Writer.Write(b)
}

// end ends the answer. It breaks the connection if the time was up.
func (w *limitedWriter) end(err error) {
	if w.stop != nil {
		w.stop()
	}
	if err != nil && w.request.timedOut() {
		panic(http.ErrAbortHandler)
	}
}
