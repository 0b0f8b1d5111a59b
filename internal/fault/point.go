package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/glob"
	"github.com/kubefake/kubefake/internal/route"
)

// A point is the Point of a rule with its Effects.
type point struct {
	faults.Point
	route  route.Route
	ctx    context.Context
	answer *faults.Fault      // responds in place of the server; nil for none
	end    faults.WatchEffect // ends the watch; "" for none
	hold   func() (release func())
	note   func(text string)
}

// Context implements [faults.Effects].
func (p *point) Context() context.Context { return p.ctx }

// Respond implements [faults.Effects].
func (p *point) Respond(f faults.Fault) {
	switch {
	case p.Watch == 0:
		p.answer = &faults.Fault{Code: f.Code, Reason: f.Reason, Message: f.Message, RetryAfter: f.RetryAfter, Reset: f.Reset}
	case f.Reset:
		p.end = faults.ResetWatch
	case f.Code == http.StatusGone:
		p.end = faults.ExpireWatch
	default:
		p.end = faults.CloseWatch
	}
}

// Hold implements [faults.Effects].
func (p *point) Hold() (release func()) {
	if p.hold == nil {
		return func() {}
	}
	return p.hold()
}

// Note implements [faults.Effects].
func (p *point) Note(text string) { p.note(text) }

// identify sets the fields of the object.
func (p *point) identify(o codec.Identity) {
	if o.Name != "" {
		p.Name = o.Name
	}
	if o.Namespace != "" {
		p.Namespace = o.Namespace
	}
	p.UID, p.ResourceVersion = o.UID, o.ResourceVersion
}

// maxNamedBody is the longest body of a create request whose name a Point has.
const maxNamedBody = 3 << 20

// identifyBody sets the name to that in the body of a create request, if the URL has
// none. It puts the body back.
func (p *point) identifyBody() {
	r := p.Request
	if p.Verb != "create" || p.Name != "" || r.Body == nil {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxNamedBody))
	var failed io.Reader = r.Body
	if err != nil {
		failed = errorReader{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), failed), r.Body}
	if format, err := (codec.Offer{CBOR: true}).Body(r.Header.Get("Content-Type")); err == nil {
		p.Name = format.Identify(body).Name
	}
}

// An errorReader fails with err.
type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// newPoint returns the point of a request.
func (r *Rule) newPoint(q *Request, at faults.Moment, n int) *point {
	p := &point{route: q.Route}
	p.Point = faults.Point{
		Effects: p, At: at, N: n, Verb: q.Verb, Namespace: q.Namespace, Name: q.Name, Path: q.Path,
		UserAgent: q.HTTP.UserAgent(), Request: q.HTTP,
	}
	if q.IsResource {
		p.Resource = q.Resource
		if q.Group != "" {
			p.Resource += "." + q.Group
		}
		if q.Subresource != "" {
			p.Resource += "/" + q.Subresource
		}
	}
	p.note = func(text string) { r.report(Hit{Route: q.Route, UserAgent: p.UserAgent, Note: text}) }
	return p
}

// errRemoved is the cause of a Point's context after its fault was removed.
var errRemoved = errors.New("the fault is removed")

// do calls Do of the rule, and then does its Actions, for a point of a request or watch with ctx, and returns how it
// responds, nil if it does not.
func (r *Rule) do(ctx context.Context, p *point) *faults.Fault {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()
	p.ctx = ctx
	if onDo := r.set.options.OnDo; onDo != nil && p.Verb == "watch" {
		defer onDo(p.Request)()
	}
	if r.fault.Do != nil {
		r.fault.Do(&p.Point)
	}
	p.hold = nil
	r.act(ctx, p)
	if p.answer == nil {
		return nil
	}
	r.report(Hit{Fault: *p.answer, Route: p.route, UserAgent: p.UserAgent})
	return p.answer
}

// A visit is a request that faults have hit, while it is served.
type visit struct {
	agent  string
	cancel context.CancelCauseFunc
}

// errDisconnected is the cause of a request's context after Disconnect.
var errDisconnected = errors.New("a fault disconnected the client")

// enter adds a request. Its context ends with errDisconnected when Disconnect is called
// for its client.
func (s *Set) enter(r *Request) (q *Request, leave func()) {
	ctx, cancel := context.WithCancelCause(r.HTTP.Context())
	v := &visit{r.HTTP.UserAgent(), cancel}
	s.mu.Lock()
	s.visits[v] = struct{}{}
	s.mu.Unlock()
	return &Request{r.HTTP.WithContext(ctx), r.Route}, func() {
		s.mu.Lock()
		delete(s.visits, v)
		s.mu.Unlock()
		cancel(nil)
	}
}

// Disconnect breaks the connections of the clients whose user agent matches a pattern:
// those of their open watches, and those of their requests that faults delay or on which
// Do waits. Other requests in flight are answered. Later requests are served. It returns
// the number of connections.
func (s *Set) Disconnect(userAgent string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for v := range s.visits {
		if glob.Match(userAgent, v.agent) {
			v.cancel(errDisconnected)
			n++
		}
	}
	for _, st := range s.streamsLocked() {
		if glob.Match(userAgent, st.request.HTTP.UserAgent()) && st.disconnect() {
			n++
		}
	}
	return n
}
