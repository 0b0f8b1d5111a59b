//go:build go1.25

package fakeapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// A copier is a controller that watches the ConfigMap "in", and writes the number of its
// data to the ConfigMap "out" after a delay. It stops at limit.
func copier(ctx context.Context, t *testing.T, srv *fakeapi.Server, delay time.Duration, limit int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+apitest.ConfigMapsPath+"?watch=1", nil)
	require.NoError(t, err)
	req.Header.Set("User-Agent", "copier/1.0")
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	written := 0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if !strings.Contains(lines.Text(), `"n":`) || written == limit {
			continue
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		written++
		patch(srv, "copier/1.0", "out", fmt.Sprintf(`{"data":{"n":"%d"}}`, written))
	}
}

func patch(srv *fakeapi.Server, agent, name, body string) {
	req, err := http.NewRequest(http.MethodPatch, srv.URL+apitest.ConfigMapsPath+"/"+name+"?fieldManager=a", strings.NewReader(body))
	if err != nil {
		panic(err) // unreachable: the URL is valid
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	req.Header.Set("User-Agent", agent)
	if resp, err := srv.Client().Do(req); err == nil {
		resp.Body.Close()
	}
}

func TestSettleWaitsForClients(t *testing.T) {
	for _, row := range []struct {
		name    string
		delay   time.Duration
		limit   int
		quiet   time.Duration
		settles bool
		written string // the last number
	}{
		{"a chain of writes", 10 * time.Millisecond, 5, 50 * time.Millisecond, true, "5"},
		{"a client that reacts within the quiet time", 49 * time.Millisecond, 1, 50 * time.Millisecond, true, "1"},
		{"a client that reacts later", time.Second, 1, 50 * time.Millisecond, true, "0"},
		{"a longer quiet time", time.Second, 1, 2 * time.Second, true, "1"},
		{"a loop", 40 * time.Millisecond, -1, 50 * time.Millisecond, false, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory())
				for _, name := range []string{"in", "out"} {
					_, err := srv.Store(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"m":"0"}}`, name))
					require.NoError(t, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go copier(ctx, t, srv, row.delay, row.limit)
				synctest.Wait()
				patch(srv, "test", "in", `{"data":{"n":"0"}}`)

				limited, stop := context.WithTimeout(ctx, 3*time.Second)
				defer stop()
				err := srv.Settle(limited, fakeapi.SettleOptions{Quiet: row.quiet})
				if !row.settles {
					require.ErrorIs(t, err, fakeapi.ErrUnsettled)
					assert.Regexp(t, `copier/1.0 wrote configmaps default/out \d+ times, the last time data.n "\d+" -> "\d+"`, err.Error())
					return
				}
				require.NoError(t, err)
				out, err := srv.Get("configmaps", "default", "out")
				require.NoError(t, err)
				n, _ := out["data"].(map[string]any)["n"].(string)
				if n == "" {
					n = "0"
				}
				assert.Equal(t, row.written, n)
			})
		})
	}
}

// A request in flight keeps the server from settling.
func TestSettleWaitsForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithFaults(faults.Fault{Verb: "list", Delay: time.Minute}))
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			apitest.Do(t, srv, "GET", apitest.ConfigMapsPath, "")
		}()
		defer func() { <-answered }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := srv.Settle(ctx)
		require.ErrorIs(t, err, fakeapi.ErrUnsettled)
		assert.Contains(t, err.Error(), "GET "+apitest.ConfigMapsPath+" of Go-http-client/1.1 has no answer yet")
		require.NoError(t, srv.Settle(t.Context()))
	})
}

// A watch of a lagging cache has sent what it shows.
func TestSettleFollowsTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go copier(ctx, t, srv, 0, 1)
		synctest.Wait()
		require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
		_, err := srv.Store(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"in"},"data":{"n":"0"}}`)
		require.NoError(t, err)
		require.NoError(t, srv.Settle(t.Context()))
		assert.Empty(t, srv.Requests(), "the client has not seen the change")
	})
}

func TestExpectWriteBudgetOfNone(t *testing.T) {
	srv := fakeapi.Start(t)
	fake := &recorder{}
	srv.ExpectWriteBudget(fake, "*", 0, func() {})
	assert.Empty(t, fake.fatal)
	srv.ExpectWriteBudget(fake, "*", 0, func() {
		_, err := srv.Store(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
		require.NoError(t, err)
	})
	assert.Contains(t, fake.fatal, "more than 0 writes of an object")
	assert.Contains(t, fake.fatal, "configmaps default/a")
}

func TestExpectWriteBudget(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	manager, other := agent{srv, "manager/1.0", t.Context()}, agent{srv, "other", t.Context()}
	write := func(a agent, times int) func() {
		return func() {
			for i := range times {
				a.do("PUT", configMaps+"/a", fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"n":"%s %d"}}`, a.name, i))
			}
		}
	}
	require.Equal(t, 201, other.create("a"))
	for _, row := range []struct {
		name string
		f    func()
		want string
	}{
		{"within the budget", write(manager, 2), ""},
		{"beyond the budget", write(manager, 3), `manager/1.0 wrote configmaps default/a 3 times, the last time data.n "manager/1.0 1" -> "manager/1.0 2"`},
		{"another client", write(other, 5), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			fake := &recorder{}
			srv.ExpectWriteBudget(fake, "manager/*", 2, row.f)
			assert.Contains(t, fake.fatal, row.want)
			assert.Equal(t, row.want == "", fake.fatal == "")
		})
	}
}

// RunControllers does what controllers have to do, and does not wait for clients.
func TestRunControllers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithControllers("serviceaccount-controller"))
	watch(t, srv, "")
	_, err := srv.Store(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}})
	require.NoError(t, err)
	require.NoError(t, backdoor.Of(srv).RunControllers(context.Background()))
	_, err = srv.Get("serviceaccounts", "shop", "default")
	assert.NoError(t, err)

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, backdoor.Of(srv).RunControllers(ended), context.Canceled)
	assert.NoError(t, backdoor.Of(fakeapi.Start(t, fakeapi.WithInMemory())).RunControllers(ended), "there is none")
}

// Reset starts the controllers again, which create what a fresh cluster has.
func TestResetStartsControllers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithControllers("kubelet", "storage-provisioner"))
	start := func() {
		t.Helper()
		require.NoError(t, backdoor.Of(srv).RunControllers(context.Background()))
		_, err := srv.Get("nodes", "", "node-1")
		require.NoError(t, err)
		_, err = srv.Get("storageclasses", "", "standard")
		require.NoError(t, err)
	}
	start()
	require.NoError(t, srv.Reset())
	start()
}

func TestBasicControllers(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithControllers(fakeapi.BasicControllers...), fakeapi.WithNamespaces("shop"))
	require.NoError(t, backdoor.Of(srv).RunControllers(context.Background()))
	_, err := srv.Get("serviceaccounts", "shop", "default")
	require.NoError(t, err)
	require.NoError(t, srv.SetControllers(append(fakeapi.BasicControllers, "kubelet")...))
}
