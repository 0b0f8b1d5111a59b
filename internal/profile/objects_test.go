package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/scrub"
)

// A transport calls a function before each request, which may answer it.
type transport struct {
	next   http.RoundTripper
	before func(r *http.Request) *http.Response
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if resp := t.before(r); resp != nil {
		return resp, nil
	}
	return t.next.RoundTrip(r)
}

// readAll reads the objects of a server, and returns their resources and names, and the warnings.
func readAll(t *testing.T, srv *fakeapi.Server, exclude []string, before func(r *http.Request) *http.Response) (objects map[string]map[string]any, warnings []string, err error) {
	t.Helper()
	objects = map[string]map[string]any{}
	c := profile.Recorder{URL: srv.URL, Client: &http.Client{Transport: transport{srv.Transport(), before}}, Warn: func(text string) { warnings = append(warnings, text) }}
	n, err := c.ReadObjects(context.Background(), profile.Objects{Exclude: exclude, Scrubber: scrub.ForFiles(), Write: func(resource string, obj map[string]any) error {
		meta := obj["metadata"].(map[string]any)
		name := fmt.Sprintf("%s %s", resource, meta["name"])
		if namespace := meta["namespace"]; namespace != nil && namespace != "default" {
			name = fmt.Sprintf("%s %s/%s", resource, namespace, meta["name"])
		}
		assert.Nil(t, objects[name], name)
		objects[name] = obj
		return nil
	}})
	if err == nil {
		assert.Equal(t, n, len(objects))
	}
	return objects, warnings, err
}

func TestReadObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for i := range 1200 {
		_, err := srv.Store(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": fmt.Sprintf("c%d", i)}})
		require.NoError(t, err)
	}
	for _, o := range []string{
		`{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":"s","annotations":{
			"kubectl.kubernetes.io/last-applied-configuration":"{\"stringData\":{\"a\":\"hunter2\"}}"}},"data":{"password":"aHVudGVyMg=="}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"token"},"data":{"a":"Authorization: Bearer hunter2hunter2"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"default","name":"d"},"spec":{"replicas":3}}`,
		`{"apiVersion":"v1","kind":"Event","metadata":{"namespace":"default","name":"e"},"involvedObject":{"namespace":"default"}}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":"default","name":"l"}}`,
	} {
		_, err := srv.Store(o)
		require.NoError(t, err)
	}
	pages := 0
	objects, warnings, err := readAll(t, srv, profile.Passing, func(r *http.Request) *http.Response {
		assert.Equal(t, http.MethodGet, r.Method)
		assert.NotEqual(t, "true", r.URL.Query().Get("watch"))
		if r.URL.Path == "/api/v1/configmaps" {
			pages++
		}
		return nil
	})
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, 3, pages)
	assert.NotNil(t, objects["configmaps c1199"])
	assert.Nil(t, objects["events e"])
	assert.Nil(t, objects["leases.coordination.k8s.io l"])
	deployment := objects["deployments.apps d"]
	assert.Equal(t, "apps/v1 Deployment", fmt.Sprint(deployment["apiVersion"], " ", deployment["kind"]))
	assert.Equal(t, json.Number("3"), deployment["spec"].(map[string]any)["replicas"])
	all, err := json.Marshal(objects)
	require.NoError(t, err)
	for _, secret := range []string{"hunter2", "aHVudGVyMg=="} {
		assert.False(t, strings.Contains(string(all), secret), secret)
	}
	assert.Contains(t, objects["secrets s"]["data"], "password", "the keys stay")
}

// What happens when the cluster does not answer with a list.
func TestReadObjectsErrors(t *testing.T) {
	answer := func(code int, body string) *http.Response {
		return &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {"1"}}, Body: io.NopCloser(strings.NewReader(body))}
	}
	const secrets = "/api/v1/secrets"
	for _, row := range []struct {
		name     string
		code     int
		body     string
		times    int
		warnings []string
		err      string
	}{
		{"forbidden", 403, `{"message":"no"}`, 9, []string{"secrets: GET /api/v1/secrets?limit=500: 403 no"}, ""},
		{"busy once", 429, ``, 1, nil, ""},
		{"broken", 500, `oops`, 9, nil, "GET /api/v1/secrets?limit=500: 500 oops"},
		{"cut off", 200, `{"items":[`, 9, nil, "GET /api/v1/secrets?limit=500: EOF"},
		{"no items", 200, `{"items":null,"metadata":{}}`, 9, nil, ""},
		{"expired pages", 200, `{"items":[],"metadata":{"continue":"x"}}`, 1, []string{`secrets: GET /api/v1/secrets?continue=x&limit=500: 400`}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			times := 0
			objects, warnings, err := readAll(t, srv, nil, func(r *http.Request) *http.Response {
				if r.URL.Path != secrets || times == row.times {
					return nil
				}
				times++
				return answer(row.code, row.body)
			})
			if row.code == http.StatusOK && row.err != "" {
				require.EqualError(t, err, row.err)
				return
			}
			if row.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, row.err)
			}
			assert.NotNil(t, objects["services kubernetes"], "what follows is read")
			require.Len(t, warnings, len(row.warnings))
			for i, w := range row.warnings {
				assert.Contains(t, warnings[i], w)
			}
		})
	}
}

// A list whose pages have expired goes on with the token for the newest objects.
func TestReadObjectsExpired(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for i := range 700 {
		_, err := srv.Store(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": fmt.Sprintf("c%03d", i)}})
		require.NoError(t, err)
	}
	objects, warnings, err := readAll(t, srv, nil, func(r *http.Request) *http.Response {
		if r.URL.Path == "/api/v1/configmaps" && r.URL.Query().Get("continue") != "" && srv.Revision() > 0 {
			_, err := srv.Store(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "z"}})
			assert.NoError(t, err)
			assert.NoError(t, srv.Compact(0))
		}
		return nil
	})
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.NotNil(t, objects["configmaps c699"])
	assert.NotNil(t, objects["configmaps z"])
}
