package fakeapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/apitest"
)

// After Compact, reads of an old revision fail with 410.
func TestCompact(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"), apitest.ConfigMap("b", "1"))
	old := srv.Revision()
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	list := fmt.Sprintf("/api/v1/configmaps?resourceVersion=%d&resourceVersionMatch=Exact", old)
	page := "/api/v1/configmaps?limit=1"
	code, _ := apitest.Do(t, srv, "GET", list, "")
	require.Equal(t, http.StatusOK, code)
	_, first := apitest.Do(t, srv, "GET", page, "")
	token, _ := first["metadata"].(map[string]any)["continue"].(string)
	require.NotEmpty(t, token)

	apitest.Put(t, srv, apitest.ConfigMap("a", "3"))
	srv.Compact(0)
	srv.Compact(0) // does nothing

	code, answer := apitest.Do(t, srv, "GET", list, "")
	assert.Equal(t, http.StatusGone, code)
	assert.Equal(t, "Expired", answer["reason"])
	code, answer = apitest.Do(t, srv, "GET", page+"&continue="+token, "")
	assert.Equal(t, http.StatusGone, code)
	assert.Equal(t, "Expired", answer["reason"])
	gone := watch(t, srv, fmt.Sprintf("resourceVersion=%d", old)).expect("ERROR")
	assert.Equal(t, float64(http.StatusGone), gone["code"])

	assert.Equal(t, map[string]any{"a": "3", "b": "1"}, values(t, srv))
	now := watch(t, srv, fmt.Sprintf("resourceVersion=%d", srv.Revision()))
	apitest.Put(t, srv, apitest.ConfigMap("a", "4"))
	now.expect("MODIFIED")
}

// Compact and ExpireOpenWatches end all watches and continue tokens.
func TestExpire(t *testing.T) {
	for _, row := range []struct {
		name   string
		expire func(srv *fakeapi.Server) (ended int)
	}{
		{"from Go", func(srv *fakeapi.Server) int {
			require.NoError(t, srv.Compact(0))
			return apitest.Inject(t, srv, faults.ExpireOpenWatches("*")).Hits()
		}},
		{"over the control endpoint", func(srv *fakeapi.Server) int {
			code, _ := apitest.Do(t, srv, "POST", "/debug/fakeapi/compact", `{"watchCache": true, "watches": true}`)
			require.Equal(t, http.StatusOK, code)
			return srv.Injections()[0].Hits()
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1"), apitest.ConfigMap("b", "1")))
			_, first := apitest.Do(t, srv, "GET", "/api/v1/configmaps?limit=1", "")
			token, _ := first["metadata"].(map[string]any)["continue"].(string)
			w := watch(t, srv, "fieldSelector=metadata.name%3Da")
			w.expect("ADDED")
			apitest.Put(t, srv, apitest.ConfigMap("b", "2"))

			assert.Equal(t, 1, row.expire(srv))
			assert.Equal(t, float64(http.StatusGone), w.expect("ERROR")["code"])
			code, _ := apitest.Do(t, srv, "GET", "/api/v1/configmaps?limit=1&continue="+token, "")
			assert.Equal(t, http.StatusGone, code)
			watch(t, srv, fmt.Sprintf("resourceVersion=%d", srv.Revision())) // the newest revision is readable
		})
	}
}

// The schedule removes, once a minute, versions that were replaced more than 30
// seconds before.
func TestCompactionSchedule(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithAPIServer(apiserver.Config{CompactionInterval: time.Minute, CompactionKeep: 30 * time.Second}))
	readable := func(srv *fakeapi.Server, rev int64) bool {
		_, err := srv.List("configmaps", "", fakeapi.AtRevision(rev))
		return err == nil
	}
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	first := srv.Revision()
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	second := srv.Revision()
	srv.Clock().Advance(40 * time.Second)
	apitest.Put(t, srv, apitest.ConfigMap("a", "3"))
	assert.True(t, readable(srv, first), "before the first compaction")

	fork := srv.Fork(t)
	srv.Clock().Advance(20 * time.Second)
	assert.False(t, readable(srv, first))
	assert.True(t, readable(srv, second), "it was replaced 20 seconds ago")
	srv.Clock().Advance(time.Minute)
	assert.False(t, readable(srv, second))
	assert.Equal(t, map[string]any{"a": "3"}, values(t, srv))

	assert.True(t, readable(fork, first))
	fork.Clock().Advance(time.Minute)
	assert.False(t, readable(fork, second), "a fork has a schedule of its own")

	for _, o := range []fakeapi.Option{fakeapi.WithAPIServer(apiserver.Config{CompactionInterval: -1, CompactionKeep: 0}), fakeapi.WithAPIServer(apiserver.Config{CompactionInterval: 0, CompactionKeep: -1})} {
		_, err := fakeapi.New(o)
		assert.EqualError(t, err, "fakeapi: the compaction schedule is negative")
	}
}

// Compact does not end a watch that has received everything.
func TestCompactKeepsWatch(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	w := watch(t, srv, "fieldSelector=metadata.name%3Da")
	w.expect("ADDED")
	srv.Compact(0)
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	w.expect("MODIFIED")
}

func TestSnapshotAndRestore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("kept", "1"), apitest.ConfigMap("changed", "1"), apitest.ConfigMap("deleted", "1")))
	want := values(t, srv)
	snapshot := srv.Snapshot()
	apitest.Put(t, srv, apitest.ConfigMap("changed", "2"), apitest.ConfigMap("added", "2"))
	require.NoError(t, srv.Remove("configmaps", "default", "deleted"))
	before := srv.Revision()
	w := watch(t, srv, fmt.Sprintf("resourceVersion=%d", before))

	for range 2 { // a snapshot can be restored again
		require.NoError(t, srv.Restore(snapshot))
		assert.Equal(t, want, values(t, srv))
	}
	assert.Equal(t, before+3, srv.Revision(), "a revision for each object that differs")
	seen := map[string]string{}
	for range 3 {
		e, ok := w.next()
		require.True(t, ok)
		seen[e.Object.Name()] = e.Type
	}
	assert.Equal(t, map[string]string{"changed": "MODIFIED", "added": "DELETED", "deleted": "ADDED"}, seen)
}

func TestRestoreOfParent(t *testing.T) {
	parent := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	snapshot := parent.Snapshot()
	fork := parent.Fork(t)
	apitest.Put(t, fork, apitest.ConfigMap("a", "2"))
	require.NoError(t, fork.Restore(snapshot))
	assert.Equal(t, map[string]any{"a": "1"}, values(t, fork))
}

func TestReset(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	fresh, err := srv.List("namespaces", "")
	require.NoError(t, err)
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	before := srv.Revision()
	require.NoError(t, srv.Reset())
	assert.Empty(t, values(t, srv))
	assert.Greater(t, srv.Revision(), before, "the revision rises")
	after, err := srv.List("namespaces", "")
	require.NoError(t, err)
	assert.Equal(t, fresh, after)
}

func TestWrites(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	from := srv.Revision() + 1
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	require.NoError(t, srv.Remove("configmaps", "default", "a"))
	log := srv.Writes(from)
	var lines []string
	for _, r := range log {
		lines = append(lines, fmt.Sprintf("+%d %s %s", r.Revision-from, r.Writer.Verb, r.Changes[0]))
	}
	assert.Equal(t, []string{
		"+0 create ADDED configmaps default/a",
		"+1 store MODIFIED configmaps default/a",
		"+2 remove DELETED configmaps default/a",
	}, lines)
	assert.Equal(t, "Go-http-client/1.1", log[0].Writer.UserAgent)
	assert.Contains(t, log[0].String(), "ADDED configmaps default/a by create admin")
}

func TestRequests(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Do(t, srv, "GET", "/api/v1/pods?limit=1", "")
	apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/pods/a", "")
	apitest.Do(t, srv, "GET", "/debug/flags/v", "")
	var log []journal.Request
	apitest.Eventually(func() bool { log = srv.Requests(); return len(log) == 3 }) // a request is logged when its handler is done
	assert.Equal(t, "/api/v1/pods?limit=1", log[0].URI)
	assert.Equal(t, http.StatusOK, log[0].Code)
	assert.Positive(t, log[0].Bytes)
	assert.Equal(t, "admin", log[0].User)
	assert.Equal(t, `pods "a" not found`, log[1].Message)
	assert.False(t, log[1].Unimplemented)
	assert.True(t, log[2].Unimplemented)
	assert.Equal(t, http.StatusNotImplemented, log[2].Code)
	assert.Equal(t, `404 GET /api/v1/namespaces/default/pods/a (Go-http-client/1.1): pods "a" not found`, log[1].String())
}

func TestCompactRevision(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	first := srv.Revision()
	_, err := srv.Store(apitest.ConfigMap("a", "2"))
	require.NoError(t, err)
	second := srv.Revision()
	_, err = srv.Store(apitest.ConfigMap("a", "3"))
	require.NoError(t, err)

	require.NoError(t, srv.Compact(second))
	_, err = srv.Get("configmaps", "default", "a", fakeapi.AtRevision(first))
	require.ErrorIs(t, err, fakeapi.ErrCompacted)
	_, err = srv.Get("configmaps", "default", "a", fakeapi.AtRevision(second))
	require.NoError(t, err)
	require.NoError(t, srv.Compact(first), "it was compacted")
	require.NoError(t, srv.Compact(-1), "a revision before all others")
	_, err = srv.Get("configmaps", "default", "a", fakeapi.AtRevision(second))
	require.NoError(t, err)
	require.ErrorIs(t, srv.Compact(srv.Revision()+1), fakeapi.ErrFutureRevision)
	require.NoError(t, srv.Compact(0))
	_, err = srv.Get("configmaps", "default", "a", fakeapi.AtRevision(second))
	require.ErrorIs(t, err, fakeapi.ErrCompacted, "0 is the newest revision")
}
