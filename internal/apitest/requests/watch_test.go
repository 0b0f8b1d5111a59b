package requests_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Every watch of a row ends by itself: at once or after a second.
func TestWatchOptions(t *testing.T) {
	const (
		all    = "/api/v1/namespaces/default/configmaps?watch=1"
		legacy = "/api/v1/watch/namespaces/default/configmaps"
		rows   = "application/json;as=Table;v=v1;g=meta.k8s.io"
		stream = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}`))
	for _, tt := range []struct {
		name, path, accept string
		code               int
		has, lacks         string
	}{
		{"time below zero", all + "&timeoutSeconds=-1", "", 200, "", "ADDED"},
		{"legacy path takes the options of a list", legacy + "?resourceVersionMatch=Exact", "", 422, "resourceVersionMatch is forbidden unless resourceVersion is provided", "watch"},
		{"legacy path has no streaming list", legacy + "?sendInitialEvents=true", "", 422, "sendInitialEvents is forbidden for list", "NotOlderThan"},
		{"legacy path as a watch", legacy + "?watch=1&sendInitialEvents=true", "", 422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan", ""},
		{"legacy path with initial events", legacy + "?allowWatchBookmarks=true&timeoutSeconds=1", "", 200, "ADDED", "initial-events-end"},
		{"watch with initial events", all + "&allowWatchBookmarks=true&timeoutSeconds=1", "", 200, "initial-events-end", ""},
		{"another name", legacy + "/a?fieldSelector=metadata.name%3Db", "", 400, "fieldSelector metadata.name doesn't match requested name", ""},
		{"no name", legacy + "/a?fieldSelector=metadata.namespace%3Ddefault", "", 400, "fieldSelector metadata.name doesn't match requested name", ""},
		{"bookmark without objects", all + stream + "&includeObject=None&timeoutSeconds=1", rows, 200, `"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion"`, `"name":"a"`},
		{"bookmark as a Table has no defaults", "/api/v1/secrets?watch=1&timeoutSeconds=1" + stream, rows, 200, `"cells":["","",0,"`, "Opaque"},
		{"bookmark of a Deployment", "/apis/apps/v1/deployments?watch=1&timeoutSeconds=1" + stream, "", 200, `"spec":{"replicas":0,`, ""},
		{"bookmark of a DaemonSet", "/apis/apps/v1/daemonsets?watch=1&timeoutSeconds=1" + stream, "", 200, `"deprecated.daemonset.template.generation":"0"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequest("GET", srv.URL+tt.path, nil)
			require.NoError(t, err)
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			var seen strings.Builder
			_, err = io.Copy(&seen, resp.Body)
			require.NoError(t, err)
			assert.Equal(t, tt.code, resp.StatusCode)
			assert.Contains(t, seen.String(), tt.has)
			if tt.lacks != "" {
				assert.NotContains(t, seen.String(), tt.lacks)
			}
		})
	}
}

// Many watches of the same objects, which gather changes, send each of them in order.
func TestManyWatches(t *testing.T) {
	const watches, writes = 20, 100
	srv := fakeapi.Start(t)
	var seen sync.WaitGroup
	for range watches {
		resp, err := srv.Client().Get(srv.URL + apitest.ConfigMapsPath + "?watch=1&resourceVersion=0")
		require.NoError(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		seen.Add(1)
		go func() {
			defer seen.Done()
			for in, i := bufio.NewReader(resp.Body), 0; i < writes; {
				event, err := in.ReadString('\n')
				if !assert.NoError(t, err) {
					return
				}
				if strings.Contains(event, `"name":"many-`) {
					assert.Contains(t, event, fmt.Sprintf(`"name":"many-%d"`, i))
					i++
				}
			}
		}()
	}
	for i := range writes {
		code, _ := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, fmt.Sprintf(`{"metadata":{"name":"many-%d"}}`, i))
		require.Equal(t, 201, code)
	}
	seen.Wait()
}

// A watch without timeoutSeconds ends between the shortest time and twice that.
func TestMinWatchTimeout(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{MinRequestTimeout: pointer(time.Minute)}), fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	resp, err := srv.Client().Get(srv.URL + "/api/v1/pods?watch=1&allowWatchBookmarks=true")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, srv.Clock().Advance(2*time.Minute))
	_, err = io.ReadAll(resp.Body)
	assert.NoError(t, err) // the watch has ended

	srv = fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{MinRequestTimeout: pointer(time.Duration(0))}))
	resp, err = srv.Client().Get(srv.URL + "/api/v1/pods?watch=1")
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	assert.NoError(t, err)

	_, err = fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{MinRequestTimeout: pointer(-time.Second)}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
}

// The ages in the events of a Table are those at the time of the event, and the first event of
// each watch has the columns, whether the rows are made for it or for another watch.
func TestTableWatches(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(start))
	open := func(query string) *bufio.Reader {
		req, err := http.NewRequest("GET", srv.URL+"/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&"+query, nil)
		require.NoError(t, err)
		req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		return bufio.NewReader(resp.Body)
	}
	watches := []*bufio.Reader{open(""), open("includeObject=None"), open("includeObject=Object"), open("")}
	objects := []string{`"object":{"kind":"PartialObjectMetadata"`, `"object":null`, `"object":{"kind":"ConfigMap"`, `"object":{"kind":"PartialObjectMetadata"`}
	require.NoError(t, srv.Clock().Advance(time.Minute))
	next := func(cells string, hasColumns bool) {
		for i, in := range watches {
			event, err := in.ReadString('\n')
			require.NoError(t, err)
			assert.Contains(t, event, `"cells":`+cells)
			assert.Contains(t, event, objects[i])
			assert.Equal(t, hasColumns, strings.Contains(event, `"columnDefinitions":[`), event)
		}
	}
	code, _ := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"},"data":{"key":"1"}}`)
	require.Equal(t, 201, code)
	next(`["a",1,"0s"]`, true)
	require.NoError(t, srv.Clock().Advance(time.Minute))
	code, _ = apitest.Do(t, srv, "PATCH", apitest.ConfigMapsPath+"/a", `{"data":{"key":"2"}}`)
	require.Equal(t, 200, code)
	next(`["a",1,"60s"]`, false)
}

// pointer returns a pointer to v.
func pointer[T any](v T) *T { return &v }
