//go:build go1.24

package fakeapi_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

const forks = "/debug/fakeapi/forks"

// forkOver starts a fork over the control endpoint of the server at a URL.
func forkOver(t *testing.T, client *http.Client, server string) (id, forkURL string) {
	t.Helper()
	code, f := apitest.DoWith(t, client, "POST", server+forks, "")
	require.Equal(t, http.StatusOK, code, f)
	return f["id"].(string), f["url"].(string)
}

func TestControlForks(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	client := srv.Client()
	const path = "/api/v1/namespaces/default/configmaps/a"

	id, first := forkOver(t, client, srv.URL)
	_, second := forkOver(t, client, srv.URL)
	_, nested := forkOver(t, client, first)
	for _, u := range []string{first, second, nested} {
		code, _ := apitest.DoWith(t, client, "GET", u+path, "")
		assert.Equal(t, http.StatusOK, code, "%s has the objects", u)
	}
	code, _ := apitest.DoWith(t, client, "DELETE", first+path, "")
	require.Equal(t, http.StatusOK, code)
	code, _ = apitest.DoWith(t, client, "GET", second+path, "")
	assert.Equal(t, http.StatusOK, code, "a fork is independent")

	_, list := apitest.Do(t, srv, "GET", forks, "")
	assert.Len(t, list["forks"], 2, "a fork of a fork is not listed")
	code, answer := apitest.Do(t, srv, "DELETE", forks+"?id="+id+"&id=9", "")
	assert.Equal(t, http.StatusNotFound, code)
	assert.Equal(t, `there is no fork "9"`, answer["message"])
	code, ended := apitest.Do(t, srv, "DELETE", forks+"?id="+id, "")
	assert.Equal(t, http.StatusOK, code)
	assert.Len(t, ended["forks"], 1)
	for _, u := range []string{first, nested} {
		_, err := client.Get(u + path)
		assert.Error(t, err, "%s has ended", u)
	}
	srv.Close()
	_, err := client.Get(second + path)
	assert.Error(t, err, "a fork ends with its server")
}

// The number of forks has a limit, which forks of forks share.
func TestControlForksLimit(t *testing.T) {
	srv := fakeapi.Start(t)
	client := srv.Client()
	_, first := forkOver(t, client, srv.URL)
	const limit = 512
	for range limit - 1 {
		forkOver(t, client, first)
	}
	for _, u := range []string{srv.URL, first} {
		code, answer := apitest.DoWith(t, client, "POST", u+forks, "")
		assert.Equal(t, http.StatusTooManyRequests, code)
		assert.Contains(t, answer["message"], "the server has 512 forks, which is the limit")
	}
	code, _ := apitest.DoWith(t, client, "DELETE", first+forks, "")
	require.Equal(t, http.StatusOK, code)
	forkOver(t, client, srv.URL)
}

// A server ends while clients start forks. Each fork ends with it.
func TestControlForksClose(t *testing.T) {
	srv := fakeapi.Start(t)
	var wait sync.WaitGroup
	var started sync.Map // URLs of forks
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				resp, err := srv.Client().Post(srv.URL+forks, "", nil)
				if err != nil {
					return
				}
				var fork struct{ URL string }
				err = json.NewDecoder(resp.Body).Decode(&fork)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					return
				}
				started.Store(fork.URL, true)
			}
		}()
	}
	_, first := forkOver(t, srv.Client(), srv.URL)
	started.Store(first, true)
	srv.Close()
	wait.Wait()
	for u := range started.Range {
		_, err := srv.Client().Get(u.(string) + "/version")
		assert.Error(t, err, "%s has ended", u)
	}
}

func TestControlKubeconfig(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithRBAC())
	const path = "/debug/fakeapi/kubeconfig"
	code, answer := apitest.Do(t, srv, "POST", path, `{"name": "alice", "groups": ["developers"]}`)
	require.Equal(t, http.StatusOK, code)
	config, err := srv.Credentials(fakeapi.User{Name: "alice", Groups: []string{"developers"}}).Kubeconfig()
	require.NoError(t, err)
	assert.Equal(t, string(config), answer["kubeconfig"])
	assert.Equal(t, srv.Credentials(fakeapi.User{Name: "alice", Groups: []string{"developers"}}).BearerToken, answer["token"])
	_, answer = apitest.Do(t, srv, "POST", path, "")
	assert.Equal(t, string(srv.Kubeconfig()), answer["kubeconfig"])

	code, answer = apitest.Do(t, srv, "POST", path, `{"groups": ["developers"]}`)
	assert.Equal(t, http.StatusBadRequest, code, answer)
	code, answer = apitest.Do(t, fakeapi.Start(t), "POST", path, `{"name": "alice"}`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, answer["message"], "needs WithTLS or --tls")
}

func TestControlWebhooks(t *testing.T) {
	srv := fakeapi.Start(t, apitest.Hooked())
	const path = "/debug/fakeapi/webhooks"
	code, answer := apitest.Do(t, srv, "POST", path, `{"services": ["shop/extra"], "convert": ["toys.example.com"]}`)
	require.Equal(t, http.StatusOK, code, answer)
	pair, err := tls.X509KeyPair([]byte(answer["certificate"].(string)), []byte(answer["key"].(string)))
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	assert.NoError(t, leaf.VerifyHostname("extra.shop.svc"))

	l, err := tls.Listen("tcp", fmt.Sprintf("%s:%v", answer["host"], answer["port"]), &tls.Config{Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	hooks := &http.Server{Handler: http.HandlerFunc(apitest.Admit)}
	go hooks.Serve(l)
	defer hooks.Close()
	apitest.CheckHooks(t, srv)

	for body, want := range map[string]int{`{"services": ["x"]}`: http.StatusBadRequest, `{"convert": ["widgets.example.com"]}`: http.StatusNotFound} {
		code, answer := apitest.Do(t, srv, "POST", path, body)
		assert.Equal(t, want, code, answer)
	}
}

// Without a listener there is nothing to fork for another process.
func TestControlWithoutHost(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, path := range []string{"forks", "kubeconfig", "webhooks"} {
		code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/"+path, "")
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.Equal(t, "the server has no listener of its own", answer["message"])
	}
}

// Replicas are API servers of one cluster, between which clients are moved.
func TestControlReplicas(t *testing.T) {
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
	}{{"with a listener", nil}, {"in memory", []fakeapi.Option{fakeapi.WithInMemory()}}} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(row.options, fakeapi.WithObjects(apitest.ConfigMap("a", "1")))...)
			manager, other := agent{srv, "manager/1.0", t.Context()}, agent{srv, "other", t.Context()}
			code, replica := apitest.Do(t, srv, "POST", "/debug/fakeapi/replicas", "")
			require.Equal(t, http.StatusOK, code, replica)
			assert.Equal(t, "2", replica["id"])
			assert.Equal(t, !srv.InMemory(), replica["kubeconfig"] != nil)
			_, list := apitest.Do(t, srv, "GET", "/debug/fakeapi/replicas", "")
			assert.Len(t, list["replicas"], 2)

			move := func(to string) {
				code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/failover", `{"userAgent":"manager/*","replica":"`+to+`"}`)
				require.Equal(t, http.StatusOK, code, answer)
			}
			sees := func(a agent) bool { return a.do("GET", configMaps+"/b?resourceVersion=0", "") == http.StatusOK }
			code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/lag?replica=2", `{"frozen":true}`)
			require.Equal(t, http.StatusOK, code, answer)
			require.Equal(t, http.StatusCreated, other.create("b"))
			assert.True(t, sees(manager), "it has not moved")
			move("2")
			assert.False(t, sees(manager), "it goes back in time")
			assert.True(t, sees(other))
			assert.Equal(t, http.StatusCreated, manager.create("c"), "it writes to the same cluster")
			move("1")
			assert.True(t, sees(manager))

			code, answer = apitest.Do(t, srv, "POST", "/debug/fakeapi/failover", `{"userAgent":"manager/*","replica":"3"}`)
			assert.Equal(t, http.StatusNotFound, code)
			assert.Equal(t, `there is no replica "3"`, answer["message"])
			code, _ = apitest.Do(t, srv, "POST", "/debug/fakeapi/lag?replica=3", `{"frozen":true}`)
			assert.Equal(t, http.StatusNotFound, code)
			code, _ = apitest.Do(t, srv, "POST", "/debug/fakeapi/failover", `{"replica":"2"}`)
			assert.Equal(t, http.StatusBadRequest, code)
		})
	}
}

// A server ends while clients start replicas, of which no more start than the limit.
func TestControlReplicasClose(t *testing.T) {
	srv := fakeapi.Start(t)
	var started atomic.Int64
	start := func() int {
		resp, err := srv.Client().Post(srv.URL+"/debug/fakeapi/replicas", "", nil)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			started.Add(1)
		}
		return resp.StatusCode
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for start() == http.StatusOK {
			}
		}()
	}
	wait.Wait()
	assert.EqualValues(t, 15, started.Load())
	assert.Equal(t, http.StatusTooManyRequests, start())
	srv.Close()
	_, err := srv.NewReplica()
	assert.EqualError(t, err, "fakeapi: the server is closed")
}

// A fault moves a client at a point.
func TestControlFailoverAtPoint(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	manager := agent{srv, "manager/1.0", t.Context()}
	code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/replicas", "")
	require.Equal(t, http.StatusOK, code, answer)
	_, _ = apitest.Do(t, srv, "POST", "/debug/fakeapi/lag?replica=2", `{"frozen":true}`)
	code, answer = apitest.Do(t, srv, "POST", "/debug/fakeapi/faults",
		`{"verb":"create","userAgent":"manager/*","times":1,"at":"afterCommit","do":[{"failover":{"userAgent":"manager/*","replica":"2"}}]}`)
	require.Equal(t, http.StatusOK, code, answer)
	assert.Zero(t, manager.create("a"), "its connection breaks")
	assert.Equal(t, http.StatusNotFound, manager.do("GET", configMaps+"/a?resourceVersion=0", ""), "it does not see what it has written")
	assert.Equal(t, http.StatusConflict, manager.create("a"))
}
