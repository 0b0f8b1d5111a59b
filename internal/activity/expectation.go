package activity

import (
	"slices"
	"time"
)

// A Request names what a client asks for, again and again if it fails.
type Request struct{ Agent, Verb, Path string }

// An Answer is how the server has answered a request. The zero value is that of none.
type Answer struct {
	Request Request
	// Failed is set if the client has no result. A watch fails if the server ends it before
	// its time.
	Failed bool
	// RetryAfter is when the client is asked to make the request again; 0 for no time.
	RetryAfter time.Duration
	// Informer is set for a list or watch that fills the cache of a client.
	Informer bool
	// Election is set for a request for a Lease that elects a leader.
	Election bool
	// Starting names the client that makes a request as clients do which start: for what the
	// server serves, or for the Lease of an election that it is about to win. It asks for objects
	// next. Started names the client that does so.
	Starting, Started string
}

// A pattern is how a client makes a request again that has failed: after first, and then
// after twice the time of before, up to twice as much by chance. A client that has had no
// success for patience is one that fails for ever: nobody waits for it.
type pattern struct{ first, patience time.Duration }

var (
	// workqueue is the pattern of controllers, which put an object back into their queue.
	workqueue = pattern{5 * time.Millisecond, time.Second}
	// reflector is the pattern of informers.
	reflector = pattern{800 * time.Millisecond, 2 * time.Second}
)

// after returns how long the next attempt may take after a number of failures.
func (p pattern) after(failures int) time.Duration {
	return 2 * p.first << min(failures-1, 7)
}

const (
	// retrySlack is how much later than its pattern a request may come and still repeat
	// the one that has failed.
	retrySlack = 100 * time.Millisecond

	// renewal is the time within which the holder of a Lease renews it, and a candidate asks
	// for it again: twice the default of client-go, which adds up to 1.2 times as much.
	renewal = 5 * time.Second

	// startTime is the time within which a client that starts makes its next request.
	startTime = 400 * time.Millisecond

	// manyExpectations is the number of expectations above which those that are over are
	// removed.
	manyExpectations = 100
)

// An expectation is a request that a client is likely to make.
type expectation struct {
	failures int       // lately
	since    time.Time // of the first of them, or of the last success
	until    time.Time
	renewed  time.Time // of a Lease: when it was written the last time
}

type expectations map[Request]*expectation

// note learns from an answer, at a time of the wall clock, what a client is going to ask for.
func (e *expectations) note(a Answer, now time.Time) {
	if a.Started != "" {
		delete(*e, Request{Agent: a.Started, Verb: startVerb})
	}
	if a.Starting != "" {
		e.at(Request{Agent: a.Starting, Verb: startVerb}, now).until = now.Add(startTime)
	}
	switch {
	case a.Election:
		e.noteElection(a, now)
	case a.Failed:
		e.noteFailure(a, now)
	default:
		e.noteSuccess(a, now)
	}
}

// startVerb is the verb of the expectation that a client asks for objects.
const startVerb = "start"

// noteFailure expects the same request again.
func (e *expectations) noteFailure(a Answer, now time.Time) {
	x := e.at(a.Request, now)
	if now.After(x.until.Add(retrySlack)) {
		x.failures, x.since = 0, now
	}
	p := a.pattern()
	x.failures++
	x.until = now
	if now.Sub(x.since) < p.patience {
		x.until = now.Add(max(p.after(x.failures), a.RetryAfter))
	}
}

// noteSuccess ends the expectation of the request. But several controllers of a client may
// write the same object, as one of which succeeds at a time: after a row of failures another
// one may still wait.
func (e *expectations) noteSuccess(a Answer, now time.Time) {
	x := (*e)[a.Request]
	switch {
	case x == nil:
	case x.failures < 2 || a.Informer || now.After(x.until):
		delete(*e, a.Request)
	default:
		x.since, x.until = now, now.Add(a.pattern().after(x.failures))
	}
}

// pattern returns how the client makes the request again.
func (a Answer) pattern() pattern {
	if a.Informer {
		return reflector
	}
	return workqueue
}

// noteElection expects a Lease to be written for which a candidate asks: by its holder, or
// by the candidate when it is over. If the holder has renewed it lately, the candidate waits
// in vain.
func (e *expectations) noteElection(a Answer, now time.Time) {
	lease := Request{Verb: "renew", Path: a.Request.Path}
	switch {
	case a.Failed:
	case a.Request.Verb != "get":
		if x := (*e)[lease]; x != nil {
			x.until, x.renewed = now, now
		}
	default:
		if x := e.at(lease, now); now.Sub(x.renewed) > renewal {
			x.until = now.Add(renewal)
		}
	}
}

// at returns the expectation of a request, which is added if it is missing.
func (e *expectations) at(q Request, now time.Time) *expectation {
	if x := (*e)[q]; x != nil {
		return x
	}
	if *e == nil {
		*e = expectations{}
	}
	if len(*e) >= manyExpectations {
		for other, x := range *e {
			if now.After(x.until.Add(renewal)) {
				delete(*e, other)
			}
		}
	}
	x := &expectation{}
	(*e)[q] = x
	return x
}

// after returns the end of the last expectation, and the requests that are expected after a
// time.
func (e expectations) after(now time.Time) (end time.Time, requests []string) {
	for q, x := range e {
		if x.until.After(end) {
			end = x.until
		}
		if x.until.After(now) {
			requests = append(requests, q.describe())
		}
	}
	slices.Sort(requests)
	return end, requests
}

func (q Request) describe() string {
	switch {
	case q.Verb == startVerb:
		return q.Agent + " starts, and is likely to ask for objects"
	case q.Agent == "":
		return "the Lease " + q.Path + " has a candidate, and is not renewed"
	}
	return q.Agent + " is likely to try again: " + q.Verb + " " + q.Path
}
