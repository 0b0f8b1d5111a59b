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

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Backend answers the requests that faults let pass.
type Backend interface {
	Serve(w http.ResponseWriter, r *http.Request)
	// Fail answers with a failure, in the media type that the client asks for.
	// Retry-After is set already.
	Fail(w http.ResponseWriter, r *http.Request, st *status.Status)
}

// Serve answers a request: as the faults have it that hit it, else as the
// backend does. A connection that is to break makes it panic with
// [http.ErrAbortHandler].
func (s *Set) Serve(w http.ResponseWriter, r *Request, b Backend) {
	hits := s.hits(r)
	if len(hits) == 0 {
		s.pass(w, r, b)
		return
	}
	for _, h := range hits {
		if h.fault.CutAfter == 0 { // that hits only what is long enough
			h.hit(r)
		}
	}
	if s.delay(r, hits, false) != nil {
		return // nobody is there any more
	}
	last := hits[len(hits)-1]
	if servedFirst(hits, r) {
		answer := &recorder{}
		b.Serve(answer, r.HTTP)
		b = replayed{b, answer}
		if s.delay(r, hits, true) != nil {
			return
		}
	}
	if last.fault.answers() {
		s.answer(w, r, b, last)
	} else {
		s.pass(w, r, b)
	}
}

// servedFirst reports whether what goes wrong does so after the backend has
// answered.
func servedFirst(hits []*Rule, r *Request) bool {
	switch last := &hits[len(hits)-1].fault; {
	case last.After:
		return true
	case last.CutAfter > 0:
		return r.Verb != "watch"
	case last.answers():
		return false
	}
	return slices.ContainsFunc(hits, func(h *Rule) bool { return h.fault.After })
}

// hit counts that a request is hit.
func (r *Rule) hit(q *Request) { r.fire(Hit{Route: q.Route, UserAgent: q.HTTP.UserAgent()}) }

// delay waits as the faults say that come before, or after, the request is
// served.
func (s *Set) delay(r *Request, hits []*Rule, after bool) error {
	for _, h := range hits {
		if h.fault.Delay > 0 && h.fault.After == after {
			if err := s.wait(r.HTTP.Context(), h, h.fault.Delay); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer answers in the place of the backend, or lets it do so in part.
func (s *Set) answer(w http.ResponseWriter, r *Request, b Backend, rule *Rule) {
	f := &rule.fault
	switch {
	case f.Reset:
		reset(w)
	case f.CutAfter > 0:
		s.cut(w, r, b, rule)
	case f.ExpireContinue:
		b.Fail(w, r.HTTP, expiredContinue(r.HTTP.URL.Query().Get("continue")))
	case f.Code == http.StatusTooManyRequests && f.Reason == "" && f.Message == "":
		// This is how API priority and fairness turns requests away: without a
		// Status.
		w.Header().Set("Retry-After", strconv.Itoa(max(1, seconds(f.RetryAfter))))
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
	default:
		st := f.status(&r.Route)
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(seconds(f.RetryAfter)))
		}
		b.Fail(w, r.HTTP, st)
	}
}

// pass lets the backend answer. A watch can be hit while it is open.
func (s *Set) pass(w http.ResponseWriter, r *Request, b Backend) {
	if r.Verb == "watch" {
		s.watch(w, r, b)
		return
	}
	b.Serve(w, r.HTTP)
}

// seconds rounds up, as clients cannot be told less than a second.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// reset breaks the connection: a client of HTTP/1 sees it reset, a client of
// HTTP/2 its stream.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = secured.NetConn()
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0) // what is not sent yet is not, and a RST is
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// cut lets the backend answer and breaks the connection before the end.
func (s *Set) cut(w http.ResponseWriter, r *Request, b Backend, rule *Rule) {
	ctx, cancel := context.WithCancel(r.HTTP.Context())
	defer cancel()
	c := &cutter{ResponseWriter: w, left: rule.fault.CutAfter, stop: func() {
		rule.hit(r)
		cancel()
	}}
	if whole, ok := b.(replayed); ok {
		c.left = min(c.left, whole.answer.body.Len()-1)
	}
	s.pass(c, &Request{r.HTTP.WithContext(ctx), r.Route}, b)
	if c.done {
		panic(http.ErrAbortHandler)
	}
}

// A cutter sends so many bytes of a body, and stops who writes more.
type cutter struct {
	http.ResponseWriter
	left int
	stop func()
	done bool
}

var errCut = errors.New("fault: the answer is cut short")

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

// Unwrap serves [http.ResponseController].
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// A recorder keeps an answer. The zero value is ready to use.
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

// FlushError serves [http.ResponseController].
func (r *recorder) FlushError() error { return nil }

func (r *recorder) replay(w http.ResponseWriter) {
	r.WriteHeader(http.StatusOK)
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.code)
	if r.body.Len() > 0 {
		w.Write(r.body.Bytes())
	}
}

// replayed answers with what another backend has answered already.
type replayed struct {
	Backend
	answer *recorder
}

func (b replayed) Serve(w http.ResponseWriter, _ *http.Request) { b.answer.replay(w) }

// handler makes a Backend of a handler.
type handler struct{ next http.Handler }

func (h handler) Serve(w http.ResponseWriter, r *http.Request) { h.next.ServeHTTP(w, r) }

func (h handler) Fail(w http.ResponseWriter, r *http.Request, st *status.Status) {
	out := codec.Offer{}.NegotiateError(r)
	t, _ := wire.ForKind("meta.k8s.io", "v1", "Status")
	w.Header().Set("Content-Type", out.ContentType())
	w.WriteHeader(st.Code)
	w.Write(out.Append(nil, st.JSON(), t))
}

// status is the failure that a fault answers a request with: in the words of
// kube-apiserver, but for those that the fault has of its own.
func (f *Fault) status(r *route.Route) *status.Status {
	st := usual(f.Code, r)
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

// usual is the commonest failure of a code.
func usual(code int, r *route.Route) *status.Status {
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
		return status.Conflict(gr, r.Name, "the object has been modified; please apply your changes to the latest version and try again")
	case http.StatusGone:
		return status.Expired(new(storage.ExpiredError).Error())
	case http.StatusTooManyRequests:
		return status.TooManyRequests("Too many requests, please try again later.", 0)
	case http.StatusInternalServerError:
		return status.Unclassified("etcdserver: request timed out")
	case http.StatusServiceUnavailable:
		return status.Unavailable("the server is currently unable to handle the request")
	case http.StatusGatewayTimeout:
		return status.Timeout("request did not complete within the allotted timeout", 0)
	}
	return status.Failure(code, "", http.StatusText(code), nil)
}

// expiredContinue is what a list is answered that goes on from a token whose
// version is compacted: one that is none is told as such.
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
