package access_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Answers name the request, and the FlowSchema and the priority level that
// kube-apiserver would have served it with.
func TestHeaders(t *testing.T) {
	srv := apitest.StartRBAC(t,
		`{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema","metadata":{"name":"devs"},"spec":{"matchingPrecedence":50,"priorityLevelConfiguration":{"name":"workload-low"},"rules":[{"subjects":[{"kind":"User","user":{"name":"alice"}}],"resourceRules":[{"verbs":["list"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"]}]}]}}`)
	const group = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	names := map[string]string{"": ""}
	for _, list := range []string{"flowschemas", "prioritylevelconfigurations"} {
		_, all := apitest.DoWithHeaders(t, srv, "GET", group+list, "", apitest.AsRoot...)
		for _, o := range all["items"].([]any) {
			meta := o.(map[string]any)["metadata"].(map[string]any)
			names[meta["uid"].(string)] = meta["name"].(string)
		}
	}
	const pods = "/api/v1/namespaces/default/pods"
	get := func(path, token string, headers ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequest("GET", srv.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		return resp
	}
	for _, tt := range []struct {
		name, path, token      string
		code                   int
		schema, level, nosniff string
	}{
		{"administrator", pods, "root-token", 200, "exempt", "exempt", ""},
		{"by an own FlowSchema", pods, "alice-token", 403, "devs", "workload-low", "nosniff"},
		{"by no other", pods + "/x", "alice-token", 403, "global-default", "global-default", "nosniff"},
		{"unauthenticated", pods, "nobody", 401, "", "", ""},
		{"long-running", pods + "/x/log", "root-token", 404, "", "", ""},
		{"watch", pods + "?watch=1&resourceVersion=x", "root-token", 500, "exempt", "exempt", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := get(tt.path, tt.token)
			assert.Equal(t, tt.code, resp.StatusCode)
			assert.Equal(t, tt.schema, names[resp.Header.Get("X-Kubernetes-Pf-Flowschema-Uid")])
			assert.Equal(t, tt.level, names[resp.Header.Get("X-Kubernetes-Pf-Prioritylevel-Uid")])
			assert.Equal(t, tt.nosniff, resp.Header.Get("X-Content-Type-Options"))
			assert.Len(t, resp.Header.Get("Audit-Id"), 36)
		})
	}
	assert.Equal(t, "mine", get("/version", "root-token", "Audit-Id", "mine").Header.Get("Audit-Id"))
	code, _ := apitest.DoWithHeaders(t, srv, "DELETE", group+"flowschemas/devs", "", apitest.AsRoot...)
	assert.Equal(t, 200, code)
	assert.Equal(t, "global-default", names[get(pods, "alice-token").Header.Get("X-Kubernetes-Pf-Flowschema-Uid")], "a deleted FlowSchema matches nothing")
}

// A body that is too long or not well-formed does not break the connection before the
// answer.
func TestUnreadBodies(t *testing.T) {
	srv := fakeapi.Start(t)
	u, err := url.Parse(srv.URL)
	require.NoError(t, err)
	for _, tt := range []struct {
		name, headers, body string
		code                int
		message             string
		close               bool
	}{
		{"somewhat too long", "Content-Length: 3145828\r\n", strings.Repeat("x", 3145828), 413, "Request entity too large: limit is 3145728", false},
		{"far too long", "Content-Length: 5242880\r\n", strings.Repeat("x", 5242880), 413, "Request entity too large: limit is 3145728", true},
		{"no chunk", "Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n", 500, "invalid byte in chunk length", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", u.Host)
			require.NoError(t, err)
			defer conn.Close()
			go io.WriteString(conn, "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+tt.headers+"\r\n"+tt.body)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer resp.Body.Close()
			assert.Equal(t, tt.code, resp.StatusCode)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Contains(t, string(body), `"message":"`+tt.message+`"`)
			assert.Equal(t, tt.close, resp.Close)
		})
	}
}

func TestStrictTransportSecurity(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{StrictTransportSecurity: []string{"max-age=31536000", "includeSubDomains"}}))
	for _, path := range []string{"/healthz", "/api/v1/pods", "/none"} {
		resp, err := srv.Client().Get(srv.URL + path)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, "max-age=31536000; includeSubDomains", resp.Header.Get("Strict-Transport-Security"), path)
	}
	for _, directive := range []string{"", "max-age", "a=b"} {
		_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{StrictTransportSecurity: []string{directive}}))
		assert.ErrorIs(t, err, fakeapi.ErrInvalidOption, directive)
	}
}
