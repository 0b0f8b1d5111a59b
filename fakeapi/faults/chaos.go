package faults

import "time"

const (
	reads  = "get,list"
	writes = "create,update,patch,delete,deletecollection"
)

// Chaos returns faults of every sort for every resource: delays, 409, 429, 500, 503
// and 504, cut, lost and late responses, and watches that end, expire and stall. A
// client meets each of them within a few hundred requests, and a client that retries
// makes progress. The same seed gives the same faults in every run.
func Chaos(seed uint64) []Fault {
	faults := []Fault{
		{ID: "chaos-latency", Delay: 20 * time.Millisecond, Probability: 0.1},
		{ID: "chaos-stall", Delay: 2 * time.Second, Probability: 0.01},
		{ID: "chaos-throttled", Code: 429, RetryAfter: time.Second, Probability: 0.02},
		{ID: "chaos-etcd-timeout", Code: 500, Probability: 0.02},
		{ID: "chaos-unavailable", Code: 503, RetryAfter: time.Second, Probability: 0.01},
		{ID: "chaos-reset", Reset: true, Probability: 0.02},
		{ID: "chaos-cut", Verb: reads, CutAfterBytes: 200, Probability: 0.02},
		{ID: "chaos-conflict", Verb: "update,patch", Code: 409, Probability: 0.05},
		{ID: "chaos-late-timeout", Verb: writes, Code: 504, ServeFirst: true, Probability: 0.02},
		{ID: "chaos-late-reset", Verb: writes, Reset: true, ServeFirst: true, Probability: 0.02},
		{ID: "chaos-continue-expired", ExpireContinue: true, Probability: 0.1},
		{ID: "chaos-watch-closed", Watch: CloseWatch, AfterEvents: 20, Probability: 0.3},
		{ID: "chaos-watch-reset", Watch: ResetWatch, AfterEvents: 10, Probability: 0.2},
		{ID: "chaos-watch-expired", Watch: ExpireWatch, AfterEvents: 5, Probability: 0.1},
		{ID: "chaos-watch-refused", Watch: ExpireWatch, Probability: 0.05},
		{ID: "chaos-watch-slow", EventDelay: 200 * time.Millisecond, Probability: 0.3},
		{ID: "chaos-bookmarks", WithholdBookmarks: true, Probability: 0.3},
	}
	for i := range faults {
		faults[i].Seed = seed
		faults[i].Resource = "*"
	}
	return faults
}
