//go:build go1.24

package admission_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestAdmissionPlugins(t *testing.T) {
	const (
		configMaps = "/api/v1/namespaces/default/configmaps"
		elsewhere  = "/api/v1/namespaces/new/configmaps"
		configMap  = `{"metadata":{"name":"c"}}`
		pods       = "/api/v1/namespaces/default/pods"
		pod        = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`
	)
	start := func(t *testing.T, options ...fakeapi.Option) *fakeapi.Server {
		return fakeapi.Start(t, append(options, fakeapi.WithInMemory())...)
	}
	t.Run("AlwaysDeny", func(t *testing.T) {
		srv := start(t, fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"AlwaysDeny"}}), fakeapi.WithObjects(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"old","namespace":"default"}}`))
		const denied = "is forbidden: admission control is denying all modifications"
		for _, request := range [][3]string{
			{"POST", configMaps, configMap}, {"DELETE", configMaps + "/old", ""},
			{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", apitest.Widgets("v1", "")},
		} {
			code, body := apitest.Do(t, srv, request[0], request[1], request[2])
			assert.Equal(t, http.StatusForbidden, code, request)
			assert.Contains(t, body["message"], denied)
		}
		code, _ := apitest.Do(t, srv, "GET", configMaps+"/old", "")
		assert.Equal(t, http.StatusOK, code)
	})
	t.Run("NamespaceAutoProvision", func(t *testing.T) {
		srv := start(t, fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"NamespaceAutoProvision"}}))
		code, _ := apitest.Do(t, srv, "POST", elsewhere+"?dryRun=All", configMap)
		assert.Equal(t, http.StatusNotFound, code)
		code, _ = apitest.Do(t, srv, "POST", elsewhere, configMap)
		assert.Equal(t, http.StatusCreated, code)
		_, err := srv.Get("namespaces", "", "new")
		assert.NoError(t, err)
		code, _ = apitest.Do(t, srv, "POST", elsewhere, `{"metadata":{"name":"d"}}`)
		assert.Equal(t, http.StatusCreated, code)

		// So does a creation of a subresource, also if it fails.
		_, body := apitest.Do(t, srv, "POST", "/api/v1/namespaces/evicted/pods/p/eviction", `{"metadata":{"name":"p"}}`)
		assert.Equal(t, `pods "p" not found`, body["message"])
		_, err = srv.Get("namespaces", "", "evicted")
		assert.NoError(t, err)
		apitest.Do(t, srv, "POST", "/apis/authorization.k8s.io/v1/namespaces/reviewed/localsubjectaccessreviews", `{"metadata":{"namespace":"reviewed"},"spec":{"user":"a","resourceAttributes":{"namespace":"reviewed"}}}`)
		_, err = srv.Get("namespaces", "", "reviewed")
		assert.NoError(t, err)
		_, body = apitest.Do(t, srv, "POST", "/api/v1/namespaces/A/configmaps", configMap)
		assert.Contains(t, body["message"], `configmaps "c" is forbidden: Namespace "A" is invalid: metadata.name: Invalid value: "A"`)
	})
	t.Run("without NamespaceLifecycle", func(t *testing.T) {
		srv := start(t, fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"NamespaceLifecycle"}}))
		code, _ := apitest.Do(t, srv, "POST", elsewhere, configMap)
		assert.Equal(t, http.StatusCreated, code)
	})
	t.Run("AlwaysPullImages", func(t *testing.T) {
		code, body := apitest.Do(t, start(t, fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"AlwaysPullImages"}})), "POST", pods, pod)
		require.Equal(t, http.StatusCreated, code)
		container := body["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		assert.Equal(t, "Always", container["imagePullPolicy"])
	})
	t.Run("without DefaultTolerationSeconds", func(t *testing.T) {
		code, body := apitest.Do(t, start(t, fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"DefaultTolerationSeconds"}})), "POST", pods, pod)
		require.Equal(t, http.StatusCreated, code)
		assert.NotContains(t, body["spec"], "tolerations")
	})
	t.Run("PodTolerationRestriction", func(t *testing.T) {
		srv := start(t, fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"PodTolerationRestriction"}}),
			fakeapi.WithObjects(`{apiVersion: v1, kind: Namespace, metadata: {name: limited, annotations: {scheduler.alpha.kubernetes.io/tolerationsWhitelist: '[{"key":"a"}]'}}}`))
		code, body := apitest.Do(t, srv, "POST", "/api/v1/namespaces/limited/pods", pod)
		assert.Equal(t, http.StatusInternalServerError, code)
		assert.Equal(t, "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist", body["message"])

		guaranteed := `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1Mi"}}}]}}`
		require.Equal(t, http.StatusCreated, apitest.Code(t, srv, "POST", pods, guaranteed))
		code, body = apitest.Do(t, srv, "PATCH", pods+"/b", `{"metadata":{"labels":{"a":"b"}}}`) // shares the spec with the stored pod
		assert.Equal(t, http.StatusOK, code)
		assert.Contains(t, fmt.Sprint(body["spec"]), "node.kubernetes.io/memory-pressure")
	})
	t.Run("EventRateLimit", func(t *testing.T) {
		srv := start(t, fakeapi.WithManualClock(time.Unix(1e9, 0)), fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"EventRateLimit"}, AdmissionControlConfigFile: writeFile(t, "admission.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- {name: EventRateLimit, configuration: {apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: [{type: Namespace, qps: 1, burst: 1}]}}
`)}))
		create := func(srv *fakeapi.Server) int {
			code, _ := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/events", `{"metadata":{"generateName":"e-"},"involvedObject":{"namespace":"default"}}`)
			return code
		}
		assert.Equal(t, http.StatusCreated, create(srv))
		assert.Equal(t, http.StatusTooManyRequests, create(srv))
		fork := srv.Fork(t)
		assert.Equal(t, http.StatusTooManyRequests, create(fork))
		require.NoError(t, srv.Clock().Advance(time.Second))
		assert.Equal(t, http.StatusCreated, create(srv))
		assert.Equal(t, http.StatusTooManyRequests, create(fork))
	})
	t.Run("without webhooks", func(t *testing.T) {
		srv := start(t, fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"ValidatingAdmissionWebhook"}}))
		code, _ := apitest.Do(t, srv, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{"metadata":{"name":"w"},"webhooks":[{"name":"a.example.com",
			"clientConfig":{"url":"https://127.0.0.1:1"},"admissionReviewVersions":["v1"],"sideEffects":"None",
			"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}]}`)
		require.Equal(t, http.StatusCreated, code)
		code, _ = apitest.Do(t, srv.Fork(t), "POST", configMaps, configMap)
		assert.Equal(t, http.StatusCreated, code)
	})
	_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"Magic"}}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
	assert.EqualError(t, err, `fakeapi: enable-admission-plugins plugin "Magic" is unknown`)
}
