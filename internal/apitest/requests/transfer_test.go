package requests_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestTransferEncoding checks that only short answers have a Content-Length. net/http sets it for
// those that fit its buffer, of 2 KiB in HTTP/1.1 and of 4 KiB in HTTP/2.
func TestTransferEncoding(t *testing.T) {
	srv := fakeapi.Start(t)
	long := strings.Repeat("x", 6000)
	for _, tt := range []struct {
		name, method, path, body string
		chunked                  bool
	}{
		{"short object", "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`, false},
		{"long object", "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"b"},"data":{"k":"` + long + `"}}`, true},
		{"long list", "GET", apitest.ConfigMapsPath, "", true},
		{"long error", "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"A` + long + `"}}`, true},
		{"metrics", "GET", "/metrics", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			assert.Equal(t, tt.chunked, resp.ContentLength < 0)
			if tt.path == "/metrics" {
				assert.NotEmpty(t, resp.Header.Get("Process-Start-Time-Unix"))
			}
		})
	}
}
