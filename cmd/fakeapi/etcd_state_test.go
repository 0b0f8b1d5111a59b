//go:build go1.24

package main

import (
	"net/http"
	nethttptest "net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A kube-apiserver that starts again with the same etcd has its objects.
func TestRestart(t *testing.T) {
	etcd := nethttptest.NewServer(etcdHandler())
	defer etcd.Close()
	const namespaces = "/api/v1/namespaces"
	first := startControlPlane(t, "--etcd-servers="+etcd.URL)
	code, created := first.send(t, "POST", namespaces, `{"metadata":{"name":"n"}}`, "admin", "system:masters")
	require.Equal(t, http.StatusCreated, code)
	first.stop()

	second := startControlPlane(t, "--etcd-servers="+etcd.URL)
	code, found := second.get(t, namespaces+"/n", "admin", "system:masters")
	require.Equal(t, http.StatusOK, code)
	assert.Equal(t, created, found)
	second.send(t, "DELETE", namespaces+"/n", "", "admin", "system:masters")
	second.stop()

	third := startControlPlane(t, "--etcd-servers="+etcd.URL)
	_, found = third.get(t, namespaces+"/n", "admin", "system:masters")
	assert.NotNil(t, found["metadata"].(map[string]any)["deletionTimestamp"])
	other := startControlPlane(t, "--etcd-servers="+etcd.URL, "--etcd-prefix=/other")
	code, _ = other.get(t, namespaces+"/n", "admin", "system:masters")
	assert.Equal(t, http.StatusNotFound, code, "another prefix is another state")
}

func TestRestartWithSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd") // the names of sockets are short
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	url := "unix://" + filepath.Join(dir, "s")
	listener, _, err := listenURL(url)
	require.NoError(t, err)
	etcd := &nethttptest.Server{Listener: listener, Config: &http.Server{Handler: etcdHandler()}}
	etcd.Start()
	defer etcd.Close()

	first := startControlPlane(t, "--etcd-servers="+url)
	code, _ := first.send(t, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`, "admin", "system:masters")
	require.Equal(t, http.StatusCreated, code)
	first.stop()
	code, _ = startControlPlane(t, "--etcd-servers="+url).get(t, "/api/v1/namespaces/n", "admin", "system:masters")
	assert.Equal(t, http.StatusOK, code)
}

func TestListenURL(t *testing.T) {
	for _, url := range []string{"localhost:2379", "unix://", "%"} {
		_, _, err := listenURL(url)
		assert.ErrorContains(t, err, "is neither a URL with a host nor one of a socket", url)
	}
}

func TestStateKeeper(t *testing.T) {
	k := &stateKeeper{}
	serve := func(method, target, body string, header ...string) *nethttptest.ResponseRecorder {
		r := nethttptest.NewRequest(method, "http://127.0.0.1:2379"+target, strings.NewReader(body))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := nethttptest.NewRecorder()
		k.ServeHTTP(w, r)
		return w
	}
	assert.Equal(t, http.StatusNoContent, serve("GET", statePath, "").Code)
	assert.Equal(t, http.StatusOK, serve("PUT", statePath+"?prefix=/a", "a").Code)
	assert.Equal(t, "a", serve("GET", statePath+"?prefix=/a", "").Body.String())
	assert.Equal(t, http.StatusNoContent, serve("GET", statePath+"?prefix=/b", "").Code)
	assert.Equal(t, http.StatusForbidden, serve("GET", statePath+"?prefix=/a", "", "Origin", "https://example.com").Code)
	assert.Equal(t, http.StatusMethodNotAllowed, serve("DELETE", statePath, "").Code)
	k.states["/c"] = make([]byte, maxStates-2)
	assert.Equal(t, http.StatusOK, serve("PUT", statePath+"?prefix=/a", "b").Code)
	assert.Equal(t, http.StatusRequestEntityTooLarge, serve("PUT", statePath+"?prefix=/a", "bcd").Code)
	assert.Equal(t, "b", serve("GET", statePath+"?prefix=/a", "").Body.String())
}
