//go:build go1.25

package custom_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A definition whose objects cannot be converted stays, and goes when they can be.
func TestCustomResourceDeletionFails(t *testing.T) {
	definition := func(storage string) string {
		return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"toys.example.com"},"spec":{
			"group":"example.com","scope":"Namespaced","names":{"plural":"toys","singular":"toy","kind":"Toy","listKind":"ToyList"},
			"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"shop","name":"hooks","path":"/convert","port":443}}}},
			"versions":[{"name":"v1","served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
			storage == "v1", storage == "v2")
	}
	const (
		path = apitest.DefinitionsPath + "/toys.example.com"
		toys = "/apis/example.com/v1/namespaces/default/toys"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(apitest.Admit)})
	require.NoError(t, err)
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, definition("v1")))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", toys, `{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"a"}}`))
	require.Equal(t, 200, apitest.Code(t, srv, "PATCH", path, definition("v2")))
	down := apitest.Inject(t, srv, faults.Fault{Webhook: "*/convert", Code: 503})
	require.Equal(t, 200, apitest.Code(t, srv, "DELETE", path, ""))

	c, obj := apitest.Do(t, srv, "GET", path, "")
	require.Equal(t, 200, c, "the definition stays")
	conditions := fmt.Sprint(obj["status"].(map[string]any)["conditions"])
	assert.Contains(t, conditions, "reason:InstanceDeletionFailed status:True type:Terminating")
	assert.Contains(t, conditions, "message:could not list instances: storage is (re)initializing: failed to list <unspecified>: failed to read one or more toys.example.com from the storage: StorageError: corrupt object, ")
	assert.Equal(t, 200, apitest.Code(t, srv, "GET", toys+"/a", ""), "so does its object")

	fork := srv.Fork(t)
	require.NoError(t, srv.Clock().Advance(5*time.Millisecond))
	apitest.Eventually(func() bool { return down.Hits() == 2 })
	down.Remove()
	apitest.Eventually(func() bool {
		require.NoError(t, srv.Clock().Advance(10*time.Millisecond))
		return apitest.Code(t, srv, "GET", path, "") == 404
	})
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, definition("v1")))
	_, obj = apitest.Do(t, srv, "GET", toys, "")
	assert.Empty(t, obj["items"])

	_, err = fork.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(apitest.Admit)})
	require.NoError(t, err)
	fork.Injections()[0].Remove()
	apitest.Eventually(func() bool {
		require.NoError(t, fork.Clock().Advance(10*time.Millisecond))
		return apitest.Code(t, fork, "GET", path, "") == 404
	})
}

// Close ends the calls of conversion webhooks of the control endpoint.
func TestCloseDuringConversion(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), apitest.Hooked(),
		fakeapi.WithObjects(`{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"a","namespace":"default"}}`))
	called := make(chan struct{})
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(called)
		<-r.Context().Done()
	})})
	require.NoError(t, err)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		resp, err := srv.Client().Post(srv.URL+"/debug/fakeapi/status", "application/json", strings.NewReader(`{"resource":"toys","namespace":"default","name":"a","ready":true}`))
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-called
	srv.Close()
	<-answered
}
