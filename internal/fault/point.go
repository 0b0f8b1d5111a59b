package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
)

// A Moment is a point in the life of a request or of an event of a watch.
type Moment string

const (
	// BeforeRequest is before a request is served. It has changed nothing.
	BeforeRequest Moment = "beforeRequest"
	// AfterCommit is after a request is served and what it writes is committed, and
	// before its response is sent. Watches and connections do not have it.
	AfterCommit Moment = "afterCommit"
	// BeforeDelivery is before an event is sent to a watch. All earlier events are
	// sent.
	BeforeDelivery Moment = "beforeDelivery"
	// AfterDelivery is after an event is sent to a watch, and before the next one.
	AfterDelivery Moment = "afterDelivery"
)

// A Point is a request, or an event of a watch, that has reached the moment of a fault
// with Do. Fields that do not apply are empty.
//
// Do is called in the goroutine that serves the request or the watch, without locks.
// That request or watch waits until Do returns; others are served meanwhile. Do may use
// the server: write and read objects, change lags and faults, advance the clock,
// compact, and disconnect clients, including the one whose request waits. It must not
// wait for the server to settle or to close, because both wait for Do. A Do that waits
// for something else must also wait for Context.
//
// The methods are for Do only and do not work after it has returned, apart from the
// function that Hold returns.
type Point struct {
	At Moment
	// N is how many requests or events the fault has matched so far, from 1.
	N int

	// Verb, Resource, Namespace, Name and Path are those of the request. Resource has
	// the form of Fault.Resource: "pods", "deployments.apps", "pods/status"; it is ""
	// for a request without a resource. For an event, Namespace and Name are those of
	// the object. For a create request the name is that in the body, and after
	// the commit that of the object.
	Verb, Resource, Namespace, Name, Path string
	UserAgent                             string
	// Request is the request. Its body must not be read.
	Request *http.Request

	// Code is the status code of the response, at AfterCommit.
	Code int
	// Event is the type of the event.
	Event string
	// Watch is the number of the watch in the order in which the server has begun to
	// answer watches, from 1. It is 0 for a request.
	Watch int
	// UID and ResourceVersion are those of the object of the event, or of the object in
	// the response at AfterCommit.
	UID, ResourceVersion string

	route  route.Route
	ctx    context.Context
	answer *Fault      // responds in place of the server; nil for none
	end    WatchEffect // ends the watch; "" for none
	hold   func() (release func())
	note   func(text string)
}

// Context ends when the client is gone or disconnected, when the fault is removed, and
// when the server closes.
func (p *Point) Context() context.Context { return p.ctx }

// Fail responds to the request with the error that Fault.Code describes. At
// AfterCommit the request has been served nevertheless.
func (p *Point) Fail(code int) { p.Respond(Fault{Code: code}) }

// Reset breaks the connection of the client: instead of serving the request at
// BeforeRequest, instead of the response at AfterCommit, and of the watch otherwise.
func (p *Point) Reset() { p.Respond(Fault{Reset: true}) }

// Respond responds as a fault with Code, Reason, Message, RetryAfter or Reset does. It
// ignores the other fields. The response to a watch has begun: with Reset its connection
// breaks, and with Code 410 it expires; other codes close it.
func (p *Point) Respond(f Fault) {
	switch {
	case p.Watch == 0:
		p.answer = &Fault{Code: f.Code, Reason: f.Reason, Message: f.Message, RetryAfter: f.RetryAfter, Reset: f.Reset}
	case f.Reset:
		p.end = ResetWatch
	case f.Code == http.StatusGone:
		p.end = ExpireWatch
	default:
		p.end = CloseWatch
	}
}

// Hold withholds the event, at AfterDelivery the next one, and everything that follows
// it on this watch, until release is called, the fault is removed, or its Lifetime ends.
// Do returns meanwhile. The client does not see these events, so Settle does not wait
// for them. Hold does nothing for a request: a Do that waits holds it.
func (p *Point) Hold() (release func()) {
	if p.hold == nil {
		return func() {}
	}
	return p.hold()
}

// Note adds a line to the story of the server.
func (p *Point) Note(text string) { p.note(text) }

// String describes the point by what is the same in every run: "afterCommit: create of
// pods shop/web by kubectl/v1.36".
func (p *Point) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", p.At)
	what := p.Verb
	if p.Event != "" {
		what = p.Event
	}
	if p.Resource == "" {
		fmt.Fprintf(&b, "%s of %s", what, p.Path)
	} else {
		fmt.Fprintf(&b, "%s of %s", what, p.Resource)
		if name := strings.Trim(p.Namespace+"/"+p.Name, "/"); name != "" {
			b.WriteString(" " + name)
		}
	}
	preposition := "by"
	if p.Event != "" {
		preposition = "to"
	}
	fmt.Fprintf(&b, " %s %s", preposition, p.UserAgent)
	return b.String()
}

// identify sets the fields of the object.
func (p *Point) identify(o codec.Identity) {
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
func (p *Point) identifyBody() {
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
func (r *Rule) newPoint(q *Request, at Moment, n int) *Point {
	p := &Point{
		At: at, N: n, Verb: q.Verb, Namespace: q.Namespace, Name: q.Name, Path: q.Path,
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
	p.route, p.note = q.Route, func(text string) { r.report(Hit{Route: q.Route, UserAgent: p.UserAgent, Note: text}) }
	return p
}

// errRemoved is the cause of a Point's context after its fault was removed.
var errRemoved = errors.New("the fault is removed")

// do calls Do of the rule, and then does its Actions, for a point of a request or watch with ctx, and returns how it
// responds, nil if it does not.
func (r *Rule) do(ctx context.Context, p *Point) *Fault {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()
	p.ctx = ctx
	if onDo := r.set.options.OnDo; onDo != nil && p.Verb == "watch" {
		defer onDo(p.Request)()
	}
	if r.fault.Do != nil {
		r.fault.Do(p)
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
		if Glob(userAgent, v.agent) {
			v.cancel(errDisconnected)
			n++
		}
	}
	for _, st := range s.streamsLocked() {
		if Glob(userAgent, st.request.HTTP.UserAgent()) && st.disconnect() {
			n++
		}
	}
	return n
}
