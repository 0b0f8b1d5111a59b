package activity_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/activity"
)

func get(path string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("User-Agent", "test")
	return r
}

func TestCalls(t *testing.T) {
	var tracker activity.Tracker
	assert.Zero(t, tracker.State())
	var a, b, c activity.Call
	tracker.Begin(&a, get("/a"), time.Now())
	tracker.Begin(&b, get("/b"), time.Now())
	tracker.Begin(&c, get("/c"), time.Now())
	first := tracker.State()
	assert.Equal(t, []string{"GET /a of test has no answer yet", "GET /b of test has no answer yet", "GET /c of test has no answer yet"}, first.Busy)
	tracker.End(&b, time.Now(), activity.Answer{})
	assert.Len(t, tracker.State().Busy, 2)
	tracker.End(&b, time.Now(), activity.Answer{})
	tracker.End(&a, time.Now(), activity.Answer{})
	tracker.End(&c, time.Now(), activity.Answer{})
	last := tracker.State()
	assert.Empty(t, last.Busy)
	assert.False(t, last.Last.Before(first.Last))
}

func TestWatches(t *testing.T) {
	var tracker activity.Tracker
	idle := false
	w := tracker.Open(get("/w"), func() bool { return idle })
	assert.Equal(t, []string{"GET /w of test has not sent all of its events"}, tracker.State().Busy, "it works")
	w.Wait(false)
	assert.Len(t, tracker.State().Busy, 1, "it waits, but has events")
	assert.Zero(t, tracker.State().Last, "it has sent nothing")
	idle = true
	assert.Empty(t, tracker.State().Busy)
	w.Work()
	assert.Len(t, tracker.State().Busy, 1)
	w.Wait(true)
	assert.NotZero(t, tracker.State().Last)
	assert.Equal(t, 1, tracker.State().Watches)
	w.Close()
	assert.Zero(t, tracker.State().Watches)
}

// A server expects the requests of clients that fail, as they make them again.
func TestExpectations(t *testing.T) {
	start := time.Now().Add(time.Hour)
	put := activity.Request{Agent: "manager", Verb: "update", Path: "/a"}
	list := activity.Request{Agent: "manager", Verb: "list", Path: "/a"}
	elects := activity.Request{Agent: "manager/leader-election", Verb: "get", Path: "/lease"}
	renews := activity.Request{Agent: "other", Verb: "update", Path: "/lease"}
	type step struct {
		after  time.Duration
		answer activity.Answer
	}
	const ms = time.Millisecond
	for _, row := range []struct {
		name  string
		steps []step
		want  time.Duration // after the last step; 0 if nothing is expected
	}{
		{"success", []step{{0, activity.Answer{Request: put}}}, 0},
		{"failure", []step{{0, activity.Answer{Request: put, Failed: true}}}, 10 * ms},
		{"more failures", []step{
			{0, activity.Answer{Request: put, Failed: true}},
			{5 * ms, activity.Answer{Request: put, Failed: true}},
			{10 * ms, activity.Answer{Request: put, Failed: true}},
		}, 40 * ms},
		{"success after a failure", []step{
			{0, activity.Answer{Request: put, Failed: true}},
			{5 * ms, activity.Answer{Request: put}},
		}, 0},
		{"success of one of several writers", []step{
			{0, activity.Answer{Request: put, Failed: true}},
			{0, activity.Answer{Request: put, Failed: true}},
			{5 * ms, activity.Answer{Request: put}},
		}, 20 * ms},
		{"failure for ever", []step{
			{0, activity.Answer{Request: put, Failed: true}},
			{5 * ms, activity.Answer{Request: put, Failed: true}},
			{10 * ms, activity.Answer{Request: put, Failed: true, RetryAfter: time.Second}},
			{time.Second, activity.Answer{Request: put, Failed: true}},
		}, 0},
		{"told to come back", []step{{0, activity.Answer{Request: put, Failed: true, RetryAfter: 2 * time.Second}}}, 2 * time.Second},
		{"informer", []step{{0, activity.Answer{Request: list, Failed: true, Informer: true}}}, 1600 * ms},
		{"informer that is back", []step{
			{0, activity.Answer{Request: list, Failed: true, Informer: true}},
			{900 * ms, activity.Answer{Request: list, Informer: true}},
		}, 0},
		{"candidate", []step{{0, activity.Answer{Request: elects, Election: true}}}, 5 * time.Second},
		{"candidate of a Lease that is renewed", []step{
			{0, activity.Answer{Request: elects, Election: true}},
			{time.Second, activity.Answer{Request: renews, Election: true}},
			{time.Second, activity.Answer{Request: elects, Election: true}},
		}, 0},
		{"start", []step{{0, activity.Answer{Starting: "manager"}}}, 400 * ms},
		{"longer start", []step{{0, activity.Answer{Starting: "manager"}}, {300 * ms, activity.Answer{Starting: "manager"}}}, 400 * ms},
		{"end of a start", []step{{0, activity.Answer{Starting: "manager"}}, {300 * ms, activity.Answer{Request: list, Started: "manager"}}}, 0},
		{"start of another client", []step{{0, activity.Answer{Starting: "manager"}}, {300 * ms, activity.Answer{Started: "other"}}}, 100 * ms},
		{"holder", []step{{0, activity.Answer{Request: renews, Election: true}}}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			var tracker activity.Tracker
			now := start
			for _, s := range row.steps {
				now = now.Add(s.after)
				tracker.End(&activity.Call{}, now, s.answer)
			}
			state := tracker.State()
			if row.want == 0 {
				assert.False(t, state.Expected.After(now), "%v", state.Expected.Sub(now))
				return
			}
			assert.Equal(t, row.want, state.Expected.Sub(now))
			assert.Len(t, state.Awaited, 1)
		})
	}
}
