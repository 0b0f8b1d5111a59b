package fakeapi

import (
	"github.com/kubefake/kubefake/internal/fault"
)

// A Moment is a point in the life of a request or of an event of a watch, for Fault.At.
type Moment = fault.Moment

const (
	// BeforeRequest is before a request is served. It has changed nothing.
	BeforeRequest = fault.BeforeRequest
	// AfterCommit is after a request is served and what it writes is committed, and
	// before its response is sent.
	AfterCommit = fault.AfterCommit
	// BeforeDelivery is before an event is sent to a watch.
	BeforeDelivery = fault.BeforeDelivery
	// AfterDelivery is after an event is sent to a watch, and before the next one.
	AfterDelivery = fault.AfterDelivery
)

// A Point is a request, or an event of a watch, that has reached the moment of a Fault
// with Do:
//
//	At                        Moment
//	N                         int     how many the fault has matched so far, from 1
//	Verb, Resource, Path      string  those of the request; Resource as in Fault
//	Namespace, Name           string  those of the request, or of the object of the event
//	UserAgent                 string
//	Request                   *http.Request
//	Code                      int     status code of the response, at AfterCommit
//	Event                     string  type of the event: ADDED, MODIFIED, DELETED, BOOKMARK
//	Watch                     int     number of the watch, from 1; 0 for a request
//	UID, ResourceVersion      string  those of the object in the event or the response
//
// Its methods change what happens to the request or the watch; without one it goes on:
//
//	Fail(code int)            responds with an error; at AfterCommit in place of the response
//	Respond(Fault)            the same with the other response fields of a Fault
//	Reset()                   breaks the connection
//	Hold() (release func())   withholds the event and those after it until release
//	Note(text string)         adds a line to the story
//	Context() context.Context ends when the client is gone, with the fault, and with the server
//	String() string           describes the point by what is the same in every run
//
// Do is called in the goroutine that serves the request or the watch, without locks.
// That request or watch waits until Do returns, and others are served meanwhile. Do may
// use the server: write and read objects, change lags and faults, advance the clock,
// compact, and disconnect clients, including the one that waits. What controllers of the
// server have to do after Advance, they do at the latest after Do. A Do that waits for
// something else must also wait for Context. It must not call Settle and Close, which
// wait for Do: a request or event on which Do waits keeps the server from settling. One
// that Hold withholds does not, because no client can see it.
type Point = fault.Point

// EveryPoint returns faults that call do for each request of each client, when it arrives
// and after it is committed, and for each ADDED, MODIFIED and DELETED event of each
// watch, before and after it is sent. Requests include those of the controllers of the
// server, and discovery. do is called by several goroutines at a time.
func EveryPoint(do func(*Point)) []Fault {
	return []Fault{
		{At: BeforeRequest, Do: do},
		{At: AfterCommit, Do: do},
		{At: BeforeDelivery, Do: do},
		{At: AfterDelivery, Do: do},
	}
}

// Disconnect breaks the connections of the clients whose User-Agent header matches a
// pattern, such as "manager/*": those of their open watches, and those of their requests
// that wait in a Fault. Other requests in flight are answered, and later ones are
// served. It returns the number of connections.
//
// It does to a client in this process what the end of a process does: cancel the
// client's context first.
func (s *Server) Disconnect(userAgent string) int { return s.api.Control().Disconnect(userAgent) }

// Partition separates the clients whose User-Agent header matches a pattern from the
// server until the faults are removed: their requests fail with a broken connection, and
// nothing reaches their open watches.
func Partition(userAgent string) []Fault {
	return []Fault{
		{UserAgent: userAgent, Reset: true},
		{UserAgent: userAgent, Watch: PauseWatch},
	}
}

// An Action is a request to the control endpoint, made by a Fault. It has the fields
// Operation, the name of the operation in the OpenAPI document of the endpoint, and Body,
// its body in JSON. In YAML and JSON it is an object with one field:
//
//	do: [{lag: {resource: pods, frozen: true}}]
type Action = fault.Action
