package requests_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestConnections(t *testing.T) {
	pod := func(name, node, containers string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"default"},"spec":{"nodeName":"` + node + `","containers":[` + containers + `]},"status":{"podIPs":[{"ip":"10.1.2.3"}]}}`
	}
	const one, two = `{"name":"c","image":"i"}`, `{"name":"c","image":"i"},{"name":"d","image":"i"}`
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		pod("idle", "", one), pod("lost", "nowhere", one), pod("run", "n", one), pod("mute", "m", one), pod("two", "", two),
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}}`,
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"m"},"status":{"addresses":[{"type":"Odd","address":"x"}]}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"bare","namespace":"default"},"spec":{"ports":[{"name":"web","port":80}]}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"full","namespace":"default"},"spec":{"ports":[{"name":"web","port":80}]}}`,
		`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"full","namespace":"default","labels":{"kubernetes.io/service-name":"full"}},"addressType":"IPv4","endpoints":[{"addresses":["10.1.2.3"],"targetRef":{"kind":"Pod","name":"run"}}],"ports":[{"name":"web","port":80}]}`,
		`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"empty","namespace":"default","labels":{"kubernetes.io/service-name":"empty"}},"addressType":"IPv4","endpoints":[{"addresses":["10.1.2.3"]}],"ports":[{"name":"web","port":80}]}`,
	))
	for _, tt := range []struct {
		method, path string
		code         int
		want         string
	}{
		{"GET", "pods/idle/log", 204, ""},
		{"GET", "pods/none/log", 404, `pods "none" not found`},
		{"GET", "pods/lost/log", 404, `pods "nowhere" not found`},
		{"GET", "pods/run/log", 501, "not implemented: pods/log: nothing runs here to connect with; POST /debug/fakeapi/pods or, in Go, srv.Kubelet().Pods(...).SetLog sets the log"},
		{"GET", "pods/mute/log", 500, "no preferred addresses found; known addresses: [{Odd x}]"},
		{"GET", "pods/two/log", 400, "a container name must be specified for pod two, choose one of: [c d]"},
		{"GET", "pods/two/log?container=d", 204, ""},
		{"GET", "pods/two/log?container=e", 400, "container e is not valid for pod two"},
		{"GET", "pods/idle/log?tailLines=x", 400, `strconv.ParseInt: parsing "x": invalid syntax`},
		{"GET", "pods/none/log?tailLines=-1&limitBytes=0", 422, `PodLogOptions "none" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0]`},
		{"GET", "pods/idle/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z", 422, "PodLogOptions \"idle\" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"},
		{"GET", "pods/idle/log?stream=Stdout", 422, `PodLogOptions "idle" is invalid: stream: Forbidden: may not be specified`},
		{"POST", "pods/idle/exec?command=ls", 400, "pod idle does not have a host assigned"},
		{"GET", "pods/two/attach?container=e", 400, "container e is not valid for pod two"},
		{"POST", "pods/run/exec?command=ls", 501, "not implemented: pods/exec: nothing runs here to connect with; in Go, srv.Kubelet().Pods(...).HandleExec sets what runs commands"},
		{"POST", "pods/idle/portforward?ports=abc", 400, `cannot convert to []int32: strconv.ParseUint: parsing "abc": invalid syntax`},
		{"POST", "pods/idle/portforward?ports=80,81", 400, "pod idle does not have a host assigned"},
		{"GET", "pods/idle/proxy/x/y", 501, "not implemented: pods/proxy: nothing runs here to connect with"},
		{"PUT", "pods/idle:80:9/proxy/", 400, `invalid pod request "idle:80:9"`},
		{"GET", "services/bare/proxy/", 503, `no endpoints available for service "bare"`},
		{"GET", "services/bare:99/proxy/", 503, `no service port 99 found for service "bare"`},
		{"GET", "services/full:80/proxy/", 501, "not implemented: services/proxy: nothing runs here to connect with"},
		{"GET", "services/full:other/proxy/", 503, `no endpoints available for service "full:other"`},
		{"GET", "services/empty:web/proxy/", 503, `no endpoints available for service "empty:web"`},
		{"GET", "services/a:b:c:d/proxy/", 400, `invalid service request "a:b:c:d"`},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			if tt.code == 204 {
				resp, body := apitest.GetText(t, srv, "/api/v1/namespaces/default/"+tt.path)
				assert.Equal(t, tt.code, resp.StatusCode)
				assert.Empty(t, body)
				return
			}
			code, answer := apitest.Do(t, srv, tt.method, "/api/v1/namespaces/default/"+tt.path, "")
			assert.Equal(t, tt.code, code)
			assert.Equal(t, tt.want, answer["message"])
		})
	}
	for accept, want := range map[string]string{
		"PartialObjectMetadata":     "object does not implement the Object interfaces",
		"PartialObjectMetadataList": "you requested PartialObjectMetadataList, but the requested object is not a list (*rest.LocationStreamer)",
	} {
		req, err := http.NewRequest("GET", srv.URL+"/api/v1/namespaces/default/pods/idle/log", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", "application/json;as="+accept+";g=meta.k8s.io;v=v1")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var answer struct{ Message string }
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
		assert.Equal(t, want, answer.Message)
	}
	code, answer := apitest.Do(t, srv, "GET", "/api/v1/nodes/none/proxy/", "")
	assert.Equal(t, 404, code)
	assert.Equal(t, `nodes "none" not found`, answer["message"])
}
