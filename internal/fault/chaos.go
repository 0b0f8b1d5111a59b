package fault

import "time"

const (
	reads  = "get,list"
	writes = "create,update,patch,delete,deletecollection"
)

// Chaos is a bit of everything that goes wrong between a client and a busy
// cluster, for every resource: often enough that a client meets all of it within
// some hundred requests, and seldom enough that one that tries again gets on.
func Chaos(seed uint64) []Fault {
	faults := []Fault{
		{ID: "chaos-latency", Delay: 20 * time.Millisecond, Probability: 0.1},
		{ID: "chaos-stall", Delay: 2 * time.Second, Probability: 0.01},
		{ID: "chaos-throttled", Code: 429, RetryAfter: time.Second, Probability: 0.02},
		{ID: "chaos-etcd-timeout", Code: 500, Probability: 0.02},
		{ID: "chaos-unavailable", Code: 503, RetryAfter: time.Second, Probability: 0.01},
		{ID: "chaos-reset", Reset: true, Probability: 0.02},
		{ID: "chaos-cut", Verb: reads, CutAfter: 200, Probability: 0.02},
		{ID: "chaos-conflict", Verb: "update,patch", Code: 409, Probability: 0.05},
		{ID: "chaos-late-timeout", Verb: writes, Code: 504, After: true, Probability: 0.02},
		{ID: "chaos-late-reset", Verb: writes, Reset: true, After: true, Probability: 0.02},
		{ID: "chaos-continue-expired", ExpireContinue: true, Probability: 0.1},
		{ID: "chaos-watch-closed", Watch: Close, Events: 20, Probability: 0.3},
		{ID: "chaos-watch-reset", Watch: Reset, Events: 10, Probability: 0.2},
		{ID: "chaos-watch-expired", Watch: Expire, Events: 5, Probability: 0.1},
		{ID: "chaos-watch-refused", Watch: Expire, Probability: 0.05},
		{ID: "chaos-watch-slow", EventDelay: 200 * time.Millisecond, Probability: 0.3},
		{ID: "chaos-bookmarks", WithholdBookmarks: true, Probability: 0.3},
	}
	for i := range faults {
		faults[i].Seed = seed
		faults[i].Resource = "*"
	}
	return faults
}
