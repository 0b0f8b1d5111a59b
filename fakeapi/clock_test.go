//go:build go1.25

package fakeapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestManualClock(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch))
	created := func(name string) any {
		o, err := srv.Store(apitest.ConfigMap(name, ""))
		require.NoError(t, err)
		return o["metadata"].(map[string]any)["creationTimestamp"]
	}
	assert.Equal(t, "2030-01-02T03:04:05Z", created("a"))
	srv.Clock().Advance(90 * time.Minute)
	assert.Equal(t, "2030-01-02T04:34:05Z", created("b"))
	assert.Equal(t, apitest.Epoch.Add(90*time.Minute), srv.Clock().Now())
	assert.ErrorIs(t, srv.Clock().Advance(-1), fakeapi.ErrNegativeDuration)

	fork := srv.Fork(t)
	fork.Clock().Advance(time.Hour)
	assert.Equal(t, apitest.Epoch.Add(90*time.Minute), srv.Clock().Now(), "the clock of a fork is independent")
	assert.Equal(t, apitest.Epoch.Add(150*time.Minute), fork.Clock().Now())
}

func TestAdvanceRunsControllersInSteps(t *testing.T) {
	const cronJob = `{apiVersion: batch/v1, kind: CronJob, metadata: {namespace: default, name: tick, uid: u, creationTimestamp: "2030-01-02T03:04:05Z"}, spec: {schedule: "* * * * *",
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}`
	tests := []struct {
		name    string
		lag     time.Duration
		advance time.Duration
		want    []any
	}{
		{"each Job at its time", 0, 3 * time.Minute, []any{"2030-01-02T03:05:00Z", "2030-01-02T03:06:00Z", "2030-01-02T03:07:00Z"}},
		{"not to the next one", 0, 54 * time.Second, nil},
		{"to the next one", 0, 56 * time.Second, []any{"2030-01-02T03:05:00Z"}},
		{"after the lag of a watch cache", time.Minute, 2 * time.Minute, []any{"2030-01-02T03:05:05Z", "2030-01-02T03:06:00Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithControllers("cronjob-controller"))
			require.NoError(t, srv.SetLag("cronjobs.batch", fakeapi.Lag{By: tt.lag}))
			_, err := srv.Store(cronJob)
			require.NoError(t, err)
			require.NoError(t, srv.Clock().Advance(tt.advance))
			assert.Equal(t, apitest.Epoch.Add(tt.advance), srv.Clock().Now())
			jobs, err := srv.List("jobs.batch", "")
			require.NoError(t, err)
			var created []any
			for _, job := range jobs {
				created = append(created, job["metadata"].(map[string]any)["creationTimestamp"])
			}
			assert.Equal(t, tt.want, created)
		})
	}
}

// SleepUntil of a time that an Advance has passed meanwhile returns; Sleep would wait for as
// long again.
func TestSleepUntil(t *testing.T) {
	clock := fakeapi.Start(t, fakeapi.WithManualClock(time.Unix(0, 0))).Clock()
	at := clock.Now().Add(time.Minute)
	require.NoError(t, clock.Advance(time.Minute))
	require.NoError(t, clock.SleepUntil(t.Context(), at))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, clock.SleepUntil(ctx, at.Add(1)), context.Canceled)
}

func TestRunningClockAdvances(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	srv.Clock().Advance(time.Hour)
	assert.Greater(t, time.Until(srv.Clock().Now()), 59*time.Minute)
}

// A watch ends after timeoutSeconds on the server's clock.
func TestWatchTimeout(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	w := watch(t, srv, "timeoutSeconds=60")
	w.expect("ADDED") // the watch is under way
	srv.Clock().Advance(time.Minute)
	for {
		if _, more := w.next(); !more {
			return
		}
	}
}

// Bookmarks, the timeout of a watch and the age of history use the clock, also in a
// bubble.
func TestClockInBubble(t *testing.T) {
	tests := []struct {
		name    string
		options []fakeapi.Option
	}{
		{"manual", []fakeapi.Option{fakeapi.WithManualClock(apitest.Epoch)}},
		{"running", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, append(tt.options, fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Age: time.Hour}))...)
				old := srv.Revision()
				apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
				w := watch(t, srv, "fieldSelector=metadata.name%3Da&allowWatchBookmarks=1&timeoutSeconds=150")
				w.expect("ADDED")
				end := w.expect("BOOKMARK")
				assert.Equal(t, map[string]any{"k8s.io/initial-events-end": "true"}, end["metadata"].(map[string]any)["annotations"])
				synctest.Wait()

				apitest.Put(t, srv, apitest.ConfigMap("b", "1")) // not selected
				srv.Clock().Advance(time.Minute)
				bookmark := w.expect("BOOKMARK")
				assert.Greater(t, bookmark.ResourceVersion(), end.ResourceVersion(), "both have the same length, so text can be compared")
				synctest.Wait()

				srv.Clock().Advance(2 * time.Minute)
				var last event
				for e, more := w.next(); more; e, more = w.next() {
					last = e
				}
				assert.Contains(t, []string{"", "BOOKMARK"}, last.Type)

				_, err := srv.List("configmaps", "", fakeapi.AtRevision(old))
				require.NoError(t, err)
				srv.Clock().Advance(2 * time.Hour)
				apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
				_, err = srv.List("configmaps", "", fakeapi.AtRevision(old))
				assert.Error(t, err, "the history is too old")
			})
		})
	}
}

// An Event is deleted an hour after its last write.
func TestEventsExpire(t *testing.T) {
	event := func(name, note string) fakeapi.Object {
		return fakeapi.Object{
			"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": name, "namespace": "default"},
			"involvedObject": map[string]any{"namespace": "default", "name": "p"}, "message": note,
		}
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(event("once", "")))
	names := func(srv *fakeapi.Server) []string {
		events, err := srv.List("events", "")
		require.NoError(t, err)
		out := []string{}
		for _, e := range events {
			out = append(out, e.Name())
		}
		return out
	}
	snapshot := srv.Snapshot()
	srv.Clock().Advance(30 * time.Minute)
	apitest.Put(t, srv, event("again", ""))
	code, _ := apitest.Do(t, srv, "POST", "/apis/events.k8s.io/v1/namespaces/default/events", `{"metadata":{"name":"new"},"eventTime":"2030-01-02T03:34:05.000000Z",
		"reportingController":"example.com/c","reportingInstance":"c-1","action":"a","reason":"r","type":"Normal","regarding":{"namespace":"default","name":"p"}}`)
	require.Equal(t, 201, code)
	fork := srv.Fork(t)

	srv.Clock().Advance(29 * time.Minute)
	apitest.Put(t, srv, event("again", "changed"))
	assert.Equal(t, []string{"again", "new", "once"}, names(srv))
	srv.Clock().Advance(time.Minute)
	assert.Equal(t, []string{"again", "new"}, names(srv))
	log := srv.Writes(srv.Revision())
	assert.Equal(t, "expire", log[0].Writer.Verb)
	srv.Clock().Advance(30 * time.Minute)
	assert.Equal(t, []string{"again"}, names(srv))
	srv.Clock().Advance(29 * time.Minute)
	assert.Empty(t, names(srv), "one hour after the update")

	require.NoError(t, srv.Restore(snapshot))
	assert.Equal(t, []string{"once"}, names(srv))
	srv.Clock().Advance(time.Hour)
	assert.Empty(t, names(srv), "one hour after Restore")

	assert.Equal(t, []string{"again", "new", "once"}, names(fork))
	fork.Clock().Advance(30 * time.Minute)
	assert.Equal(t, []string{"again", "new"}, names(fork))
	fork.Clock().Advance(30 * time.Minute)
	assert.Empty(t, names(fork))

	short := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithAPIServer(apiserver.Config{EventTTL: time.Minute}), fakeapi.WithObjects(event("once", "")))
	w, err := http.NewRequestWithContext(t.Context(), "GET", short.URL+"/api/v1/events?watch=1&resourceVersion="+fmt.Sprint(short.Revision()), nil)
	require.NoError(t, err)
	resp, err := short.Client().Do(w)
	require.NoError(t, err)
	defer resp.Body.Close()
	short.Clock().Advance(time.Minute)
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"DELETED"`)
}

func TestTenMinutes(t *testing.T) { synctest.Test(t, tenMinutes) }

// A watch of Events, which have no watch cache, has a bookmark every ten minutes and none before
// its end.
func TestBookmarksWithoutWatchCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch))
		url := fmt.Sprintf("%s/api/v1/events?watch=1&allowWatchBookmarks=1&timeoutSeconds=900&resourceVersion=%d", srv.URL, srv.Revision())
		resp, err := srv.Client().Get(url)
		require.NoError(t, err)
		defer resp.Body.Close()
		w := &stream{t, resp.Body, bufio.NewReader(resp.Body)}
		synctest.Wait()
		require.NoError(t, srv.Clock().Advance(9*time.Minute+59*time.Second))
		_, err = srv.Store(`{apiVersion: v1, kind: Event, metadata: {name: a, namespace: default}, involvedObject: {namespace: default}}`)
		require.NoError(t, err)
		w.expect("ADDED")
		require.NoError(t, srv.Clock().Advance(time.Second))
		assert.Equal(t, fmt.Sprint(srv.Revision()), w.expect("BOOKMARK").ResourceVersion())
		synctest.Wait()
		require.NoError(t, srv.Clock().Advance(5*time.Minute))
		e, more := w.next()
		assert.False(t, more, "%v", e)
	})
}
