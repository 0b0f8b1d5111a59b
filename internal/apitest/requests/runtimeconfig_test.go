//go:build go1.24

package requests_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/release"
)

func TestRuntimeConfig(t *testing.T) {
	const deployments, statefulSets = "/apis/apps/v1/deployments", "/apis/apps/v1/statefulsets"
	const alpha = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions"
	for _, tt := range []struct {
		name   string
		config map[string]bool
		codes  map[string]int
	}{
		{"version off", map[string]bool{"apps/v1": false}, map[string]int{deployments: 404, "/apis/apps": 404, "/apis/batch/v1/jobs": 200}},
		{"resource off", map[string]bool{"apps/v1/deployments": false}, map[string]int{deployments: 404, statefulSets: 200}},
		{"version on", map[string]bool{"internal.apiserver.k8s.io/v1alpha1": true}, map[string]int{alpha: 200, deployments: 200}},
		{"resource on", map[string]bool{"internal.apiserver.k8s.io/v1alpha1/storageversions": true}, map[string]int{alpha: 200}},
		{"resource of a version that is off", map[string]bool{"apps/v1": false, "apps/v1/deployments": true}, map[string]int{deployments: 200, statefulSets: 404}},
		{"version that has kinds and is not served", map[string]bool{"discovery.k8s.io/v1beta1": true}, map[string]int{"/apis/discovery.k8s.io/v1beta1/endpointslices": 404, deployments: 200}},
		{"alpha", map[string]bool{"api/alpha": true}, map[string]int{alpha: 200, deployments: 200}},
		{"all", map[string]bool{"api/all": true}, map[string]int{alpha: 200, deployments: 200}},
		{"all but one", map[string]bool{"api/all": true, "apps/v1": false}, map[string]int{alpha: 200, deployments: 404}},
		{"another name of v1, with a resource", map[string]bool{"api/all": false, "api/v1/pods": true, "rbac.authorization.k8s.io/v1": true}, map[string]int{"/api/v1/pods": 200, "/api/v1/secrets": 200, deployments: 404}},
		{"only some", map[string]bool{"api/all": false, "v1": true, "rbac.authorization.k8s.io/v1": true}, map[string]int{"/api/v1/pods": 200, deployments: 404, "/openapi/v2": 200}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: tt.config}))
			for path, want := range tt.codes {
				code, answer := apitest.Do(t, srv, "GET", path, "")
				assert.Equal(t, want, code, "%s: %v", path, answer)
			}
			code, answer := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}}`)
			assert.Equal(t, http.StatusCreated, code, answer)
		})
	}
	for config, want := range map[string]string{
		"foo": "runtime-config invalid key foo", "bar/v1": "unknown api groups bar/v1", "apps/v9": "group version apps/v9 that has not been registered",
		"apps/v1/Nope": `invalid key apps/v1/Nope: group/version/resource and resource is always lowercase plural, not "Nope"`,
		"api/all":      "invalid runtime-config with only api/all=false", "v1": "v1 cannot be turned off here",
	} {
		_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{config: false}}))
		assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
		assert.ErrorContains(t, err, want)
	}
}

// A version of another form than the stored one is validated as the stored one, which need not be
// served.
func TestStoredVersionOff(t *testing.T) {
	const slices, autoscalers = "/apis/resource.k8s.io/v1beta1/resourceslices", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
	slice := func(attribute string) string {
		return `{"metadata":{"name":"a"},"spec":{"driver":"d.example.com","pool":{"name":"p","resourceSliceCount":1},"allNodes":true,"devices":[{"name":"d","basic":{"attributes":{"a":` + attribute + `}}}]}}`
	}
	autoscaler := func(percentage string) string {
		return `{"metadata":{"name":"a"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":1,"targetCPUUtilizationPercentage":` + percentage + `}}`
	}
	for _, tt := range []struct {
		name       string
		config     map[string]bool
		path, body string
		field      any // of the error; nil if the object is created
	}{
		{"device", map[string]bool{"resource.k8s.io/v1": false, "resource.k8s.io/v1beta1": true}, slices, slice(`{"int":1}`), nil},
		{"device with an empty attribute", map[string]bool{"resource.k8s.io/v1": false, "resource.k8s.io/v1beta1": true}, slices, slice(`{}`), "spec.devices[0].attributes[a]"},
		{"autoscaler", map[string]bool{"autoscaling/v2": false}, autoscalers, autoscaler("50"), nil},
		{"autoscaler with a wrong target", map[string]bool{"autoscaling/v2": false}, autoscalers, autoscaler("0"), "spec.metrics[0].resource.target.averageUtilization"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: tt.config}))
			_, answer := apitest.Do(t, srv, "POST", tt.path, tt.body)
			var field any
			if details, _ := answer["details"].(map[string]any); details != nil {
				field = details["causes"].([]any)[0].(map[string]any)["field"]
			}
			assert.Equal(t, tt.field, field, "%v", answer)
			if field == nil {
				_, got := apitest.Do(t, srv, "GET", tt.path+"/a", "")
				assert.Equal(t, answer["spec"], got["spec"])
			}
		})
	}
}

// The server works without any one of the API versions that can be turned off.
func TestWithoutOneVersion(t *testing.T) {
	r, err := release.Open("")
	require.NoError(t, err)
	for _, gv := range r.GroupVersions() {
		if gv.String() == "v1" || gv.String() == "rbac.authorization.k8s.io/v1" {
			continue
		}
		t.Run(gv.String(), func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithToken("t", fakeapi.User{Name: "u", Groups: []string{"system:masters"}}), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{gv.String(): false}}))
			for path, body := range map[string]string{
				"/api/v1/namespaces/default/services":       `{"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":1}]}}`,
				"/api/v1/namespaces/default/pods":           `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`,
				"/api/v1/namespaces/default/resourcequotas": `{"metadata":{"name":"q"}}`,
			} {
				req, err := http.NewRequest("POST", srv.URL+path, strings.NewReader(body))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer t")
				req.Header.Set("Content-Type", "application/json")
				resp, err := srv.Client().Do(req)
				require.NoError(t, err)
				resp.Body.Close()
				assert.Equal(t, http.StatusCreated, resp.StatusCode, path)
			}
			require.NoError(t, srv.Reset())
		})
	}
}

func TestAlwaysDeny(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{Authorization: &apiserver.Authorization{Modes: []string{"AlwaysDeny"}}}), fakeapi.WithToken("t", fakeapi.User{Name: "u"}))
	code, answer := apitest.Do(t, srv, "GET", "/api/v1/pods", "")
	assert.Equal(t, http.StatusForbidden, code)
	assert.Equal(t, `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope: alwaysdeny: Everything is forbidden.`, answer["message"])
}

// Requests above the limit fail at once; watches and members of system:masters do not count.
func TestMaxInflight(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{MaxRequestsInflight: 1, MaxMutatingRequestsInflight: 1}), fakeapi.WithToken("t", fakeapi.User{Name: "u"}))
	send := func(method, path string, body io.Reader, token string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, body)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		return resp
	}
	const path = "/api/v1/namespaces/default/configmaps"
	slow, body := io.Pipe() // a write that is served until its body ends
	written := make(chan *http.Response)
	go func() { written <- send("POST", path, slow, "t") }()
	_, err := body.Write([]byte(`{"metadata":`)) // the server reads it
	require.NoError(t, err)
	var refused *http.Response
	for refused == nil || refused.StatusCode == http.StatusCreated { // the server may have read it before it counts the request
		refused = send("POST", path, strings.NewReader(`{"metadata":{"generateName":"a-"}}`), "t")
	}
	assert.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	assert.Equal(t, "1", refused.Header.Get("Retry-After"))
	text, _ := io.ReadAll(refused.Body)
	assert.Equal(t, "Too many requests, please try again later.\n", string(text))
	assert.Equal(t, http.StatusOK, send("GET", path, nil, "t").StatusCode, "reads have a limit of their own")
	admin := srv.Credentials(fakeapi.User{Name: "a", Groups: []string{"system:masters"}}).BearerToken
	assert.Equal(t, http.StatusCreated, send("POST", path, strings.NewReader(`{"metadata":{"name":"b"}}`), admin).StatusCode)
	_, err = body.Write([]byte(`{"name":"c"}}`))
	require.NoError(t, err)
	require.NoError(t, body.Close())
	assert.Equal(t, http.StatusCreated, (<-written).StatusCode)
	for range 3 {
		assert.Equal(t, http.StatusCreated, send("POST", path, strings.NewReader(`{"metadata":{"generateName":"d-"}}`), "t").StatusCode)
	}
	_, err = fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{MaxRequestsInflight: -1, MaxMutatingRequestsInflight: 0}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
}
