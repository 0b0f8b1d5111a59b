package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"
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
	Effects

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
}

// Effects is what Do can do to the request or the watch of a [Point]. The server implements
// it; the test of a Do may implement it too.
type Effects interface {
	// Context ends when the client is gone or disconnected, when the fault is removed, and
	// when the server closes.
	Context() context.Context

	// Respond responds as a fault with Code, Reason, Message, RetryAfter or Reset does. It
	// ignores the other fields. The response to a watch has begun: with Reset its connection
	// breaks, and with Code 410 it expires; other codes close it.
	Respond(f Fault)

	// Hold withholds the event, at AfterDelivery the next one, and everything that follows
	// it on this watch, until release is called, the fault is removed, or its Lifetime ends.
	// Do returns meanwhile. The client does not see these events, so Settle does not wait
	// for them. Hold does nothing for a request: a Do that waits holds it.
	Hold() (release func())

	// Note adds a line to the story of the server.
	Note(text string)
}

// Fail responds to the request with the error that Fault.Code describes. At
// AfterCommit the request has been served nevertheless.
func (p *Point) Fail(code int) { p.Respond(Fault{Code: code}) }

// Reset breaks the connection of the client: instead of serving the request at
// BeforeRequest, instead of the response at AfterCommit, and of the watch otherwise.
func (p *Point) Reset() { p.Respond(Fault{Reset: true}) }

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
