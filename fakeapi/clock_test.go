package fakeapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func TestManualClock(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithClock(epoch))
	created := func(name string) any {
		o, err := srv.Put(configMap(name, ""))
		require.NoError(t, err)
		return o["metadata"].(map[string]any)["creationTimestamp"]
	}
	assert.Equal(t, "2030-01-02T03:04:05Z", created("a"))
	srv.Clock().Advance(90 * time.Minute)
	assert.Equal(t, "2030-01-02T04:34:05Z", created("b"))
	assert.Equal(t, epoch.Add(90*time.Minute), srv.Clock().Now())
	assert.Panics(t, func() { srv.Clock().Advance(-1) })

	fork := srv.Fork(t)
	fork.Clock().Advance(time.Hour)
	assert.Equal(t, epoch.Add(90*time.Minute), srv.Clock().Now(), "a fork's clock is its own")
	assert.Equal(t, epoch.Add(150*time.Minute), fork.Clock().Now())
}

func TestRunningClockAdvances(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	srv.Clock().Advance(time.Hour)
	assert.Greater(t, time.Until(srv.Clock().Now()), 59*time.Minute)
}

// A watch lasts for its timeoutSeconds on the server's clock.
func TestClockEndsWatch(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithClock(epoch), fakeapi.WithObjects(configMap("a", "1")))
	w := watch(t, srv, "timeoutSeconds=60")
	w.expect("ADDED") // the watch is under way
	srv.Clock().Advance(time.Minute)
	for {
		if _, more := w.next(); !more {
			return
		}
	}
}

// Bookmarks, the end of a watch and the age of history follow the clock, in a
// bubble too.
func TestClockInBubble(t *testing.T) {
	tests := []struct {
		name    string
		options []fakeapi.Option
	}{
		{"manual", []fakeapi.Option{fakeapi.WithClock(epoch)}},
		{"running", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, append(tt.options, fakeapi.WithInMemory(), fakeapi.WithHistory(time.Hour))...)
				old := srv.Revision()
				put(t, srv, configMap("a", "1"))
				w := watch(t, srv, "fieldSelector=metadata.name%3Da&allowWatchBookmarks=1&timeoutSeconds=150")
				w.expect("ADDED")
				end := w.expect("BOOKMARK")
				assert.Equal(t, map[string]any{"k8s.io/initial-events-end": "true"}, end["metadata"].(map[string]any)["annotations"])
				synctest.Wait()

				put(t, srv, configMap("b", "1")) // not selected
				srv.Clock().Advance(time.Minute)
				bookmark := w.expect("BOOKMARK")
				assert.Greater(t, bookmark.ResourceVersion(), end.ResourceVersion(), "of the same length")
				synctest.Wait()

				srv.Clock().Advance(2 * time.Minute)
				var last event
				for e, more := w.next(); more; e, more = w.next() {
					last = e
				}
				assert.Contains(t, []string{"", "BOOKMARK"}, last.Type)

				_, err := srv.List("configmaps", fakeapi.At(old))
				require.NoError(t, err)
				srv.Clock().Advance(2 * time.Hour)
				put(t, srv, configMap("a", "2"))
				_, err = srv.List("configmaps", fakeapi.At(old))
				assert.Error(t, err, "history is older than is kept")
			})
		})
	}
}
