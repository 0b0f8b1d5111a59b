//go:build go1.24

package fakeapi_test

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// index returns the index of the control endpoint in a media type.
func index(t *testing.T, srv *fakeapi.Server, path, accept string) (contentType, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+path, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", b)
	return resp.Header.Get("Content-Type"), string(b)
}

func TestControlIndex(t *testing.T) {
	srv := fakeapi.Start(t)
	for _, row := range []struct {
		name, path, accept, contentType string
		want                            []string
	}{
		{"browser", "/debug/fakeapi/", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8", []string{
			"<!doctype html>", `<script type="application/json" id="story">null</script>`,
		}},
		{"curl", "/debug/fakeapi/", "*/*", "text/plain; charset=utf-8", []string{
			"\nPOST   /debug/fakeapi/compact: removes old versions",
			"\n       curl " + srv.URL + "/debug/fakeapi/clock --json '{\"advance\": \"10m\"}'\n",
			"\n       curl -X DELETE '" + srv.URL + "/debug/fakeapi/lag?resource=pods'\n",
		}},
		{"without a slash", "/debug/fakeapi", "*/*", "text/plain; charset=utf-8", []string{"revision "}},
		{"JSON", "/debug/fakeapi/", "application/json", "application/json", []string{`"openapi": "3.0.3"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			contentType, body := index(t, srv, row.path, row.accept)
			assert.Equal(t, row.contentType, contentType)
			for _, want := range row.want {
				assert.Contains(t, body, want)
			}
		})
	}
	for _, row := range []struct {
		name, method, path, body string
		code                     int
		message                  string
	}{
		{"method of the index", "POST", "/debug/fakeapi/", "", 405, "the control endpoint has no POST /debug/fakeapi/; use GET"},
		{"method", "GET", "/debug/fakeapi/compact", "", 405, "the control endpoint has no GET /debug/fakeapi/compact; use POST"},
		{"several methods", "PUT", "/debug/fakeapi/clock", "", 405, "the control endpoint has no PUT /debug/fakeapi/clock; use GET or POST"},
		{"path", "GET", "/debug/fakeapi/none", "", 404, "the control endpoint has no /debug/fakeapi/none; GET /debug/fakeapi/ lists its requests"},
		{"truncated body", "POST", "/debug/fakeapi/compact", `{"watch`, 400, "the body cannot be decoded: unexpected EOF"},
		{"unknown field", "POST", "/debug/fakeapi/compact", `{"watch":true}`, 400, `the body cannot be decoded: json: unknown field "watch"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, row.method, row.path, row.body)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.message, answer["message"])
		})
	}
}

// Each example of the index succeeds.
func TestControlIndexExamples(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithProcess("manager", func(os.Signal) error { return nil }))
	backdoor.Of(srv).ShowSearches(oneSearch{})
	_, body := index(t, srv, "/debug/fakeapi/", "*/*")
	example := regexp.MustCompile(`curl --insecure (?:-X (\w+) )?'?` + regexp.QuoteMeta(srv.URL) + `([^' \n]*)'?(?: --json '(.*)')?\n`)
	examples := example.FindAllStringSubmatch(body, -1)
	assert.Len(t, examples, strings.Count(body, "curl "))
	assert.Greater(t, len(examples), 10)
	for _, m := range examples {
		method := m[1]
		switch {
		case method == "" && m[3] == "":
			method = "GET"
		case method == "":
			method = "POST"
		}
		code, answer := apitest.Do(t, srv, method, m[2], m[3])
		assert.Equal(t, http.StatusOK, code, "%s %s: %v", method, m[2], answer)
	}
}

// The story is JSON, a page for browsers, and text for a client that accepts it by name.
func TestControlStoryTypes(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	for accept, want := range map[string]string{"*/*": `{"format":1,`, "text/html,*/*": "<!doctype html>", "text/plain": "the test store configmaps default/a"} {
		_, body := index(t, srv, "/debug/fakeapi/story", accept)
		assert.Contains(t, body, want, accept)
	}
}

// The pages of the control endpoint run only their own scripts, and no other page shows them in
// a frame.
func TestControlPagesHavePolicies(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, path := range []string{"/debug/fakeapi/", "/debug/fakeapi/story"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("Accept", "text/html")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		policy := resp.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'; ")
		assert.Contains(t, policy, "; style-src 'sha256-")
		assert.Contains(t, policy, "; frame-ancestors 'none'")
		assert.NotContains(t, policy, "unsafe")
		assert.Equal(t, "DENY", resp.Header.Get("X-Frame-Options"))
		assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
	}
}
