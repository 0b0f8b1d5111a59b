//go:build go1.24

package fakeapi_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// Gets and deletions of the newest state call the conversion webhook, although the object has
// been converted before. Lists do not.
func TestConversionWebhookFails(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), hooked())
	var down atomic.Bool
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Convert: []string{"toys.example.com"}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		admit(w, r)
	})})
	require.NoError(t, err)
	const v1, v2 = "/apis/example.com/v1/namespaces/default/toys", "/apis/example.com/v2/namespaces/default/toys"
	code, _ := do(t, srv, "POST", v2, `{"apiVersion":"example.com/v2","kind":"Toy","metadata":{"name":"x"}}`)
	require.Equal(t, http.StatusCreated, code)
	code, _ = do(t, srv, "GET", v2, "")
	require.Equal(t, http.StatusOK, code)
	down.Store(true)
	for _, tt := range []struct {
		method, path string
		code         int
	}{
		{"GET", v2 + "/x", 500}, {"GET", v1 + "/x", 200}, {"GET", v2 + "/x?resourceVersion=0", 200}, {"GET", v2, 200},
		{"DELETE", v2 + "/x?dryRun=All", 500}, {"DELETE", v2 + "/x", 500}, {"DELETE", v1 + "/x", 200},
	} {
		code, obj := do(t, srv, tt.method, tt.path, "")
		assert.Equal(t, tt.code, code, "%s %s: %v", tt.method, tt.path, obj["message"])
	}
}
