package httptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/kubefake/kubefake/internal/header"
)

const (
	// maxPending is how many bytes of a body are buffered before the headers are
	// sent, as in net/http. A response that ends before has a Content-Length.
	maxPending = 2 << 10
	// maxUnread is how many bytes of a body the client may leave unread before the
	// handler's Write blocks.
	maxUnread = 64 << 10
)

var (
	errReset   = &net.OpError{Op: "read", Net: "memory", Err: syscall.ECONNRESET}
	errRefused = &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}

	errClosedBody = errors.New("httptest: response body closed")
	errReturned   = errors.New("httptest: the handler has returned")
)

// inMemory is the in-memory transport.
type inMemory struct {
	server *Server
}

var _ http.RoundTripper = inMemory{}

// RoundTrip implements [http.RoundTripper].
func (d inMemory) RoundTrip(req *http.Request) (*http.Response, error) {
	e := &exchange{request: req, header: make(http.Header), declared: -1}
	e.change.L = &e.mu
	e.body.source, e.body.failed = req.Body, e.abort
	if err := context.Cause(req.Context()); err != nil {
		e.body.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(d.server.base)
	e.cancel = cancel
	served, err := e.serverRequest(ctx)
	if err == nil && !d.server.enter(e) {
		err = errRefused
	}
	if err != nil {
		e.abort(err)
		return nil, err
	}
	e.forget = context.AfterFunc(req.Context(), func() { e.abort(context.Cause(req.Context())) })
	if e.immediate = d.server.isImmediate(req, served); e.immediate {
		e.run(d.server, served)
	} else {
		go func() {
			growStack(false)
			e.run(d.server, served)
		}()
	}
	return e.wait()
}

// isImmediate reports whether the client's goroutine may serve a request: the handler does not wait
// for what the client does meanwhile.
func (s *Server) isImmediate(req, served *http.Request) bool {
	if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
		return false // the client may have to write what the handler reads
	}
	return s.immediate != nil && s.immediate(served)
}

// An exchange is one request and its response. The handler's goroutine writes
// the response, the client reads it.
type exchange struct {
	request   *http.Request // the client's; not changed
	body      requestBody
	header    http.Header // the handler's
	cancel    context.CancelCauseFunc
	forget    func() bool // stops watching the client's context
	immediate bool        // the handler's goroutine is the client's

	mu     sync.Mutex // guards the fields below
	change sync.Cond  // response, ready, ended or err has changed

	status   int          // 0 until the handler begins the response
	snapshot http.Header  // copy of header at that time
	declared int64        // Content-Length that the handler set, or -1
	written  int64        // bytes that the handler has written
	pending  bytes.Buffer // body bytes to send
	deadline *time.Timer  // of the handler's writes

	response *http.Response // nil until the headers are sent
	ready    bytes.Buffer   // body bytes for the client; at most maxUnread unless immediate, before the handler returns
	ended    bool           // the handler has returned
	err      error          // set when the exchange is aborted; reads and writes fail with it
}

// serverRequest returns the request for the handler.
func (e *exchange) serverRequest(ctx context.Context) (*http.Request, error) {
	req := e.request
	if req.URL == nil {
		return nil, errors.New("httptest: request without URL")
	}
	target := req.URL.RequestURI()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, fmt.Errorf("httptest: %w", err)
	}
	served := new(http.Request).WithContext(ctx)
	served.Method, served.URL, served.RequestURI = req.Method, u, target
	served.Proto, served.ProtoMajor, served.ProtoMinor = "HTTP/1.1", 1, 1
	served.Header, served.Body = req.Header.Clone(), http.NoBody
	served.Host, served.RemoteAddr = req.Host, "127.0.0.1:0"
	if served.Method == "" {
		served.Method = http.MethodGet
	}
	if served.Host == "" {
		served.Host = req.URL.Host
	}
	if served.Header == nil {
		served.Header = make(http.Header)
	}
	delete(served.Header, "Host")
	if agent, ok := served.Header["User-Agent"]; !ok {
		served.Header["User-Agent"] = []string{"Go-http-client/1.1"}
	} else if len(agent) == 0 || agent[0] == "" {
		delete(served.Header, "User-Agent")
	}
	if req.Body != nil && req.Body != http.NoBody {
		served.Body = &e.body
		if served.ContentLength = req.ContentLength; req.ContentLength > 0 {
			served.Header["Content-Length"] = []string{strconv.FormatInt(req.ContentLength, 10)}
		} else {
			served.ContentLength = -1
			served.TransferEncoding = []string{"chunked"}
		}
	}
	return served, nil
}

// run calls the handler and ends the response.
func (e *exchange) run(s *Server, served *http.Request) {
	defer s.leave(e)
	returned := false
	defer func() {
		if !returned {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				s.log.Printf("httptest: panic serving %s %s: %v\n%s", served.Method, served.RequestURI, v, debug.Stack())
			}
			e.abort(errReset)
		}
		e.finish()
	}()
	s.handler.ServeHTTP(responseWriter{e}, served)
	returned = true
}

// growStack gives the goroutine the stack that most handlers need in one step. Otherwise
// it grows in several, each of which copies what is deeper by then. It returns false.
//
//go:noinline
func growStack(used bool) bool {
	if used {
		var frame [stackSize]byte
		for i := range frame {
			frame[i] = byte(len(frame) % (i + 1))
		}
		used = frame[len(frame)/2] == frame[0]
	}
	return used
}

const stackSize = 7 << 10

// wait waits for the headers and returns the response.
func (e *exchange) wait() (*http.Response, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.response == nil && e.err == nil {
		e.change.Wait()
	}
	if e.response == nil {
		e.forget()
		return nil, e.err
	}
	if e.response.Body == http.NoBody {
		e.forget()
	}
	return e.response, nil
}

// abort aborts the exchange, unless it already is: the handler's writes fail with
// err, as do the client's reads after the ready bytes, and the handler's context is
// cancelled.
func (e *exchange) abort(err error) {
	e.mu.Lock()
	if e.err == nil {
		e.err = err
		e.change.Broadcast()
	}
	e.mu.Unlock()
	e.cancel(err)
	e.body.Close()
}

// finish ends the response after the handler has returned.
func (e *exchange) finish() {
	e.mu.Lock()
	if e.err == nil {
		e.completeLocked()
	}
	e.ended = true
	if e.deadline != nil {
		e.deadline.Stop()
	}
	e.change.Broadcast()
	e.mu.Unlock()
	e.cancel(nil)
	e.body.Close()
}

// completeLocked sends the rest of the response. It does not wait for the client.
func (e *exchange) completeLocked() {
	if e.status == 0 {
		e.beginLocked(http.StatusOK)
	}
	if e.response == nil && e.declared < 0 && bodyAllowed(e.status) && (e.hasBody() || e.written > 0) {
		e.declared = e.written
		e.snapshot["Content-Length"] = []string{strconv.FormatInt(e.written, 10)}
	}
	e.sendLocked()
	if e.ready.Len() == 0 {
		e.ready, e.pending = e.pending, bytes.Buffer{}
	} else {
		e.ready.Write(e.pending.Bytes())
	}
	if e.hasBody() && e.declared > e.written {
		e.err = io.ErrUnexpectedEOF
	}
}

// beginLocked sets the status and copies the headers.
func (e *exchange) beginLocked(status int) {
	e.status = status
	e.snapshot = e.header.Clone()
	if _, ok := e.snapshot["Content-Length"]; !ok {
		return
	}
	if n, err := strconv.ParseInt(header.Get(e.snapshot, "Content-Length"), 10, 64); err == nil && n >= 0 {
		e.declared = n
	} else {
		delete(e.snapshot, "Content-Length")
	}
}

// sendLocked sends status and headers to the client, unless they are sent.
func (e *exchange) sendLocked() {
	if e.response != nil {
		return
	}
	text := http.StatusText(e.status)
	if text == "" {
		text = "status code " + strconv.Itoa(e.status)
	}
	e.response = &http.Response{
		Status:        strconv.Itoa(e.status) + " " + text,
		StatusCode:    e.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        e.snapshot,
		ContentLength: e.declared,
		Body:          responseBody{e},
		Request:       e.request,
	}
	switch {
	case !bodyAllowed(e.status):
		e.response.ContentLength = 0
		e.response.Body = http.NoBody
	case !e.hasBody() || e.declared == 0:
		e.response.Body = http.NoBody
	case e.declared < 0:
		e.response.TransferEncoding = []string{"chunked"}
	}
	e.change.Broadcast()
}

// hasBody reports whether the response has a body.
func (e *exchange) hasBody() bool {
	return e.request.Method != http.MethodHead && bodyAllowed(e.status)
}

func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// flushLocked sends the headers and the pending bytes.
func (e *exchange) flushLocked() error {
	if e.status == 0 {
		e.beginLocked(http.StatusOK)
	}
	e.sendLocked()
	err := e.putLocked(e.pending.Bytes())
	e.pending.Reset()
	return err
}

// putLocked sends p to the client. It waits while too many bytes are unread, unless the client
// waits for the handler.
func (e *exchange) putLocked(p []byte) error {
	limit := maxUnread
	if e.immediate {
		limit = math.MaxInt
	}
	for len(p) > 0 {
		for e.err == nil && e.ready.Len() >= limit {
			e.change.Wait()
		}
		if e.err != nil {
			return e.err
		}
		n := min(len(p), limit-e.ready.Len())
		e.ready.Write(p[:n])
		p = p[n:]
		e.change.Broadcast()
	}
	return e.err
}

// A responseWriter is the handler's side of an exchange.
type responseWriter struct {
	e *exchange
}

var _ http.Flusher = responseWriter{}

// Header implements [http.ResponseWriter].
func (w responseWriter) Header() http.Header {
	return w.e.header
}

// WriteHeader implements [http.ResponseWriter]. Informational responses are
// not sent.
func (w responseWriter) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	if status < 200 {
		return
	}
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	if w.e.status == 0 {
		w.e.beginLocked(status)
	}
}

// Write implements [http.ResponseWriter]. It waits while too many bytes are unread,
// and fails if the exchange is aborted.
func (w responseWriter) Write(p []byte) (int, error) {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.admitLocked(len(p)); err != nil {
		return 0, err
	}
	if !e.hasBody() {
		return len(p), nil
	}
	if e.pending.Len()+len(p) <= maxPending {
		return e.pending.Write(p)
	}
	if err := e.flushLocked(); err != nil {
		return 0, err
	}
	if err := e.putLocked(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// admitLocked counts n bytes of the handler. It fails if the handler must not write
// them.
func (e *exchange) admitLocked(n int) error {
	if e.err != nil {
		return e.err
	}
	if e.ended {
		return errReturned
	}
	if e.status == 0 {
		e.beginLocked(http.StatusOK)
	}
	if !bodyAllowed(e.status) {
		return http.ErrBodyNotAllowed
	}
	if e.declared >= 0 && e.written+int64(n) > e.declared {
		return http.ErrContentLength
	}
	e.written += int64(n)
	return nil
}

// Flush implements [http.Flusher].
func (w responseWriter) Flush() {
	_ = w.FlushError() // the next Write fails with it
}

// FlushError is for [http.ResponseController].
func (w responseWriter) FlushError() error {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	if w.e.err != nil {
		return w.e.err
	}
	if w.e.ended {
		return errReturned
	}
	return w.e.flushLocked()
}

// SetWriteDeadline is for [http.ResponseController]. At the deadline the exchange is
// reset, for the handler and for the client.
func (w responseWriter) SetWriteDeadline(t time.Time) error {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	if w.e.deadline != nil {
		w.e.deadline.Stop()
	}
	if !t.IsZero() && !w.e.ended {
		w.e.deadline = time.AfterFunc(time.Until(t), func() { w.e.abort(errReset) })
	}
	return nil
}

// SetReadDeadline is for [http.ResponseController]. At the deadline the request body
// is closed, and reads of it fail with os.ErrDeadlineExceeded. A deadline that has
// passed cannot be extended.
func (w responseWriter) SetReadDeadline(t time.Time) error {
	w.e.body.setDeadline(t)
	return nil
}

// EnableFullDuplex is for [http.ResponseController]. It has no effect: a request can
// always be read while its response is written.
func (w responseWriter) EnableFullDuplex() error {
	return nil
}
