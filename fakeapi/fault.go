package fakeapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/internal/fault"
)

// A Fault is something that goes wrong on purpose: it hits the requests that its
// matcher matches, as often as its trigger says, with its effect.
//
//	fakeapi.Fault{Verb: "update", Resource: "deployments.apps", Times: 2, Code: 409}
//
// Faults of answers (Delay, Code, Reset, CutAfter, ExpireContinue) hit requests
// when they come. Faults of watches (Watch, EventDelay, EventRate,
// WithholdBookmarks) hit watches while they are open, those that are open already
// too. One Fault is of one sort; a request that several match is hit by all of
// them, in the order of their injection, up to the first that answers it.
//
// In YAML and JSON the fields have the names below with a small first letter, and
// durations are text: "1.5s".
type Fault struct {
	// ID names the fault in lists and logs. Faults that were given none have a
	// number.
	ID string

	// The matcher. A field that is "" matches everything. In Verb, Resource,
	// Namespace and Name several patterns are separated by commas; in all of them
	// a * stands for any characters.
	//
	// Verb is that of the request: get, list, watch, create, update, patch, delete
	// or deletecollection.
	Verb string
	// Resource is written as in the rules of a Role: "pods", "pods/status" for the
	// subresource, "pods/*" for every subresource; "*" is every resource and
	// subresource. With a dot it names the group too: "deployments.apps".
	Resource string
	// Namespace and Name are those of the URL: the request that creates an object
	// has no name.
	Namespace string
	Name      string
	// UserAgent begins with the name of the client's program in most cases:
	// "kubectl/*".
	UserAgent string
	// Path is that of the URL: "/apis*" is discovery too.
	Path string
	// Matches is asked last, if the rest matches; nil accepts all. It must not
	// read the body.
	Matches func(*http.Request) bool
	// Webhook matches calls of webhooks by the server instead of requests of
	// clients, by their URL without its query: "*" is all of them,
	// "https://admit.shop.svc*" those of a service. What happens to answers
	// happens to theirs.
	Webhook string

	// The trigger. The zero value hits whatever matches.
	//
	// Skip is how many that match are let pass first, and Times how many are hit
	// then; 0 is no bound.
	Skip  int
	Times int
	// Probability is that of hitting one that matches, from 0 to 1; 0 is 1.
	Probability float64
	// Seed makes the draws of the Probability; 0 is the server's (WithSeed). The
	// nth time that a client asks for the same it meets the same fate, whatever
	// other clients and other faults do.
	Seed uint64
	// For ends the fault so long after its injection; 0 is never.
	For time.Duration
	// Watches bounds a fault of watches to OpenWatches or NewWatches; "" is both.
	Watches string

	// The effects on answers.
	//
	// Delay has the request wait. It ends early if the fault is removed.
	Delay time.Duration
	// Code answers a failure, from 400 to 599, worded as kube-apiserver words the
	// commonest one of the code: 409 is a conflict, 500 a timeout of etcd, 429 what
	// priority and fairness answers.
	Code int
	// Reason and Message replace those of the Code, and RetryAfter is the hint when
	// to try again, in whole seconds.
	Reason     string
	Message    string
	RetryAfter time.Duration
	// Reset breaks the connection without an answer.
	Reset bool
	// CutAfter breaks the connection after so many bytes of the body, at the latest
	// before the last one.
	CutAfter int
	// ExpireContinue answers a list that goes on from a continue token with 410
	// Expired and a token by which to go on inconsistently, as if history had been
	// compacted.
	ExpireContinue bool
	// After serves the request first, so that what it writes is written, and lets
	// its answer be lost or late. It does not hit watches.
	After bool

	// The effects on watches.
	//
	// Watch is CloseWatch, ResetWatch, ExpireWatch or PauseWatch.
	Watch string
	// Events is how many events, bookmarks aside, pass before Watch ends the watch.
	Events int
	// EventDelay has each event reach the client so long after it was sent, and
	// EventRate so many a second at most.
	EventDelay time.Duration
	EventRate  float64
	// WithholdBookmarks sends no bookmark but the one that ends the initial events.
	WithholdBookmarks bool
}

// What Fault.Watch does to a watch.
const (
	CloseWatch  = fault.Close  // the answer ends as if the time of the watch were up
	ResetWatch  = fault.Reset  // the connection breaks
	ExpireWatch = fault.Expire // an ERROR event ends it: 410 Expired
	PauseWatch  = fault.Pause  // nothing reaches the client until the fault is removed
)

// Which watches Fault.Watches is about.
const (
	OpenWatches = fault.Open // those that are open when the fault is injected
	NewWatches  = fault.New  // those that come later
)

// String tells the fault in a line: "update of deployments.apps: 409, 2 times".
func (f Fault) String() string { return fault.Fault(f).String() }

// ConflictOnce fails the next update or patch of a resource with 409 Conflict.
func ConflictOnce(resource string) Fault {
	return Fault{Verb: "update,patch", Resource: resource, Times: 1, Code: http.StatusConflict}
}

// TooManyRequests turns the next requests for a resource away with 429, as
// priority and fairness does, and asks to try again after some seconds.
func TooManyRequests(resource string, times int, retryAfter time.Duration) Fault {
	return Fault{Resource: resource, Times: times, Code: http.StatusTooManyRequests, RetryAfter: retryAfter}
}

// LoseAnswer does the next request of a verb for a resource, and resets the
// connection instead of answering: the client cannot know that it was done.
func LoseAnswer(verb, resource string) Fault {
	return Fault{Verb: verb, Resource: resource, Times: 1, Reset: true, After: true}
}

// Outage resets the connections of watches that are open, and of every request
// for some time.
func Outage(d time.Duration) []Fault {
	return []Fault{
		{Reset: true, For: d},
		{Watch: ResetWatch, Watches: OpenWatches},
	}
}

// DropWatches resets the watches of a resource that are open now.
func DropWatches(resource string) Fault {
	return Fault{Resource: resource, Watch: ResetWatch, Watches: OpenWatches}
}

// ExpireNextWatch answers the next watch of a resource with 410 Expired.
func ExpireNextWatch(resource string) Fault {
	return Fault{Resource: resource, Times: 1, Watch: ExpireWatch, Watches: NewWatches}
}

// ExpireOpenWatches ends the watches of a resource that are open now with 410
// Expired.
func ExpireOpenWatches(resource string) Fault {
	return Fault{Resource: resource, Watch: ExpireWatch, Watches: OpenWatches}
}

// ExpireContinue answers the next list of a resource that goes on from a continue
// token with 410 Expired.
func ExpireContinue(resource string) Fault {
	return Fault{Resource: resource, Times: 1, ExpireContinue: true}
}

// SlowWatches has the events of a resource reach clients late.
func SlowWatches(resource string, delay time.Duration) Fault {
	return Fault{Resource: resource, EventDelay: delay}
}

// PauseWatches has no event of a resource reach clients until the fault is
// removed.
func PauseWatches(resource string) Fault {
	return Fault{Resource: resource, Watch: PauseWatch}
}

// SlowWebhook has calls of webhooks, by their URL, wait.
func SlowWebhook(url string, delay time.Duration) Fault {
	return Fault{Webhook: url, Delay: delay}
}

// FailWebhook has the next call of a webhook, by its URL, fail for want of a
// connection.
func FailWebhook(url string) Fault {
	return Fault{Webhook: url, Times: 1, Reset: true}
}

// Chaos is a bit of everything that goes wrong between clients and a busy cluster,
// for every resource, and the same in every run: delays, 409, 429, 500, 503 and
// 504, answers that are cut, lost and late, watches that end, expire and lag. A
// client that tries again gets on under it.
func Chaos(seed uint64) []Fault {
	return faultsOf(fault.Chaos(seed))
}

// ParseFaults reads faults from YAML or JSON, one or a list of them.
func ParseFaults(text []byte) ([]Fault, error) {
	faults, err := fault.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return faultsOf(faults), nil
}

func faultsOf(faults []fault.Fault) []Fault {
	out := make([]Fault, len(faults))
	for i, f := range faults {
		out[i] = Fault(f)
	}
	return out
}

// readFaults reads the files that the options name.
func (c *config) readFaults() error {
	for _, f := range c.faults {
		err := f.each(func(_ string, text []byte) error {
			faults, err := fault.Parse(text)
			c.server.Faults = append(c.server.Faults, faults...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Injected is a handle on faults that were injected together.
type Injected struct{ rules []*fault.Rule }

// Inject makes faults happen from now on. It panics if there is something wrong
// with one of them, such as a verb that does not exist, or an ID that another
// fault has.
//
// With nothing injected a request costs what it does without faults.
func (s *Server) Inject(faults ...Fault) *Injected {
	in := make([]fault.Fault, len(faults))
	for i, f := range faults {
		in[i] = fault.Fault(f)
	}
	rules, err := s.api.Faults().Inject(in...)
	if err != nil {
		panic("fakeapi: Inject: " + err.Error())
	}
	return &Injected{rules}
}

// Count is how many requests, watches and calls of webhooks the faults have hit.
func (i *Injected) Count() int {
	n := 0
	for _, r := range i.rules {
		n += r.Fired()
	}
	return n
}

// Remove ends the faults, and what they are doing: requests that are delayed and
// watches that are paused go on. Their Count stays.
func (i *Injected) Remove() {
	for _, r := range i.rules {
		r.Remove()
	}
}

// Faults are handles on the faults that were injected and not removed, one each,
// in the order of their injection.
func (s *Server) Faults() []*Injected {
	rules := s.api.Faults().Rules()
	out := make([]*Injected, len(rules))
	for i := range rules {
		out[i] = &Injected{rules[i : i+1]}
	}
	return out
}

// Faults are what was injected, with the IDs and seeds that were given.
func (i *Injected) Faults() []Fault {
	out := make([]Fault, len(i.rules))
	for n, r := range i.rules {
		out[n] = Fault(r.Fault())
	}
	return out
}

// String tells of each fault in a line what it does and how often it did.
func (i *Injected) String() string {
	var text string
	for _, r := range i.rules {
		text += fmt.Sprintf("%s: hit %d of %d\n", r.Fault(), r.Fired(), r.Matched())
	}
	return text
}
