//go:build go1.24

package fakeapi_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A sighting is an event that a watch has sent.
type sighting struct {
	kind, name string
	version    int64
}

// lastName is the end of the name of the object whose event is the last one of a test.
const lastName = "2.254"

// follow returns the events of a watch after a version, up to that of the last object; nil if
// the version is too old.
func follow(t *testing.T, srv *fakeapi.Server, path string, after int64) (seen []sighting) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("%s%s?watch=1&resourceVersion=%d", srv.URL, path, after), nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	s := &stream{t, resp.Body, bufio.NewReader(resp.Body)}
	for {
		e, ok := s.next()
		require.True(t, ok, "the stream has ended after %v", seen)
		if e.Type == "ERROR" {
			require.EqualValues(t, http.StatusGone, e.Object["code"])
			return nil
		}
		meta := e.Object["metadata"].(map[string]any)
		version, err := strconv.ParseInt(meta["resourceVersion"].(string), 10, 64)
		require.NoError(t, err)
		name := meta["name"].(string)
		seen = append(seen, sighting{e.Type, name, version})
		if strings.HasSuffix(name, lastName) {
			return seen
		}
	}
}

// A watch that breaks after any of its events and is continued from there gets each other
// event once, whatever has happened to the server.
func TestWatchesResume(t *testing.T) {
	const (
		configMaps  = "/api/v1/namespaces/default/configmaps"
		services    = "/api/v1/namespaces/default/services"
		ipAddresses = "/apis/networking.k8s.io/v1/ipaddresses"
		events      = "/api/v1/namespaces/default/events"
		control     = "/debug/fakeapi/"
	)
	request := func(t *testing.T, srv *fakeapi.Server, method, path, body string) {
		t.Helper()
		code, answer := apitest.Do(t, srv, method, path, body)
		require.Less(t, code, 300, answer)
	}
	fill := func(t *testing.T, srv *fakeapi.Server) {
		for i := range 10 {
			apitest.Put(t, srv, apitest.ConfigMap(fmt.Sprint("o", i), "1"))
		}
	}
	same := func(f func(t *testing.T, srv *fakeapi.Server)) func(*testing.T, *fakeapi.Server) *fakeapi.Server {
		return func(t *testing.T, srv *fakeapi.Server) *fakeapi.Server { f(t, srv); return srv }
	}
	for _, row := range []struct {
		name, path string
		do         func(t *testing.T, srv *fakeapi.Server) *fakeapi.Server // returns the server to watch
		events     int                                                     // without the last one
		restarts   bool                                                    // watches cannot be continued from before it
	}{
		{name: "requests", path: configMaps, events: 4, do: same(func(t *testing.T, srv *fakeapi.Server) {
			request(t, srv, "POST", configMaps, `{"metadata":{"name":"a"}}`)
			request(t, srv, "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"1"}}`)
			request(t, srv, "PATCH", configMaps+"/a", `{"data":{"k":"2"}}`)
			request(t, srv, "DELETE", configMaps+"/a", "")
		})},
		{name: "deletecollection", path: configMaps, events: 20, do: same(func(t *testing.T, srv *fakeapi.Server) {
			fill(t, srv)
			request(t, srv, "DELETE", configMaps, "")
		})},
		{name: "Put and Delete", path: configMaps, events: 12, do: same(func(t *testing.T, srv *fakeapi.Server) {
			fill(t, srv)
			apitest.Put(t, srv, apitest.ConfigMap("o1", "2"))
			require.NoError(t, srv.Remove("configmaps", "default", "o1"))
		})},
		{name: "Restore", path: configMaps, events: 22 + 12, do: same(func(t *testing.T, srv *fakeapi.Server) {
			fill(t, srv)
			snapshot := srv.Snapshot()
			for _, name := range []string{"o2", "new"} {
				apitest.Put(t, srv, apitest.ConfigMap(name, "2"))
			}
			for i := range 10 {
				require.NoError(t, srv.Remove("configmaps", "default", fmt.Sprint("o", i)))
			}
			apitest.Put(t, srv, apitest.ConfigMap("o3", "3"))
			require.NoError(t, srv.Restore(snapshot))
		})},
		{name: "restore of the control endpoint", path: configMaps, events: 30, do: same(func(t *testing.T, srv *fakeapi.Server) {
			fill(t, srv)
			request(t, srv, "POST", control+"snapshot", `{"name":"full"}`)
			request(t, srv, "DELETE", configMaps, "")
			request(t, srv, "POST", control+"restore", `{"name":"full"}`)
		})},
		{name: "Reset", path: configMaps, events: 20, do: same(func(t *testing.T, srv *fakeapi.Server) {
			fill(t, srv)
			require.NoError(t, srv.Reset())
		})},
		{name: "a fork", path: configMaps, events: 20, do: func(t *testing.T, srv *fakeapi.Server) *fakeapi.Server {
			fill(t, srv)
			fork := srv.Fork(t)
			require.NoError(t, fork.Reset())
			return fork
		}},
		{name: "Upgrade", path: configMaps, events: 20, restarts: true, do: same(func(t *testing.T, srv *fakeapi.Server) {
			fill(t, srv)
			snapshot := srv.Snapshot()
			require.NoError(t, srv.Upgrade("v1.35"))
			request(t, srv, "DELETE", configMaps, "")
			require.NoError(t, srv.Restore(snapshot))
		})},
		{name: "a written state", path: configMaps, events: 10, restarts: true, do: func(t *testing.T, srv *fakeapi.Server) *fakeapi.Server {
			fill(t, srv)
			next := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(strings.NewReader(writeState(t, srv))))
			request(t, next, "DELETE", configMaps, "")
			return next
		}},
		{name: "the addresses of a Service", path: ipAddresses, events: 4, do: same(func(t *testing.T, srv *fakeapi.Server) {
			request(t, srv, "POST", services, `{"metadata":{"name":"s"},"spec":{"ipFamilyPolicy":"PreferDualStack","ports":[{"port":80}]}}`)
			request(t, srv, "DELETE", services+"/s", "")
		})},
		{name: "expired Events", path: events, events: 10, do: same(func(t *testing.T, srv *fakeapi.Server) {
			for i := range 5 {
				request(t, srv, "POST", events, fmt.Sprintf(`{"metadata":{"name":"e%d"},"involvedObject":{"namespace":"default"}}`, i))
			}
			srv.Clock().Advance(2 * time.Minute)
		})},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithAPIServer(apiserver.Config{EventTTL: time.Minute}),
				fakeapi.WithAPIServer(apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/112")}}))
			start := srv.Revision()
			srv = row.do(t, srv)
			apitest.Put(t, srv,
				apitest.ConfigMap(lastName, ""),
				fakeapi.Object{"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress", "metadata": map[string]any{"name": "192.0." + lastName}},
				fakeapi.Object{"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": lastName}})
			all := follow(t, srv, row.path, start)
			if row.restarts {
				require.Nil(t, all, "410 from before the restart")
				for after := start; all == nil; after++ {
					all = follow(t, srv, row.path, after)
				}
			}
			require.Len(t, all, row.events+1)
			for i, e := range all {
				if i > 0 {
					require.Greater(t, e.version, all[i-1].version, "each event has a version of its own")
				}
				if rest := all[i+1:]; len(rest) > 0 {
					assert.Equal(t, rest, follow(t, srv, row.path, e.version), "after %v", e)
				}
			}
		})
	}
}
