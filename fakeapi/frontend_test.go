package fakeapi_test

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
)

func TestNewFrontEnd(t *testing.T) {
	for name, options := range map[string][]fakeapi.Option{
		"in memory": {fakeapi.WithInMemory()}, "HTTP": nil, "HTTPS": {fakeapi.WithTLS()},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, options...)
			var passed int
			started, err := backdoor.Of(srv).NewFrontEnd(func(_ string, next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					passed++
					next.ServeHTTP(w, r)
				})
			})
			require.NoError(t, err)
			front := started.(*fakeapi.Server)

			resp, err := front.Client().Post(front.URL+"/api/v1/namespaces/default/configmaps", "application/json",
				strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`))
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, http.StatusCreated, resp.StatusCode)
			assert.Equal(t, 1, passed)
			_, err = srv.Get("configmaps", "default", "a")
			assert.NoError(t, err, "the state is the same")

			watch, err := front.Client().Get(front.URL + "/api/v1/configmaps?watch=1")
			require.NoError(t, err)
			front.Close()
			_, _ = io.Copy(io.Discard, watch.Body) // it ends
			watch.Body.Close()
			_, err = front.Client().Get(front.URL + "/api/v1/configmaps")
			assert.ErrorIs(t, err, syscall.ECONNREFUSED)

			resp, err = srv.Client().Get(srv.URL + "/api/v1/namespaces/default/configmaps/a")
			require.NoError(t, err, "the server continues")
			resp.Body.Close()
			assert.Equal(t, http.StatusOK, resp.StatusCode)
		})
	}
}
