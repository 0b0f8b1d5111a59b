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
	tracker.End(&b, time.Now())
	assert.Len(t, tracker.State().Busy, 2)
	tracker.End(&b, time.Now())
	tracker.End(&a, time.Now())
	tracker.End(&c, time.Now())
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
