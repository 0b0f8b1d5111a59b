//go:build go1.25

package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// names returns the names in a list that the watch cache answers.
func (a agent) names(t *testing.T) []string {
	r, err := http.NewRequestWithContext(a.ctx, "GET", a.URL+configMaps+"?resourceVersion=0", nil)
	require.NoError(t, err)
	r.Header.Set("User-Agent", a.name)
	resp, err := a.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	return namesOf(t, resp)
}

// A replica has the objects of the server, and its own watch caches and faults.
func TestReplica(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		second := apitest.Replica(t, srv)
		third := apitest.Replica(t, second)
		require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
		require.NoError(t, third.SetLag("configmaps", fakeapi.Lag{By: time.Minute}))
		injectAll(t, third, faults.Fault{Verb: "create", Code: 503})
		var watches [3]log
		for i, s := range []*fakeapi.Server{srv, second, third} {
			agent{s, "manager/1.0", t.Context()}.watch(t, &watches[i])
		}
		assert.Equal(t, 201, agent{second, "test", t.Context()}.create("a"))
		assert.Equal(t, 503, agent{third, "test", t.Context()}.create("b"))
		require.NoError(t, second.Settle(t.Context()))
		for i, want := range [][]string{nil, {"received ADDED a"}, nil} {
			assert.Equal(t, want, watches[i].take(), "replica %d", i+1)
		}
		assert.Empty(t, client.names(t))
		assert.Equal(t, []string{"a"}, agent{second, "test", t.Context()}.names(t))
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, want := range [][]string{nil, nil, {"received ADDED a"}} {
			assert.Equal(t, want, watches[i].take(), "replica %d", i+1)
		}
		third.Close()
		assert.Equal(t, 201, client.create("b"), "the first server goes on")
		story := srv.Story()
		assert.Contains(t, story, "on replica 3")
	})
}

// A client that fails over to a staler replica goes back in time.
func TestFailover(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, _ agent) {
		second := apitest.Replica(t, srv)
		request := func(name string) *http.Request {
			r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+configMaps+"?resourceVersion=0", nil)
			require.NoError(t, err)
			r.Header.Set("User-Agent", name)
			return r
		}
		names := func(name string) []string {
			resp, err := srv.Client().Do(request(name))
			require.NoError(t, err)
			defer resp.Body.Close()
			return namesOf(t, resp)
		}
		require.NoError(t, second.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
		require.Equal(t, 201, agent{srv, "test", t.Context()}.create("a"))
		assert.Equal(t, []string{"a"}, names("manager/1.0"))
		srv.Failover("manager/*", second)
		assert.Empty(t, names("manager/1.0"))
		assert.Equal(t, []string{"a"}, names("other/1.0"))
		srv.Failover("manager/*", srv)
		assert.Equal(t, []string{"a"}, names("manager/1.0"))
	})
}

// Lags of a client hold back its open watches and its lists, and nobody else's.
func TestClientLag(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		other := agent{srv, "other", t.Context()}
		var stale, fresh log
		client.watch(t, &stale)
		other.watch(t, &fresh)
		synctest.Wait()
		steps := []struct {
			name        string
			do          func() error
			stale, list []string
		}{
			{"a", func() error { return srv.SetLag("configmaps", fakeapi.Lag{Frozen: true, UserAgent: "manager/*"}) }, nil, nil},
			{"b", func() error { return srv.SetLag("configmaps", fakeapi.Lag{UserAgent: "manager/*"}) }, []string{"received ADDED a", "received ADDED b"}, []string{"a", "b"}},
			{"c", func() error { return srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}) }, nil, []string{"a", "b"}},
			{"d", func() error { return srv.SetLag("configmaps", fakeapi.Lag{}) }, []string{"received ADDED c", "received ADDED d"}, []string{"a", "b", "c", "d"}},
			{"e", func() error { return srv.SetLag("*", fakeapi.Lag{By: time.Minute, UserAgent: "manager/*"}) }, nil, []string{"a", "b", "c", "d"}},
		}
		for _, s := range steps {
			require.NoError(t, s.do(), s.name)
			require.Equal(t, 201, other.create(s.name))
			require.NoError(t, srv.Settle(t.Context()))
			assert.Equal(t, s.stale, stale.take(), s.name)
			assert.Equal(t, s.list, client.names(t), s.name)
		}
		assert.Len(t, fresh.take(), len(steps))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"received ADDED e"}, stale.take())
	})
}

// The view of a client with a lag of its own begins where that of all clients is.
func TestClientLagNeverGoesBack(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	client := agent{srv, "manager/1.0", context.Background()}
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
	frozen := srv.Revision()
	require.Equal(t, 201, client.create("a"))
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{By: 0, UserAgent: "manager/*"}))
	assert.Equal(t, []string{"a"}, client.names(t))
	assert.Empty(t, agent{srv, "other", context.Background()}.names(t))
	rev, err := srv.CachedRevision("configmaps")
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprint(frozen), fmt.Sprint(rev))
}

// namesOf returns the names of the objects in a list.
func namesOf(t *testing.T, resp *http.Response) (names []string) {
	t.Helper()
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&list))
	for _, o := range list.Items {
		names = append(names, o.Metadata.Name)
	}
	return names
}
