//go:build go1.25

package fakeapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// listed lists ConfigMaps and returns their values by name and the version of the
// list.
func listed(t *testing.T, srv *fakeapi.Server, query string) (map[string]any, int64) {
	t.Helper()
	code, list := apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/configmaps?"+query, "")
	require.Equal(t, http.StatusOK, code, list)
	out := map[string]any{}
	for _, item := range list["items"].([]any) {
		o := fakeapi.Object(item.(map[string]any))
		out[o.Name()] = o["data"].(map[string]any)["key"]
	}
	rev, err := strconv.ParseInt(list.ResourceVersion(), 10, 64)
	require.NoError(t, err)
	return out, rev
}

// Each kind of lag is set when the ConfigMap a is "1". Reads from the watch cache
// return old values, other reads the present one.
func TestLag(t *testing.T) {
	const configMaps = "configmaps"
	for _, row := range []struct {
		name string
		lag  func(srv *fakeapi.Server) error
		want string // the value at 5 s; it is "1" from 0 s, "2" from 2 s and "3" from 4 s
	}{
		{"by time", func(srv *fakeapi.Server) error { return srv.SetLag(configMaps, fakeapi.Lag{By: 2 * time.Second}) }, "2"},
		{"by a longer time", func(srv *fakeapi.Server) error { return srv.SetLag(configMaps, fakeapi.Lag{By: 4 * time.Second}) }, "1"},
		{"by revisions", func(srv *fakeapi.Server) error { return srv.SetLag(configMaps, fakeapi.Lag{Revisions: 1}) }, "2"},
		{"frozen", func(srv *fakeapi.Server) error { return srv.SetLag(configMaps, fakeapi.Lag{Frozen: true}) }, "1"},
		{"frozen at a later revision", func(srv *fakeapi.Server) error { return srv.SetLag(configMaps, fakeapi.Lag{Until: srv.Revision() + 1}) }, "2"},
		{"all resources", func(srv *fakeapi.Server) error { return srv.SetLag("*", fakeapi.Lag{Frozen: true}) }, "1"},
		{"another resource", func(srv *fakeapi.Server) error { return srv.SetLag("pods", fakeapi.Lag{Frozen: true}) }, "3"},
		{"all but one", func(srv *fakeapi.Server) error {
			if err := srv.SetLag("*", fakeapi.Lag{Frozen: true}); err != nil {
				return err
			}
			return srv.SetLag(configMaps, fakeapi.Lag{})
		}, "3"},
		{"none", func(srv *fakeapi.Server) error { return srv.SetLag(configMaps, fakeapi.Lag{By: 0}) }, "3"},
		{"the longer of two", func(srv *fakeapi.Server) error {
			return srv.SetLag(configMaps, fakeapi.Lag{By: time.Millisecond, Revisions: 1})
		}, "2"},
		{"a time and frozen", func(srv *fakeapi.Server) error {
			return srv.SetLag(configMaps, fakeapi.Lag{By: time.Second, Frozen: true})
		}, "1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
			revisions := map[string]int64{"1": srv.Revision()}
			open := watch(t, srv, fmt.Sprintf("resourceVersion=%d", srv.Revision()))
			require.NoError(t, row.lag(srv))
			for _, value := range []string{"2", "3"} {
				srv.Clock().Advance(2 * time.Second)
				apitest.Put(t, srv, apitest.ConfigMap("a", value))
				revisions[value] = srv.Revision()
			}
			srv.Clock().Advance(time.Second)

			past, present := map[string]any{"a": row.want}, map[string]any{"a": "3"}
			for _, read := range []struct {
				name, query string
				want        map[string]any
			}{
				{"any version", "resourceVersion=0", past},
				{"any version, paged", "resourceVersion=0&limit=1", past},
				{"any version not older", "resourceVersion=0&resourceVersionMatch=NotOlderThan", past},
				{"not older than the first", fmt.Sprintf("resourceVersion=%d", revisions["1"]), past},
				{"not older than the cached one", fmt.Sprintf("resourceVersion=%d&resourceVersionMatch=NotOlderThan", revisions[row.want]), past},
				{"the newest", "", present},
				{"the newest, paged", "limit=1", present},
				{"the first", fmt.Sprintf("resourceVersion=%d&resourceVersionMatch=Exact", revisions["1"]), map[string]any{"a": "1"}},
				{"the last", fmt.Sprintf("resourceVersion=%d&resourceVersionMatch=Exact", revisions["3"]), present},
				{"the last by a limit", fmt.Sprintf("resourceVersion=%d&limit=1", revisions["3"]), present},
			} {
				got, rev := listed(t, srv, read.query)
				assert.Equal(t, read.want, got, read.name)
				assert.Equal(t, revisions[got["a"].(string)], rev, read.name)
			}
			const path = "/api/v1/namespaces/default/configmaps/a"
			_, got := apitest.Do(t, srv, "GET", path+"?resourceVersion=0", "")
			assert.Equal(t, past["a"], got["data"].(map[string]any)["key"])
			_, got = apitest.Do(t, srv, "GET", path, "")
			assert.Equal(t, "3", got["data"].(map[string]any)["key"])
			rev, err := srv.CachedRevision("configmaps")
			require.NoError(t, err)
			assert.Equal(t, revisions[row.want], rev)

			// An open watch, and one from an old version.
			late := watch(t, srv, fmt.Sprintf("resourceVersion=%d", revisions["1"]))
			for _, w := range []*stream{open, late} {
				for value := '2'; string(value) <= row.want; value++ {
					assert.Equal(t, map[string]any{"key": string(value)}, w.expect("MODIFIED")["data"])
				}
			}
			require.NoError(t, srv.SetLag("*", fakeapi.Lag{}))
			for _, w := range []*stream{open, late} {
				for value := row.want[0] + 1; value <= '3'; value++ {
					assert.Equal(t, map[string]any{"key": string(value)}, w.expect("MODIFIED")["data"])
				}
			}
			got3, _ := listed(t, srv, "resourceVersion=0")
			assert.Equal(t, present, got3)
		})
	}
}

// A read of a version that the cache has not reached waits up to three seconds.
func TestLagWaits(t *testing.T) {
	const path = "/api/v1/namespaces/default/configmaps"
	for _, row := range []struct {
		name, query string
		lag         time.Duration
		code        int
		took        time.Duration
	}{
		{"list that is reached", "?resourceVersion=%d&resourceVersionMatch=NotOlderThan", 2 * time.Second, http.StatusOK, 2 * time.Second},
		{"list that is not", "?resourceVersion=%d&resourceVersionMatch=NotOlderThan", 5 * time.Second, http.StatusGatewayTimeout, 3 * time.Second},
		{"get that is reached", "/a?resourceVersion=%d", 2 * time.Second, http.StatusOK, 2 * time.Second},
		{"get that is not", "/a?resourceVersion=%d", 5 * time.Second, http.StatusGatewayTimeout, 3 * time.Second},
		{"exact list", "?resourceVersion=%d&resourceVersionMatch=Exact", 5 * time.Second, http.StatusOK, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
				time.Sleep(10 * time.Second)
				require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{By: row.lag}))
				old, rev := listed(t, srv, "resourceVersion=0")
				assert.Equal(t, map[string]any{"a": "1"}, old)
				apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
				began := time.Now()
				req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+path+fmt.Sprintf(row.query, srv.Revision()), nil)
				require.NoError(t, err)
				resp, err := srv.Client().Do(req)
				require.NoError(t, err)
				got := apitest.Answer(t, resp)
				assert.Equal(t, row.code, resp.StatusCode)
				assert.Equal(t, row.took, time.Since(began))
				if row.code == http.StatusOK {
					return
				}
				assert.Equal(t, "1", resp.Header.Get("Retry-After"))
				assert.Equal(t, fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", srv.Revision(), rev), got["message"])
				assert.Equal(t, "Timeout", got["reason"])
				assert.Equal(t, map[string]any{
					"causes":            []any{map[string]any{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}},
					"retryAfterSeconds": float64(1),
				}, got["details"])
			})
		})
	}
}

// Watches begin while the cache is frozen at a=1 and the state has a=2. The test
// checks their events before and after the end of the lag.
func TestWatchOfLaggingCache(t *testing.T) {
	type shown = []string
	for _, row := range []struct {
		name, query   string
		frozen, after shown
	}{
		{"any version", "resourceVersion=0&allowWatchBookmarks=1", shown{"ADDED 1", "BOOKMARK 0"}, shown{"MODIFIED 2"}},
		{"any version without initial events", "resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", nil, shown{"MODIFIED 2"}},
		{"no version", "allowWatchBookmarks=1", nil, shown{"ADDED 2", "BOOKMARK 1"}},
		{"streaming list of the present", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1", nil, shown{"ADDED 2", "BOOKMARK 1"}},
		{"streaming list not older than an old version", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=OLD&allowWatchBookmarks=1", shown{"ADDED 1", "BOOKMARK 0"}, shown{"MODIFIED 2"}},
		{"old version", "resourceVersion=OLD", nil, shown{"MODIFIED 2"}},
		{"present version", "resourceVersion=NEW", nil, shown{"MODIFIED 3"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
				require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
				old := srv.Revision()
				apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
				seen := make(chan string, 10)
				go func() {
					defer close(seen)
					w := watch(t, srv, "fieldSelector=metadata.name%3Da&"+strings.NewReplacer("OLD", fmt.Sprint(old), "NEW", fmt.Sprint(old+1)).Replace(row.query))
					for e, more := w.next(); more; e, more = w.next() {
						if e.Type == "BOOKMARK" {
							rev, _ := strconv.ParseInt(e.Object.ResourceVersion(), 10, 64)
							seen <- fmt.Sprint("BOOKMARK ", rev-old)
						} else {
							seen <- fmt.Sprint(e.Type, " ", e.Object["data"].(map[string]any)["key"])
						}
					}
				}()
				expect := func(events shown) {
					t.Helper()
					for _, e := range events {
						assert.Equal(t, e, <-seen)
					}
					synctest.Wait()
					assert.Empty(t, seen)
				}
				synctest.Wait()
				expect(row.frozen)
				require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{}))
				if row.after[0] == "MODIFIED 3" {
					apitest.Put(t, srv, apitest.ConfigMap("a", "3"))
				}
				expect(row.after)
				srv.Close()
				for range seen {
				}
			})
		})
	}
}

// A watch of the present fails with an ERROR event if the cache does not reach it.
func TestWatchOfPresentTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
		apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		began := time.Now()
		failed := watch(t, srv, "").expect("ERROR")
		assert.Equal(t, float64(http.StatusGatewayTimeout), failed["code"])
		assert.Contains(t, failed["message"], "Too large resource version")
		assert.Equal(t, 3*time.Second, time.Since(began))
	})
}

// Bookmarks have the revision of the watch cache, not of the state.
func TestBookmarksOfLaggingCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
		w := watch(t, srv, fmt.Sprintf("resourceVersion=%d&allowWatchBookmarks=1&timeoutSeconds=3600", srv.Revision()))
		require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Revisions: 2}))
		old := srv.Revision()
		synctest.Wait()
		for range 3 {
			_, err := srv.Store(`{apiVersion: v1, kind: Namespace, metadata: {name: other}}`)
			require.NoError(t, err)
		}
		srv.Clock().Advance(time.Minute)
		assert.Equal(t, fmt.Sprint(old+1), w.expect("BOOKMARK").ResourceVersion())
	})
}

// A client that updates a stale object gets a conflict.
func TestLagCausesConflicts(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	const path = "/api/v1/namespaces/default/configmaps/a"
	_, stale := apitest.Do(t, srv, "GET", path+"?resourceVersion=0", "")
	body, err := json.Marshal(stale)
	require.NoError(t, err)
	code, failed := apitest.Do(t, srv, "PUT", path, string(body))
	assert.Equal(t, http.StatusConflict, code)
	assert.Equal(t, "Conflict", failed["reason"])
	assert.Equal(t, map[string]any{"a": "2"}, values(t, srv))
}

// A frozen cache keeps its state through a compaction. Its watches end with 410 when
// it moves on.
func TestLagAndCompact(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	require.NoError(t, srv.SetLag("*", fakeapi.Lag{Frozen: true}))
	old := srv.Revision()
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"), apitest.ConfigMap("a", "3"))
	srv.Compact(0)
	got, rev := listed(t, srv, "resourceVersion=0")
	assert.Equal(t, map[string]any{"a": "1"}, got)
	assert.Equal(t, old, rev)
	w := watch(t, srv, fmt.Sprintf("resourceVersion=%d", old))
	gone := watch(t, srv, fmt.Sprintf("resourceVersion=%d", old-1)).expect("ERROR")
	assert.Equal(t, float64(http.StatusGone), gone["code"])

	require.NoError(t, srv.SetLag("*", fakeapi.Lag{}))
	gone = w.expect("ERROR")
	assert.Equal(t, float64(http.StatusGone), gone["code"])
}

// A cache keeps its revision until a later one is due.
func TestLagNeverGoesBack(t *testing.T) {
	const configMaps = "configmaps"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	srv.Clock().Advance(time.Minute)
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	shows := func(want string, at time.Duration) {
		t.Helper()
		srv.Clock().Advance(apitest.Epoch.Add(at).Sub(srv.Clock().Now()))
		got, _ := listed(t, srv, "resourceVersion=0")
		assert.Equal(t, map[string]any{"a": want}, got)
	}
	require.NoError(t, srv.SetLag(configMaps, fakeapi.Lag{By: 10 * time.Second}))
	shows("2", 61*time.Second)
	apitest.Put(t, srv, apitest.ConfigMap("a", "3"))
	require.NoError(t, srv.SetLag(configMaps, fakeapi.Lag{By: 20 * time.Second}))
	shows("2", 80*time.Second)
	shows("3", 81*time.Second)
	apitest.Put(t, srv, apitest.ConfigMap("a", "4"))
	require.NoError(t, srv.SetLag(configMaps, fakeapi.Lag{By: time.Second}))
	shows("4", 82*time.Second)
}

func TestLagOfFork(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{By: time.Minute}))
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	srv.Clock().Advance(30 * time.Second)
	fork := srv.Fork(t)
	fork.Clock().Advance(30 * time.Second)
	for _, row := range []struct {
		srv  *fakeapi.Server
		want string
	}{{srv, "1"}, {fork, "2"}} {
		got, _ := listed(t, row.srv, "resourceVersion=0")
		assert.Equal(t, map[string]any{"a": row.want}, got)
	}
	require.NoError(t, srv.SetLag("*", fakeapi.Lag{}))
	apitest.Put(t, fork, apitest.ConfigMap("a", "3"))
	got, _ := listed(t, fork, "resourceVersion=0")
	assert.Equal(t, map[string]any{"a": "2"}, got, "the lag of a fork is independent")
}

// Reset ends the lag.
func TestResetEndsLag(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	require.NoError(t, srv.SetLag("*", fakeapi.Lag{Frozen: true}))
	require.NoError(t, srv.Reset())
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	got, _ := listed(t, srv, "resourceVersion=0")
	assert.Equal(t, map[string]any{"a": "1"}, got)
}

// The watch cache of a custom resource begins at the revision of its definition.
func TestLagOfCustomResource(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	require.NoError(t, srv.SetLag("*", fakeapi.Lag{Frozen: true}))
	_, err := srv.Store(apitest.Widgets("v1", ""))
	require.NoError(t, err)
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	code, list := apitest.Do(t, srv, "GET", "/apis/example.com/v1/widgets?resourceVersion=0", "")
	require.Equal(t, http.StatusOK, code)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"/apis/example.com/v1/widgets?watch=1&resourceVersion="+list.ResourceVersion(), nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	synced, err := srv.CachedRevision("widgets.example.com")
	require.NoError(t, err)
	assert.Equal(t, list.ResourceVersion(), fmt.Sprint(synced))
	configMaps, err := srv.CachedRevision("configmaps")
	require.NoError(t, err)
	assert.Less(t, configMaps, synced)
	in := bufio.NewReader(resp.Body)
	require.NoError(t, srv.SetLag("*", fakeapi.Lag{}))
	_, err = srv.Store(apitest.Widget)
	require.NoError(t, err)
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"ADDED"`)
}

func TestLagErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithHistory(fakeapi.History{Age: time.Minute}))
	const configMaps = "configmaps"
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"unknown resource", srv.SetLag("widgets", fakeapi.Lag{Frozen: true}), "not found: resource widgets"},
		{"unknown resource to thaw", srv.SetLag("widgets", fakeapi.Lag{}), "not found: resource widgets"},
		{"resource without stored objects", srv.SetLag("tokenreviews", fakeapi.Lag{Frozen: true}), "not found: resource tokenreviews"},
		{"uncached", srv.SetLag("events", fakeapi.Lag{By: time.Second}), "invalid lag: events cannot lag: kube-apiserver reads it from etcd, not from a watch cache"},
		{"negative time", srv.SetLag(configMaps, fakeapi.Lag{By: -time.Second}), "invalid lag: it is negative"},
		{"negative revisions", srv.SetLag(configMaps, fakeapi.Lag{Revisions: -1}), "invalid lag: it is negative"},
		{"longer than history", srv.SetLag(configMaps, fakeapi.Lag{By: 2 * time.Minute}), "invalid lag: the lag is longer than the history is kept: 2m0s instead of at most 1m0s"},
		{"old revision", srv.SetLag(configMaps, fakeapi.Lag{Until: 2}), fmt.Sprintf("invalid lag: the watch cache is at revision %d, and does not go back to 2", srv.Revision())},
		{"negative and frozen", srv.SetLag(configMaps, fakeapi.Lag{By: -time.Second, Frozen: true}), "invalid lag: it is negative"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.EqualError(t, row.err, row.want)
			assert.True(t, errors.Is(row.err, fakeapi.ErrNotFound) != errors.Is(row.err, fakeapi.ErrInvalidLag))
		})
	}
	_, err := srv.CachedRevision("widgets")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound)
}

// The control endpoint sets and lists lags.
func TestControlLag(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	rev := float64(srv.Revision())
	answered := func(lags ...any) fakeapi.Object {
		if lags == nil {
			lags = []any{}
		}
		return fakeapi.Object{"revision": rev, "lags": lags}
	}
	type lag = map[string]any
	for _, row := range []struct {
		name, method, query, body string
		code                      int
		want                      any
	}{
		{"nothing", "GET", "", "", 200, answered()},
		{"by time", "POST", "", `{"resource": "configmaps", "by": "3s"}`, 200, answered(lag{"resource": "configmaps", "by": "3s", "revision": rev})},
		{"by revisions", "POST", "", `{"resource": "configmaps", "revisions": 2}`, 200, answered(lag{"resource": "configmaps", "revisions": 2.0, "revision": rev})},
		{"frozen later", "POST", "", fmt.Sprintf(`{"resource": "configmaps", "until": %d}`, srv.Revision()+100), 200, answered(lag{"resource": "configmaps", "until": rev + 100, "revision": rev})},
		{"another", "POST", "", `{"resource": "deployments.apps", "frozen": true, "by": "1s"}`, 200, answered(
			lag{"resource": "configmaps", "until": rev + 100, "revision": rev}, lag{"resource": "deployments.apps", "by": "1s", "until": rev, "frozen": true, "revision": rev})},
		{"one ended", "DELETE", "?resource=deployments.apps", "", 200, answered(lag{"resource": "configmaps", "until": rev + 100, "revision": rev})},
		{"all", "POST", "", `{"frozen": true}`, 200, answered(lag{"resource": "*", "until": rev, "frozen": true, "revision": rev})},
		{"one ended of all", "DELETE", "?resource=configmaps", "", 200, answered(lag{"resource": "*", "until": rev, "frozen": true, "revision": rev}, lag{"resource": "configmaps", "revision": rev})},
		{"all ended", "DELETE", "", "", 200, answered()},
		{"empty request", "POST", "", `{}`, 200, answered()},
		{"no lag", "POST", "", `{"resource": "configmaps"}`, 400, nil},
		{"no lag of a client", "POST", "", `{"userAgent": "manager/*"}`, 400, nil},
		{"no time", "POST", "", `{"resource": "configmaps", "by": "0s"}`, 200, answered()},
		{"invalid duration", "POST", "", `{"by": "3"}`, 400, nil},
		{"old revision", "POST", "", `{"until": 2}`, 400, nil},
		{"unknown resource", "POST", "", `{"resource": "widgets", "by": "3s"}`, 404, nil},
		{"unknown resource to thaw", "DELETE", "?resource=widgets", "", 404, nil},
		{"invalid JSON", "POST", "", `frozen`, 400, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, got := apitest.Do(t, srv, row.method, "/debug/fakeapi/lag"+row.query, row.body)
			assert.Equal(t, row.code, code, got)
			if row.want != nil {
				assert.Equal(t, row.want, got)
			}
		})
	}
}
