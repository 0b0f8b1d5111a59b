package fault

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Backend serves the requests that no fault responds to.
type Backend interface {
	Serve(w http.ResponseWriter, r *http.Request)
	// Fail responds with st, in the media type that the client accepts. The
	// Retry-After header is already set.
	Fail(w http.ResponseWriter, r *http.Request, st *status.Status)
}

// Serve serves a request through the faults. It panics with
// [http.ErrAbortHandler] if a fault breaks the connection.
func (s *Set) Serve(w http.ResponseWriter, r *Request, b Backend) {
	hits := s.hits(r)
	if len(hits) == 0 {
		s.pass(w, r, b)
		return
	}
	for _, h := range hits {
		if h.fault.CutAfterBytes == 0 { // a cut is a hit only if the response is long enough
			h.countRequest(r)
		}
	}
	r, leave := s.enter(r)
	defer leave()
	answer, err := s.reach(r, hits, faults.BeforeRequest, nil)
	if err == nil && answer == nil && servesFirst(hits, r) {
		rec := &recorder{}
		b.Serve(rec, r.HTTP)
		b = recorded{b, rec}
		answer, err = s.reach(r, hits, faults.AfterCommit, rec)
	}
	last := hits[len(hits)-1]
	switch {
	case err == errDisconnected:
		reset(w)
	case err != nil: // the client is gone
	case answer != nil:
		s.respond(w, r, b, answer, nil)
	case last.fault.Responds():
		s.respond(w, r, b, &last.fault, last.Rule)
	default:
		s.pass(w, r, b)
	}
}

// servesFirst reports whether the backend serves the request before the last
// fault takes effect.
func servesFirst(hits []hit, r *Request) bool {
	switch last := &hits[len(hits)-1].fault; {
	case last.ActsAfterServing():
		return true
	case last.CutAfterBytes > 0:
		return r.Verb != "watch"
	case last.Responds():
		return false
	}
	return slices.ContainsFunc(hits, func(h hit) bool { return h.fault.ActsAfterServing() })
}

// countRequest counts a hit on a request.
func (r *Rule) countRequest(q *Request) {
	r.countHit(Hit{Route: q.Route, UserAgent: q.HTTP.UserAgent()})
}

// reach waits for the delays of the faults that take effect at a moment, and calls their
// Do. rec has the response at AfterCommit. It returns the answer of the first Do that has
// one. The error is the cause of the request's context.
func (s *Set) reach(r *Request, hits []hit, at faults.Moment, rec *recorder) (answer *faults.Fault, err error) {
	ctx := r.HTTP.Context()
	for _, h := range hits {
		if h.fault.ActsAfterServing() != (at == faults.AfterCommit) {
			continue
		}
		if h.fault.Delay > 0 {
			if err := s.wait(ctx, h.Rule, h.fault.Delay); err != nil {
				return nil, err
			}
		}
		if !h.fault.HasAction() {
			continue
		}
		p := h.newPoint(r, at, h.n)
		if rec == nil {
			p.identifyBody()
		} else {
			p.Code = rec.code
			p.identify(rec.identity())
		}
		answer := h.do(ctx, p)
		if err := context.Cause(ctx); answer != nil || err != nil {
			return answer, err
		}
	}
	if context.Cause(ctx) == errDisconnected {
		return nil, errDisconnected
	}
	return nil, nil
}

// respond responds in place of the backend, or lets it send a part of the
// response. rule is that of a fault with CutAfterBytes.
func (s *Set) respond(w http.ResponseWriter, r *Request, b Backend, f *faults.Fault, rule *Rule) {
	switch {
	case f.Reset:
		reset(w)
	case f.CutAfterBytes > 0:
		s.cut(w, r, b, rule)
	case f.ExpireContinue:
		b.Fail(w, r.HTTP, expiredContinue(r.HTTP.URL.Query().Get("continue")))
	case f.Code == http.StatusTooManyRequests && f.Reason == "" && f.Message == "":
		// API priority and fairness rejects requests in plain text, without a Status.
		w.Header().Set("Retry-After", strconv.Itoa(max(1, seconds(f.RetryAfter))))
		http.Error(w, status.TooManyRequestsText, http.StatusTooManyRequests)
	default:
		st := statusOf(f, &r.Route)
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds(f.RetryAfter)))
		}
		b.Fail(w, r.HTTP, st)
	}
}

// pass lets the backend respond. Faults can still hit an open watch.
func (s *Set) pass(w http.ResponseWriter, r *Request, b Backend) {
	if r.Verb == "watch" {
		s.watch(w, r, b)
		return
	}
	b.Serve(w, r.HTTP)
}

// seconds rounds up: Retry-After has no fractions.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// reset breaks the connection of an HTTP/1 client, or the stream of an HTTP/2
// client.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secured.NetConn()
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // Close discards unsent data and sends a RST
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// cut lets the backend respond and breaks the connection before the end.
func (s *Set) cut(w http.ResponseWriter, r *Request, b Backend, rule *Rule) {
	ctx, cancel := context.WithCancel(r.HTTP.Context())
	defer cancel()
	c := &cutter{ResponseWriter: w, left: rule.fault.CutAfterBytes, stop: func() {
		rule.countRequest(r)
		cancel()
	}}
	if whole, ok := b.(recorded); ok {
		c.left = min(c.left, whole.response.body.Len()-1)
	}
	s.pass(c, &Request{r.HTTP.WithContext(ctx), r.Route}, b)
	if c.done {
		panic(http.ErrAbortHandler)
	}
}

// A cutter passes on the first bytes of a body. Then it calls stop, and its Write
// fails.
type cutter struct {
	http.ResponseWriter
	left int
	stop func()
	done bool
}

var errCut = errors.New("fault: the response is cut")

func (c *cutter) Write(p []byte) (int, error) {
	if c.done {
		return 0, errCut
	}
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	c.done = true
	c.ResponseWriter.Write(p[:max(0, c.left)])
	http.NewResponseController(c.ResponseWriter).Flush()
	c.stop()
	return 0, errCut
}

// Unwrap is for [http.ResponseController].
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// A recorder buffers a response. The zero value is ready to use.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 && code >= http.StatusOK {
		r.code = code
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// FlushError is for [http.ResponseController].
func (r *recorder) FlushError() error { return nil }

// writeTo sends the response.
func (r *recorder) writeTo(w http.ResponseWriter) {
	r.WriteHeader(http.StatusOK)
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.code)
	if r.body.Len() > 0 {
		w.Write(r.body.Bytes())
	}
}

// identity returns the identity of the object that is the response.
func (r *recorder) identity() codec.Identity {
	if r.code >= http.StatusMultipleChoices || r.header.Get("Content-Encoding") != "" {
		return codec.Identity{}
	}
	format, err := codec.Offer{CBOR: true}.Body(r.header.Get("Content-Type"))
	if err != nil {
		return codec.Identity{}
	}
	return format.Identify(r.body.Bytes())
}

// recorded is a backend that has already responded.
type recorded struct {
	Backend
	response *recorder
}

func (b recorded) Serve(w http.ResponseWriter, _ *http.Request) { b.response.writeTo(w) }

// handler is a Backend that calls a handler.
type handler struct{ next http.Handler }

func (h handler) Serve(w http.ResponseWriter, r *http.Request) { h.next.ServeHTTP(w, r) }

func (h handler) Fail(w http.ResponseWriter, r *http.Request, st *status.Status) {
	out, _ := codec.Offer{}.NegotiateError(r)
	t, _ := wire.ForKind("meta.k8s.io", "v1", "Status")
	w.Header().Set("Content-Type", out.ContentType())
	w.WriteHeader(int(st.Code))
	w.Write(out.Append(nil, st.JSON(), t))
}

// statusOf returns the failure of Fault.Code, with the fault's own Reason and
// Message where they are set.
func statusOf(f *faults.Fault, r *route.Route) *status.Status {
	st := statusForCode(f.Code, r)
	if f.Reason != "" {
		st.Reason = f.Reason
	}
	if f.Message != "" {
		st.Message = f.Message
	}
	if f.RetryAfter > 0 {
		if st.Details == nil {
			st.Details = &status.Details{}
		}
		st.Details.RetryAfterSeconds = seconds(f.RetryAfter)
	}
	return st
}

// statusForCode returns the failure that kube-apiserver responds with most often
// for a code.
func statusForCode(code int, r *route.Route) *status.Status {
	gr := status.GroupResource{Group: r.Group, Resource: r.Resource}
	switch code {
	case http.StatusUnauthorized:
		return status.Unauthorized()
	case http.StatusForbidden:
		return status.Forbidden(gr, r.Name, "not permitted")
	case http.StatusNotFound:
		return status.NotFound(gr, r.Name)
	case http.StatusConflict:
		if r.Verb == "create" {
			return status.AlreadyExists(gr, r.Name)
		}
		return status.Modified(gr, r.Name)
	case http.StatusGone:
		return status.Expired(new(storage.ExpiredError).Error())
	case http.StatusTooManyRequests:
		return status.TooManyRequests(status.TooManyRequestsText, 0)
	case http.StatusInternalServerError:
		return status.Unclassified("etcdserver: request timed out")
	case http.StatusServiceUnavailable:
		return status.Unavailable("the server is currently unable to handle the request")
	case http.StatusGatewayTimeout:
		return status.Timeout("request did not complete within the allotted timeout", 0)
	}
	return status.Failure(code, "", http.StatusText(code), nil)
}

// expiredContinue returns the failure of a list whose continue token has expired,
// or of one whose token is invalid.
func expiredContinue(token string) *status.Status {
	err := storage.ExpireContinue(token)
	var expired *storage.ExpiredError
	if !errors.As(err, &expired) {
		return status.BadRequest(err.Error())
	}
	st := status.Expired(expired.Error())
	st.Metadata.Continue = expired.Continue
	return st
}
