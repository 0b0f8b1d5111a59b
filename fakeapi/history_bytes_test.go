//go:build go1.25

package fakeapi_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// large returns the nth version of a ConfigMap of about 64 KiB.
func large(name string, n int) fakeapi.Object {
	return apitest.ConfigMap(name, strconv.Itoa(n)+strings.Repeat("x", 64<<10))
}

// versionOf returns the resourceVersion of an object as a number.
func versionOf(t testing.TB, o fakeapi.Object) int64 {
	t.Helper()
	rev, err := strconv.ParseInt(o.ResourceVersion(), 10, 64)
	require.NoError(t, err)
	return rev
}

// A write that makes the history too large compacts it. Reads, continue tokens and
// watches from the removed revisions fail with 410. A watch that keeps up has every
// event.
func TestHistoryBytes(t *testing.T) {
	const limit = 1 << 20
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithHistory(fakeapi.History{Bytes: limit}))
	apitest.Put(t, srv, large("a", 0), apitest.ConfigMap("b", "1"))
	old := srv.Revision()
	read := fmt.Sprintf("/api/v1/configmaps?resourceVersion=%d&resourceVersionMatch=Exact", old)
	page := "/api/v1/configmaps?limit=1"
	_, first := apitest.Do(t, srv, "GET", page, "")
	token, _ := first["metadata"].(map[string]any)["continue"].(string)
	require.NotEmpty(t, token)
	following := watch(t, srv, fmt.Sprintf("resourceVersion=%d", old))

	for n := range 40 {
		apitest.Put(t, srv, large("a", n+1))
		require.LessOrEqual(t, backdoor.Of(srv).HistoryBytes(), int64(limit))
		require.Equal(t, srv.Revision(), versionOf(t, following.expect("MODIFIED")))
	}
	require.Greater(t, backdoor.Of(srv).HistoryBytes(), int64(limit/2))

	code, answer := apitest.Do(t, srv, "GET", read, "")
	assert.Equal(t, http.StatusGone, code)
	assert.Equal(t, "Expired", answer["reason"])
	code, answer = apitest.Do(t, srv, "GET", page+"&continue="+token, "")
	assert.Equal(t, http.StatusGone, code)
	assert.Equal(t, "Expired", answer["reason"])
	gone := watch(t, srv, fmt.Sprintf("resourceVersion=%d", old)).expect("ERROR")
	assert.Equal(t, float64(http.StatusGone), gone["code"])

	_, recent := apitest.Do(t, srv, "GET", fmt.Sprintf("/api/v1/configmaps?resourceVersion=%d&resourceVersionMatch=Exact", srv.Revision()-1), "")
	assert.Equal(t, srv.Revision()-1, versionOf(t, recent))
	_, metrics := apitest.GetText(t, srv, "/metrics")
	assert.Equal(t, float64(backdoor.Of(srv).HistoryBytes()), apitest.Metric(t, metrics, "fakeapi_history_bytes"))
	assert.Equal(t, float64(limit), apitest.Metric(t, metrics, "fakeapi_history_limit_bytes"))

	srv.Compact(0)
	assert.Less(t, backdoor.Of(srv).HistoryBytes(), int64(1<<17), "the newest write")
}

// The story has a note of each compaction. The same writes make the same compactions.
func TestHistoryBytesInStory(t *testing.T) {
	compactions := func() (out []string) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithSeed(1), fakeapi.WithHistory(fakeapi.History{Bytes: 1 << 20}))
		for n := range 40 {
			apitest.Put(t, srv, large("a", n))
		}
		_, story := apitest.Do(t, srv, "GET", "/debug/fakeapi/story", "")
		for _, n := range story["notes"].([]any) {
			note := n.(map[string]any)
			out = append(out, fmt.Sprintf("%v: %v", note["kind"], note["text"]))
			require.Equal(t, fmt.Sprintf("compaction: history before r%.0f was removed, because the history exceeded 1 MiB", note["revision"]), out[len(out)-1])
		}
		require.NotEmpty(t, out)
		last := story["notes"].([]any)[len(out)-1].(map[string]any)
		require.Equal(t, last["revision"], story["compacted"])
		return out
	}
	assert.Equal(t, compactions(), compactions())
}

// The journal of the story has a limit of its own. A story without its first writes
// says so.
func TestJournalBytes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Bytes: 1 << 20}))
	begin := srv.Revision()
	for n := range 200 {
		apitest.Put(t, srv, large("a", n))
	}
	_, story := apitest.Do(t, srv, "GET", "/debug/fakeapi/story", "")
	revisions := story["revisions"].([]any)
	first := revisions[0].(map[string]any)["revision"].(float64)
	assert.Less(t, len(revisions), 100)
	assert.Equal(t, int64(first), begin+1+int64(story["earlier"].(float64)))
	_, metrics := apitest.GetText(t, srv, "/metrics")
	bytes := apitest.Metric(t, metrics, "fakeapi_journal_bytes")
	assert.Less(t, bytes, 4.0*(1<<20))
	assert.Greater(t, bytes, 1.0*(1<<20))
}

// A watch with bookmarks and without changes can be continued from its last bookmark at
// any time, however much is written to other objects.
func TestHistoryBytesSendBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Bytes: 1 << 20}))
		quiet := fmt.Sprintf("fieldSelector=metadata.name%%3Dquiet&resourceVersion=%d", srv.Revision())
		idle := watch(t, srv, quiet+"&allowWatchBookmarks=true")
		reached, bookmarks := srv.Revision(), 0
		go func() {
			in := json.NewDecoder(idle.in)
			for e := (event{}); in.Decode(&e) == nil; {
				reached = versionOf(t, e.Object)
				if e.Type == "BOOKMARK" {
					bookmarks++
				}
			}
		}()
		plain := watch(t, srv, quiet)
		for n := range 100 {
			apitest.Put(t, srv, large("a", n))
			synctest.Wait()
			_, err := srv.List("configmaps", "", fakeapi.AtRevision(reached))
			require.NoError(t, err, "the revision of the last bookmark is compacted")
		}
		assert.Greater(t, bookmarks, 10)
		assert.Less(t, bookmarks, 50)
		apitest.Put(t, srv, apitest.ConfigMap("quiet", "1"))
		plain.expect("ADDED") // it got no bookmarks and is not ended
	})
}

// A watch that is not read holds a part of the history. It ends with 410 when the history
// is compacted, after the events that it holds.
func TestHistoryBytesAndStuckWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Bytes: 4 << 20}))
		begin := srv.Revision()
		for n := range 40 {
			apitest.Put(t, srv, large("a", n))
		}
		stuck := watch(t, srv, fmt.Sprintf("resourceVersion=%d", begin))
		synctest.Wait()
		for n := range 60 {
			apitest.Put(t, srv, large("a", n))
		}
		events := 0
		e, ok := stuck.next()
		for ; ok && e.Type != "ERROR"; e, ok = stuck.next() {
			events++
		}
		require.True(t, ok, "the stream has ended without an error")
		assert.Equal(t, float64(http.StatusGone), e.Object["code"])
		assert.LessOrEqual(t, events, (1<<20)/(64<<10))
		_, ok = stuck.next()
		assert.False(t, ok)
	})
}

// TestMemory writes twelve times the limit of the history to one object, with what could
// keep old versions in memory, and requires that the heap does not grow.
func TestMemory(t *testing.T) {
	const (
		history = 1 << 20
		journal = 4 << 20 // the smallest one
		other   = 2 << 20
	)
	for _, row := range []struct {
		name string
		open func(t *testing.T, srv *fakeapi.Server) any
		more uint64 // what may be kept in addition
	}{
		{"nothing", func(*testing.T, *fakeapi.Server) any { return nil }, 0},
		{"frozen watch caches", func(t *testing.T, srv *fakeapi.Server) any {
			require.NoError(t, srv.SetLag("*", fakeapi.Lag{Frozen: true}))
			return watch(t, srv, "resourceVersion=0")
		}, 0},
		{"lagging watch caches", func(t *testing.T, srv *fakeapi.Server) any {
			require.NoError(t, srv.SetLag("*", fakeapi.Lag{Revisions: 200}))
			return nil
		}, 0},
		{"snapshot", func(_ *testing.T, srv *fakeapi.Server) any { return srv.Snapshot() }, 0},
		{"fork", func(_ *testing.T, srv *fakeapi.Server) any { return srv.Fork(t) }, history + journal},
		{"watch that is not read", func(t *testing.T, srv *fakeapi.Server) any { return watch(t, srv, "resourceVersion=0") }, 1 << 20},
		{"list that is not read", func(t *testing.T, srv *fakeapi.Server) any {
			resp, err := srv.Client().Get(srv.URL + "/api/v1/configmaps")
			require.NoError(t, err)
			t.Cleanup(func() { resp.Body.Close() })
			return resp
		}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Bytes: history}))
			apitest.Put(t, srv, large("a", 0))
			for n := range 80 { // a history and a journal to keep
				replace(t, srv, n)
			}
			before := heapBytes()
			opened := row.open(t, srv)
			for n := range 192 {
				replace(t, srv, n)
			}
			after := heapBytes()
			runtime.KeepAlive(opened)
			assert.Less(t, after, before+other+row.more, "the heap has grown from %d bytes", before)
			assert.Less(t, backdoor.Of(srv).HistoryBytes(), int64(history+1))
		})
	}
}

// replace replaces the ConfigMap a by the nth version of large. It writes protobuf, which the race detector
// slows down less than JSON, by far.
func replace(t *testing.T, srv *fakeapi.Server, n int) {
	t.Helper()
	const protobuf = "application/vnd.kubernetes.protobuf"
	message := func(fields ...string) string { // with the field numbers 1, 2, 3; "" for none
		var out []byte
		for i, field := range fields {
			if field != "" {
				out = append(binary.AppendUvarint(append(out, byte(i+1)<<3|2), uint64(len(field))), field...)
			}
		}
		return string(out)
	}
	value := strconv.Itoa(n) + strings.Repeat("x", 64<<10)
	body := "k8s\x00" + message(message("v1", "ConfigMap"), message(message("a", "", "default"), message("k", value)))
	req, err := http.NewRequestWithContext(t.Context(), "PUT", srv.URL+apitest.ConfigMapsPath+"/a", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", protobuf)
	req.Header.Set("Accept", protobuf)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
}

// heapBytes returns the size of the heap without garbage.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC() // empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
