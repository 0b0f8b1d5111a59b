package requests_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestZpages(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(start), fakeapi.WithAPIServer(apiserver.Config{Flags: map[string]string{"v": "2", "anonymous-auth": "true"}}))
	srv.Clock().Advance(time.Hour + 2*time.Minute + 3*time.Second)
	const (
		text    = "text/plain; charset=utf-8"
		warning = "\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n"
		refused = `"only the following media types are accepted: application/json, application/yaml, text/plain"`
		statusz = `"metadata":{"name":"apiserver"},"startTime":"2026-01-02T03:04:05Z","uptimeSeconds":3723,"goVersion":"go1.`
		paths   = `,"emulationVersion":"1.37","paths":["/flagz","/healthz","/livez","/metrics","/readyz","/statusz","/version"]}` + "\n"
	)
	for _, row := range []struct {
		name, path, accept string
		code               int
		contentType        string
		has                []string
		warns              bool
	}{
		{"no media type", "/statusz", "", 200, text, []string{"\napiserver statusz" + warning + "\nStarted", "Fri Jan  2 03:04:05 UTC 2026", "1 hr 02 min 03 sec", "/flagz /healthz /livez"}, false},
		{"any media type", "/flagz", "*/*", 200, text, []string{"\napiserver flagz" + warning + "anonymous-auth", "true\nv", "2\n"}, false},
		{"object", "/statusz", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz", 200, "application/json;g=config.k8s.io;v=v1beta1;as=Statusz", []string{`{"kind":"Statusz","apiVersion":"config.k8s.io/v1beta1",` + statusz, paths}, false},
		{"deprecated version", "/flagz", "application/json;v=v1alpha1;g=config.k8s.io;as=Flagz,text/plain", 200, "application/json;g=config.k8s.io;v=v1alpha1;as=Flagz", []string{`{"kind":"Flagz","apiVersion":"config.k8s.io/v1alpha1","metadata":{"name":"apiserver"},"flags":{"anonymous-auth":"true","v":"2"}}` + "\n"}, true},
		{"YAML", "/flagz", "application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz", 200, "application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz", []string{"flags:\n  anonymous-auth: \"true\"\n"}, false},
		{"no kind", "/statusz", "application/json", 406, "application/json", []string{refused}, false},
		{"kind of the other page", "/statusz", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz", 406, "application/json", []string{refused}, false},
		{"unknown version before any", "/statusz", "application/json;v=v1;g=config.k8s.io;as=Statusz,*/*", 200, text, []string{"statusz"}, false},
		{"text with a kind", "/statusz", "text/plain;as=Statusz", 406, "application/json", []string{refused}, false},
		{"CBOR without its gate", "/statusz", "application/cbor;v=v1beta1;g=config.k8s.io;as=Statusz", 406, "application/json", []string{refused}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := http.NewRequest("GET", srv.URL+row.path, nil)
			require.NoError(t, err)
			if row.accept != "" {
				req.Header.Set("Accept", row.accept)
			}
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, row.code, resp.StatusCode)
			assert.Equal(t, row.contentType, resp.Header.Get("Content-Type"))
			for _, has := range row.has {
				assert.Contains(t, string(body), has)
			}
			assert.Equal(t, row.warns, resp.Header.Get("Warning") != "")
		})
	}
}

func TestZpagesAreGated(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"ComponentStatusz": false}}))
	code, _ := apitest.Do(t, srv, "GET", "/statusz", "")
	assert.Equal(t, 404, code)
	code, index := apitest.Do(t, srv, "GET", "/", "")
	assert.Equal(t, 200, code)
	assert.Contains(t, index["paths"], "/flagz")
	assert.NotContains(t, index["paths"], "/statusz")
}
