//go:build go1.24

package apitest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// GetAs gets a path in a media type, as Accept names it, and returns the header and the body of the answer.
func GetAs(t *testing.T, srv *fakeapi.Server, path, accept string) (http.Header, string) {
	r, err := http.NewRequest("GET", srv.URL+path, nil)
	require.NoError(t, err)
	r.Header.Set("Accept", accept)
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.Header, string(body)
}

// Code makes the request of Do and returns the status code.
func Code(t *testing.T, srv *fakeapi.Server, method, path, body string) int {
	t.Helper()
	c, _ := Do(t, srv, method, path, body)
	return c
}

// Do makes a request with a JSON body, a merge patch for PATCH, and returns the
// status code and the decoded body.
func Do(t testing.TB, srv *fakeapi.Server, method, path, body string) (int, fakeapi.Object) {
	t.Helper()
	return DoWith(t, srv.Client(), method, srv.URL+path, body)
}

// DoWith is Do with a client of its own and a complete URL.
func DoWith(t testing.TB, client *http.Client, method, url, body string) (int, fakeapi.Object) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	switch {
	case method == http.MethodPatch:
		req.Header.Set("Content-Type", "application/merge-patch+json")
	case body != "":
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	return resp.StatusCode, Answer(t, resp)
}

// Answer decodes the body of a response; nil if it is not JSON.
func Answer(t testing.TB, resp *http.Response) fakeapi.Object {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out fakeapi.Object
	_ = json.Unmarshal(b, &out)
	return out
}

// GetText gets a path and returns the body as text.
func GetText(t testing.TB, srv *fakeapi.Server, path string) (*http.Response, string) {
	t.Helper()
	resp, err := srv.Client().Get(srv.URL + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// Metric returns the value of a metric in the text of /metrics, by its name and labels.
func Metric(t testing.TB, text, name string) float64 {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n"+name+" ")
	require.True(t, found, "%s in %s", name, text)
	line, _, _ := strings.Cut(rest, "\n")
	value, err := strconv.ParseFloat(line, 64)
	require.NoError(t, err)
	return value
}

// headers is a transport that sets headers: pairs of a name and a value.
type headers struct {
	pairs []string
	next  http.RoundTripper
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for i := 0; i < len(h.pairs); i += 2 {
		r.Header.Del(h.pairs[i])
	}
	for i := 0; i < len(h.pairs); i += 2 {
		r.Header.Add(h.pairs[i], h.pairs[i+1])
	}
	return h.next.RoundTrip(r)
}

// DoWithHeaders is Do with headers: pairs of a name and a value.
func DoWithHeaders(t testing.TB, srv *fakeapi.Server, method, path, body string, pairs ...string) (int, fakeapi.Object) {
	t.Helper()
	client := *srv.Client()
	client.Transport = headers{pairs, client.Transport}
	return DoWith(t, &client, method, srv.URL+path, body)
}
