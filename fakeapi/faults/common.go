package faults

import (
	"net/http"
	"time"
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

// Partition separates the clients whose User-Agent header matches a pattern from the
// server until the faults are removed: their requests fail with a broken connection, and
// nothing reaches their open watches.
func Partition(userAgent string) []Fault {
	return []Fault{
		{UserAgent: userAgent, Reset: true},
		{UserAgent: userAgent, Watch: PauseWatch},
	}
}

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
