package fakeapi_test

import (
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestStart(t *testing.T) {
	tb := &recorder{}
	srv := fakeapi.Start(tb)
	require.Empty(t, tb.fatal)
	resp, err := http.Get(srv.URL + "/readyz")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)

	tb.end()
	_, err = http.Get(srv.URL + "/readyz")
	assert.Error(t, err, "the server is closed when the test ends")
	assert.Empty(t, tb.log.String(), "a passing test logs nothing")
}

func TestStartLogsFailure(t *testing.T) {
	tb := &recorder{}
	srv := fakeapi.Start(tb, fakeapi.WithInMemory())
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/configmaps/b", "")
	tb.failed = true
	tb.end()
	log := tb.log.String()
	assert.Contains(t, log, "Go-http-client create configmaps default/a")
	assert.Contains(t, log, `404 GET /api/v1/namespaces/default/configmaps/b (Go-http-client): configmaps "b" not found`)
}

func TestStartFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	tests := []struct {
		name   string
		option fakeapi.Option
		fatal  string
	}{
		{"release", fakeapi.WithRelease("v1.2"), `fakeapi: unknown release "v1.2"`},
		{"feature gate", fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"Magic": true}}), `fakeapi: unrecognized feature gate: Magic`},
		{"controller", fakeapi.WithControllers("gc"), `fakeapi: "gc" is not in the list of known controllers; did you mean garbage-collector-controller?`},
		{"admission plugin", fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"podnodeselector"}}), `fakeapi: enable-admission-plugins plugin "podnodeselector" is unknown; did you mean PodNodeSelector?`},
		{"address", fakeapi.WithAddress(taken.Addr().String()), "address already in use"},
		{"object", fakeapi.WithObjects("kind: Pod"), "fakeapi: object 1 of WithObjects: document 1: an object without kind and apiVersion"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tb := &recorder{}
			assert.Nil(t, fakeapi.Start(tb, tt.option))
			assert.Contains(t, tb.fatal, tt.fatal)
			assert.Empty(t, tb.cleanups, "there is no cleanup")
		})
	}
}

// A fork has the state and history of its parent and is independent of it.
func TestFork(t *testing.T) {
	tests := []struct {
		name    string
		options []fakeapi.Option
	}{
		{"listening", nil},
		{"in memory", []fakeapi.Option{fakeapi.WithInMemory()}},
		{"parent with an address", []fakeapi.Option{fakeapi.WithAddress("127.0.0.1:0")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parent := fakeapi.Start(t, tt.options...)
			apitest.Put(t, parent, apitest.ConfigMap("a", "1"))
			old := parent.Revision()
			apitest.Put(t, parent, apitest.ConfigMap("a", "2"))

			tb := &recorder{}
			fork := parent.Fork(tb)
			assert.Equal(t, parent.Revision(), fork.Revision())
			assert.Equal(t, map[string]any{"a": "1"}, values(t, fork, fakeapi.AtRevision(old)))

			apitest.Put(t, parent, apitest.ConfigMap("a", "parent"))
			apitest.Put(t, fork, apitest.ConfigMap("a", "fork"), apitest.ConfigMap("b", "fork"))
			assert.Equal(t, map[string]any{"a": "parent"}, values(t, parent))
			assert.Equal(t, map[string]any{"a": "fork", "b": "fork"}, values(t, fork))

			code, _ := apitest.Do(t, fork, "GET", "/api/v1/namespaces/default/configmaps/b", "")
			assert.Equal(t, http.StatusOK, code)
			code, _ = apitest.Do(t, parent, "GET", "/api/v1/namespaces/default/configmaps/b", "")
			assert.Equal(t, http.StatusNotFound, code)

			tb.end()
			_, err := fork.Client().Get(fork.URL + "/readyz")
			assert.Error(t, err, "the fork is closed when its test ends")
			code, _ = apitest.Do(t, parent, "GET", "/readyz", "")
			assert.Equal(t, http.StatusOK, code, "the parent is not closed")
		})
	}
}

// Watches of the parent do not receive writes of the fork, nor vice versa.
func TestForkWatch(t *testing.T) {
	parent := fakeapi.Start(t, fakeapi.WithInMemory())
	fork := parent.Fork(t)
	query := "resourceVersion=1"
	ofParent, ofFork := watch(t, parent, query), watch(t, fork, query)
	apitest.Put(t, fork, apitest.ConfigMap("fork", ""))
	apitest.Put(t, parent, apitest.ConfigMap("parent", ""))
	skipBootstrap := func(s *stream) fakeapi.Object {
		for {
			if o := s.expect("ADDED"); o.Namespace() == "default" {
				return o
			}
		}
	}
	assert.Equal(t, "parent", skipBootstrap(ofParent).Name())
	assert.Equal(t, "fork", skipBootstrap(ofFork).Name())
}

func TestForkOfClosedServer(t *testing.T) {
	tb := &recorder{}
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	require.NoError(t, err)
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	srv.Close()
	fork := srv.Fork(tb)
	assert.Equal(t, map[string]any{"a": "1"}, values(t, fork), "the state of a closed server can be forked")
	tb.end()
}

// A closed server leaves no goroutine, whatever its clients do.
func TestCloseLeaksNoGoroutine(t *testing.T) {
	tests := []struct {
		name    string
		options []fakeapi.Option
	}{
		{"listening", nil},
		{"TLS", []fakeapi.Option{fakeapi.WithTLS()}},
		{"in memory", []fakeapi.Option{fakeapi.WithInMemory()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			srv, err := fakeapi.New(tt.options...)
			require.NoError(t, err)
			apitest.Do(t, srv, "GET", "/api/v1/pods", "")
			var open []*stream
			for range 5 {
				open = append(open, watch(t, srv, "resourceVersion=1"))
			}
			srv.Close()
			srv.Close() // does nothing
			for _, s := range open {
				s.body.Close() // the client's part
			}
			apitest.Eventually(func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}

// Two hundred tests at the same time, each with a fork, leave no goroutine and no open port.
func TestTwoHundredForksAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	srv, err := fakeapi.New()
	require.NoError(t, err)
	urls := make([]string, 200)
	var started, ended sync.WaitGroup
	started.Add(len(urls))
	ended.Add(len(urls))
	for i := range urls {
		go func() {
			defer ended.Done()
			tb := &recorder{}
			fork := srv.Fork(tb)
			defer tb.end()
			urls[i] = fork.URL
			started.Done()
			started.Wait() // all forks run
			own := strconv.Itoa(i)
			_, err := fork.Store(apitest.ConfigMap("own", own))
			assert.NoError(t, err)
			values, err := read(fork)
			assert.NoError(t, err)
			assert.Equal(t, map[string]any{"own": own}, values)
			resp, err := http.Get(fork.URL + apitest.ConfigMapsPath + "/own")
			if assert.NoError(t, err) {
				resp.Body.Close()
				assert.Equal(t, http.StatusOK, resp.StatusCode)
			}
		}()
	}
	ended.Wait()
	srv.Close()
	for _, url := range append(urls, srv.URL) {
		_, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		assert.Error(t, err, url)
	}
	apitest.Eventually(func() bool { return runtime.NumGoroutine() <= before })
}

func TestCloseEndsWatches(t *testing.T) {
	for _, memory := range []bool{true, false} {
		var options []fakeapi.Option
		if memory {
			options = append(options, fakeapi.WithInMemory())
		}
		srv, err := fakeapi.New(options...)
		require.NoError(t, err)
		apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		w := watch(t, srv, "fieldSelector=metadata.name%3Da")
		w.expect("ADDED")
		srv.Close()
		_, more := w.next()
		assert.False(t, more, "the stream ends without an error")
	}
}
