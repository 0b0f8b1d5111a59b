package fakeapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/internal/fault"
)

// A Fault makes requests fail, wait or break, on purpose.
//
//	fakeapi.Fault{Verb: "update", Resource: "deployments.apps", Times: 2, Code: 409}
//
// It is a struct. Its matcher fields say what it can hit; an empty one matches
// everything, and * in a pattern matches any characters:
//
//	Verb      string  get, list, watch, create, update, patch, delete, deletecollection
//	Resource  string  "pods", "deployments.apps", "pods/status", "*": see Resource names
//	Namespace string  namespace in the URL
//	Name      string  object name in the URL; a create request has none
//	UserAgent string  "kubectl/*"
//	Path      string  path of the URL; "/apis*" includes discovery
//	Webhook   string  calls to webhooks instead of client requests, by URL
//	Matches   func(*http.Request) bool  called last; must not read the body
//
// Verb, Resource, Namespace and Name take several patterns, separated by commas.
// The trigger fields bound when and how often it hits:
//
//	Skip        int             matching requests that pass before the first hit
//	Times       int             maximum number of hits; 0 is no limit
//	Probability float64         chance of a hit, from 0 to 1; 0 means 1
//	Seed        uint64          of the random draws; 0 takes the server's (WithSeed)
//	Lifetime    time.Duration   time after the injection until it ends; 0 is no limit
//	Watches     WatchSelection  OpenWatches or NewWatches only
//	At          Moment          BeforeRequest (the default), AfterCommit, BeforeDelivery or AfterDelivery
//	Event       string          types of events at a delivery: "DELETED"; "" is ADDED,MODIFIED,DELETED
//
// At BeforeDelivery and AfterDelivery a Fault hits single events of watches: Namespace
// and Name match the object of the event, Verb, Resource, UserAgent and Path the request
// of the watch. Skip, Times and Probability count events.
//
// A function can act on the server when a Fault hits, and decide what happens:
//
//	Do       func(*Point)  called after Delay, before the other effects
//	Actions  []Action      requests to the control endpoint, made after Do; in YAML and JSON: do
//
// Response effects hit a request when it arrives:
//
//	Delay           time.Duration  waits
//	Code            int            responds with this error status, 400 to 599
//	Reason, Message string         replace those that belong to Code
//	RetryAfter      time.Duration  Retry-After header, with Code
//	Reset           bool           breaks the connection without a response
//	CutAfterBytes   int            breaks the connection within the response body
//	ExpireContinue  bool           410 Expired for a list with a continue token
//	ServeFirst      bool           short for At: AfterCommit
//
// Watch effects hit watches while they are open, including those that were open
// before the injection:
//
//	Watch             WatchEffect    CloseWatch, ResetWatch, ExpireWatch or PauseWatch
//	AfterEvents       int            events to pass before Watch ends the watch
//	EventDelay        time.Duration  delivers each event late
//	EventRate         float64        maximum number of events per second
//	WithholdBookmarks bool           sends no bookmarks, except after initial events
//
// At a delivery, Watch is the only effect besides Do.
//
// ID names the fault in lists and logs; if it is empty, Inject assigns a number.
//
// One Fault has effects of one of the two sorts. Several faults can hit one
// request: in the order of their injection, up to the first that responds to it.
// In YAML and JSON the fields have these names with a small first letter, and
// durations are strings: "1.5s". String returns the fault on one line.
type Fault = fault.Fault

// A WatchEffect is what a Fault does to a watch.
type WatchEffect = fault.WatchEffect

const (
	// CloseWatch ends the response, as kube-apiserver does when a watch times out.
	CloseWatch = fault.CloseWatch
	// ResetWatch breaks the connection.
	ResetWatch = fault.ResetWatch
	// ExpireWatch sends an ERROR event with 410 Expired and ends the response.
	ExpireWatch = fault.ExpireWatch
	// PauseWatch delivers nothing to the client until the fault is removed.
	PauseWatch = fault.PauseWatch
)

// A WatchSelection limits a Fault to some watches.
type WatchSelection = fault.WatchSelection

const (
	// OpenWatches are the watches that are open when the fault is injected.
	OpenWatches = fault.OpenWatches
	// NewWatches are the watches that begin after the injection.
	NewWatches = fault.NewWatches
)

// ConflictOnce makes the next update or patch of a resource fail with 409
// Conflict.
func ConflictOnce(resource string) Fault {
	return Fault{Verb: "update,patch", Resource: resource, Times: 1, Code: http.StatusConflict}
}

// TooManyRequests makes the next requests for a resource fail with 429, as API
// priority and fairness does.
func TooManyRequests(resource string, times int, retryAfter time.Duration) Fault {
	return Fault{Resource: resource, Times: times, Code: http.StatusTooManyRequests, RetryAfter: retryAfter}
}

// LoseResponse serves the next request with this verb for a resource, and resets
// the connection instead of responding: the client cannot know whether the
// request was served.
func LoseResponse(verb, resource string) Fault {
	return Fault{Verb: verb, Resource: resource, Times: 1, Reset: true, ServeFirst: true}
}

// Outage resets the connections of all open watches, and of every request for d.
func Outage(d time.Duration) []Fault {
	return []Fault{
		{Reset: true, Lifetime: d},
		{Watch: ResetWatch, Watches: OpenWatches},
	}
}

// DropWatches resets the connections of the open watches of a resource.
func DropWatches(resource string) Fault {
	return Fault{Resource: resource, Watch: ResetWatch, Watches: OpenWatches}
}

// ExpireNextWatch makes the next watch of a resource fail with 410 Expired.
func ExpireNextWatch(resource string) Fault {
	return Fault{Resource: resource, Times: 1, Watch: ExpireWatch, Watches: NewWatches}
}

// ExpireOpenWatches ends the open watches of a resource with 410 Expired.
func ExpireOpenWatches(resource string) Fault {
	return Fault{Resource: resource, Watch: ExpireWatch, Watches: OpenWatches}
}

// ExpireContinue makes the next list of a resource that has a continue token fail
// with 410 Expired.
func ExpireContinue(resource string) Fault {
	return Fault{Resource: resource, Times: 1, ExpireContinue: true}
}

// SlowWatches delays the events of a resource.
func SlowWatches(resource string, delay time.Duration) Fault {
	return Fault{Resource: resource, EventDelay: delay}
}

// PauseWatches delivers no event of a resource until the fault is removed.
func PauseWatches(resource string) Fault {
	return Fault{Resource: resource, Watch: PauseWatch}
}

// SlowWebhook delays the calls to webhooks whose URL matches the pattern url.
func SlowWebhook(url string, delay time.Duration) Fault {
	return Fault{Webhook: url, Delay: delay}
}

// FailWebhook makes the next call to a webhook whose URL matches the pattern url
// fail with a connection reset.
func FailWebhook(url string) Fault {
	return Fault{Webhook: url, Times: 1, Reset: true}
}

// Chaos returns faults of every sort for every resource: delays, 409, 429, 500,
// 503 and 504, cut, lost and late responses, and watches that end, expire and
// stall. The same seed gives the same faults in every run. A client that retries
// makes progress.
func Chaos(seed uint64) []Fault { return fault.Chaos(seed) }

// ParseFaults reads one fault or a list of faults from YAML or JSON. The error is
// ErrInvalidFault.
func ParseFaults(text []byte) ([]Fault, error) {
	faults, err := fault.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return faults, nil
}
