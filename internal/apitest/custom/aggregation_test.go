package custom_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

const apiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices"

// aggregated starts an aggregated API server of the group flowers.example.com. Its answers show the
// request.
func aggregated(t *testing.T) *httptest.Server {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/apis/flowers.example.com/v1":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"flowers.example.com/v1","resources":[
				{"name":"roses","singularName":"rose","namespaced":true,"kind":"Rose","verbs":["get","list"]},
				{"name":"roses/status","singularName":"","namespaced":true,"kind":"Rose","verbs":["get"]}]}`)
		case "/apis/flowers.example.com/v1/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/apis/flowers.example.com/v1/namespaces/default/roses/a/echo":
			if r.Header.Get("Upgrade") == "" {
				return
			}
			w.Header().Set("Upgrade", r.Header.Get("Upgrade"))
			w.Header().Set("Connection", "Upgrade")
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			line, _ := rw.ReadString('\n')
			io.WriteString(conn, line)
		case "/apis/flowers.example.com/v1/namespaces/default/roses/a/growth":
			io.WriteString(w, "bud")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/apis/flowers.example.com/v1/namespaces/default/roses":
			w.Header().Set("X-Seen", strings.TrimSpace(fmt.Sprintln(r.Header["X-Remote-User"], r.Header["X-Remote-Group"], r.Header["X-Remote-Uid"], r.Header["X-Remote-Extra-Example.com%2fcolor"],
				r.Header["Authorization"], r.Header["Impersonate-User"], len(r.Header["Audit-Id"]), r.URL.RawQuery, r.TLS.ServerName, len(r.TLS.PeerCertificates))))
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, "tea")
		default:
			http.NotFound(w, r)
		}
	}))
	srv.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

// apiService is an APIService of a port of the Service default/flowers with the beginning of its
// spec.
func apiService(spec, port string) string {
	return `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.flowers.example.com"},"spec":{` + spec + `,
		"group":"flowers.example.com","version":"v1","groupPriorityMinimum":500,"versionPriority":10,
		"service":{"namespace":"default","name":"flowers","port":` + port + `}}}`
}

const insecure = `"insecureSkipTLSVerify":true`

// available returns the condition Available of the APIService after the server has settled, ""
// if it has none.
func available(t *testing.T, srv *fakeapi.Server) string {
	require.NoError(t, srv.Settle(context.Background()))
	_, obj := apitest.Do(t, srv, "GET", apiServicesPath+"/v1.flowers.example.com", "")
	conditions, _ := obj["status"].(map[string]any)["conditions"].([]any)
	if len(conditions) == 0 {
		return ""
	}
	require.Len(t, conditions, 1)
	c := conditions[0].(map[string]any)
	assert.Equal(t, "Available", c["type"])
	return fmt.Sprint(c["status"], " ", c["reason"], ": ", c["message"])
}

func TestForward(t *testing.T) {
	const roses = "/apis/flowers.example.com/v1/namespaces/default/roses"
	backend := aggregated(t)
	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{NoAnonymous: true}}), fakeapi.WithRBAC(),
		fakeapi.WithWebhookService("default", "flowers", backend.Listener.Addr().String()))
	admin := srv.Credentials(fakeapi.User{Name: "boss", Groups: []string{"system:masters"}}).BearerToken
	get := func(path, token string, pairs ...string) (*http.Response, string) {
		r, err := http.NewRequest("GET", srv.URL+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Set(pairs[i], pairs[i+1])
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(body)
	}
	resp, body := get(roses, admin)
	assert.Equal(t, 404, resp.StatusCode, "no APIService")
	assert.Equal(t, "404 page not found\n", body)

	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)
	require.NoError(t, srv.Settle(context.Background()))

	for _, row := range []struct {
		name, path, token string
		headers           []string
		code              int
		body, seen        string
	}{
		{"user", roses + "?b=1&a=2", srv.Credentials(fakeapi.User{Name: "boss", UID: "u", Groups: []string{"system:masters"}, Extra: map[string][]string{"example.com/color": {"red"}}}).BearerToken, nil,
			418, "tea", "[boss] [system:masters system:authenticated] [u] [red] [] [] 1 a=2&b=1 flowers.default.svc 0"},
		{"headers of a client that are not for it", roses, admin, []string{"X-Remote-User", "root", "X-Remote-Group", "root", "X-Remote-Extra-Example.com%2fcolor", "blue"},
			418, "tea", "[boss] [system:masters system:authenticated] [] [] [] [] 1  flowers.default.svc 0"},
		{"impersonation", roses, admin, []string{"Impersonate-User", "bob", "Impersonate-Group", "system:masters"},
			418, "tea", "[bob] [system:masters system:authenticated] [] [] [] [] 1  flowers.default.svc 0"},
		{"user without permission", roses, srv.Credentials(fakeapi.User{Name: "bob"}).BearerToken, nil, 403, "", ""},
		{"no user", roses, "unknown", nil, 401, "", ""},
		{"redirect", "/apis/flowers.example.com/v1/moved", admin, nil, 502, "the backend attempted to redirect this request, which is not permitted", ""},
		{"path that it does not have", "/apis/flowers.example.com/v1/other", admin, nil, 404, "404 page not found\n", ""},
		{"version that no APIService has", "/apis/flowers.example.com/v2/roses", admin, nil, 404, "404 page not found\n", ""},
		{"no upgrade", roses + "/a/echo", admin, []string{"Connection", "Upgrade"}, 503, "invalid upgrade response: status code 200\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			resp, body := get(row.path, row.token, row.headers...)
			assert.Equal(t, row.code, resp.StatusCode, body)
			assert.Equal(t, row.seen, resp.Header.Get("X-Seen"))
			if row.body != "" {
				assert.Equal(t, row.body, body)
			}
		})
	}
	t.Run("changed protocol", func(t *testing.T) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s/a/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n", roses, admin)
		r := bufio.NewReader(conn)
		resp, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		assert.Equal(t, 101, resp.StatusCode)
		assert.Equal(t, "SPDY/3.1", resp.Header.Get("Upgrade"))
		fmt.Fprintln(conn, "hello")
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "hello\n", line)
	})
	t.Run("unavailable", func(t *testing.T) {
		backend.Close()
		resp, body := get(roses, admin)
		assert.Equal(t, 503, resp.StatusCode)
		assert.Contains(t, body, "error trying to reach service: dial tcp ")
	})
	t.Run("deleted", func(t *testing.T) {
		require.NoError(t, srv.Remove("apiservices.apiregistration.k8s.io", "", "v1.flowers.example.com"))
		resp, body := get(roses, admin)
		assert.Equal(t, 404, resp.StatusCode)
		assert.Equal(t, "404 page not found\n", body)
	})
}

// The headers X-Forwarded-Host and -Proto name the aggregated API server, which the Location of an answer
// names, too. An answer to an upgrade is the one of the aggregated API server.
func TestForwardedHeaders(t *testing.T) {
	backend := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Seen", fmt.Sprint(r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-Uri"], r.Header["Accept-Encoding"], r.Header["User-Agent"]))
		h.Set("Location", r.URL.Query().Get("location"))
		switch {
		case r.Header.Get("Upgrade") == "refuse":
			w.WriteHeader(http.StatusForbidden)
		case r.Header.Get("Upgrade") != "":
			h.Set("Connection", "Upgrade")
			h.Set("Upgrade", r.Header.Get("Upgrade"))
			w.WriteHeader(http.StatusSwitchingProtocols)
		}
	}))
	defer backend.Close()
	srv := fakeapi.Start(t, fakeapi.WithObjects(apiService(insecure, "443")), fakeapi.WithWebhookService("default", "flowers", backend.Listener.Addr().String()))
	require.NoError(t, srv.Settle(context.Background()))
	const roses = "/apis/flowers.example.com/v1/roses"
	for _, row := range []struct{ name, query, headers, location, seen string }{
		{"path", "?location=/a", "", "https://flowers.default.svc:443/a", "[flowers.default.svc:443] [https] [" + roses + "] [gzip] []"},
		{"relative path", "?location=a", "", "a", "[flowers.default.svc:443] [https] [" + roses + "] [gzip] []"},
		{"same host", "?location=http://flowers.default.svc:443/a", "", "https://flowers.default.svc:443/a", "[flowers.default.svc:443] [https] [" + roses + "] [gzip] []"},
		{"other host", "?location=http://other/a", "", "http://other/a", "[flowers.default.svc:443] [https] [" + roses + "] [gzip] []"},
		{"headers of a client", "", "X-Forwarded-Host: a\r\nX-Forwarded-Proto: b\r\nUser-Agent: c\r\n", "", "[flowers.default.svc:443] [https] [" + roses + "] [gzip] [c]"},
		{"upgrade", "?location=/a", "Connection: Upgrade\r\nUpgrade: a\r\nX-Forwarded-Host: a\r\n", "/a", "[a] [] [] [] [Go-http-client/1.1]"},
		{"refused upgrade", "", "Connection: Upgrade\r\nUpgrade: refuse\r\n", "", "[] [] [] [] [Go-http-client/1.1]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
			require.NoError(t, err)
			defer conn.Close()
			fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", roses, row.query, srv.Credentials(fakeapi.User{Name: "a", Groups: []string{"system:masters"}}).BearerToken, row.headers)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			assert.Equal(t, row.seen, resp.Header.Get("X-Seen"))
			assert.Equal(t, row.location, resp.Header.Get("Location"))
			assert.Equal(t, resp.StatusCode == http.StatusOK, resp.Header.Get("Cache-Control") != "")
		})
	}
}

// Requests to an aggregated API server share a connection.
func TestForwardByOneConnection(t *testing.T) {
	var opened atomic.Int32
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	backend.EnableHTTP2 = true
	backend.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	backend.StartTLS()
	defer backend.Close()
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apiService(insecure, "443")),
		fakeapi.WithWebhookService("default", "flowers", backend.Listener.Addr().String()))
	require.NoError(t, srv.Settle(context.Background()))
	before := opened.Load()
	for range 10 {
		_, body := apitest.GetText(t, srv, "/apis/flowers.example.com/v1/namespaces/default/roses")
		assert.Equal(t, "HTTP/2.0", body)
	}
	assert.Equal(t, before, opened.Load())
}

// A client in memory reads a stream of an aggregated API server before it ends.
func TestForwardStreamInMemory(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithWebhookService("default", "flowers", aggregated(t).Listener.Addr().String()))
	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)
	require.NoError(t, srv.Settle(context.Background()))
	resp, err := srv.Client().Get(srv.URL + "/apis/flowers.example.com/v1/namespaces/default/roses/a/growth")
	require.NoError(t, err)
	defer resp.Body.Close()
	text := make([]byte, len("bud"))
	_, err = io.ReadFull(resp.Body, text)
	require.NoError(t, err)
	assert.Equal(t, "bud", string(text))
}

func TestAPIServiceAvailability(t *testing.T) {
	backend := aggregated(t)
	host, port, err := net.SplitHostPort(backend.Listener.Addr().String())
	require.NoError(t, err)
	bundle := `"caBundle":"` + base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: backend.Certificate().Raw})) + `"`
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed.Close()

	service := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"default","name":"flowers"},"spec":` + spec + `}`
	}
	clusterIP := service(`{"type":"ClusterIP","clusterIP":"10.0.0.9","ports":[{"name":"api","port":443}]}`)
	slice := func(endpoints string) string {
		return `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"namespace":"default","name":"flowers-a","labels":{"kubernetes.io/service-name":"flowers"}},
			"addressType":"IPv4","ports":[{"name":"api","port":` + port + `}],"endpoints":` + endpoints + `}`
	}
	external := service(`{"type":"ExternalName","externalName":"` + host + `","ports":[{"port":` + port + `}]}`)
	for _, row := range []struct {
		name    string
		spec    string
		port    string
		address string // of WithWebhookService
		objects []string
		want    string
	}{
		{"no Service", insecure, "443", "", nil, `False ServiceNotFound: service/flowers in "default" is not present`},
		{"other port", insecure, port, "", []string{clusterIP}, `False ServicePortError: service/flowers in "default" is not listening on port ` + port},
		{"no EndpointSlices", insecure, "443", "", []string{clusterIP}, `False EndpointsNotFound: cannot find endpointslices for service/flowers in "default"`},
		{"no endpoints", insecure, "443", "", []string{clusterIP, slice(`[]`)}, `False MissingEndpoints: endpointslices for service/flowers in "default" have no addresses with port name "api"`},
		{"endpoints not ready", insecure, "443", "", []string{clusterIP, slice(`[{"addresses":["127.0.0.1"],"conditions":{"ready":false}}]`)},
			`False MissingEndpoints: endpointslices for service/flowers in "default" have no addresses with port name "api"`},
		{"endpoint", insecure, "443", "", []string{clusterIP, slice(`[{"addresses":["127.0.0.1"]}]`)}, "True Passed: all checks passed"},
		{"external name", insecure, port, "", []string{external}, "True Passed: all checks passed"},
		{"address", insecure, "443", backend.Listener.Addr().String(), nil, "True Passed: all checks passed"},
		{"certificate of another name", bundle, "443", backend.Listener.Addr().String(), nil, `False FailedDiscoveryCheck: failing or missing response from ` +
			`https://flowers.default.svc:443/apis/flowers.example.com/v1: Get "https://flowers.default.svc:443/apis/flowers.example.com/v1": ` +
			`tls: failed to verify certificate: x509: certificate is valid for example.com, *.example.com, not flowers.default.svc`},
		{"bundle without a certificate", `"caBundle":"YQ=="`, "443", backend.Listener.Addr().String(), nil, ""},
		{"nobody listens", insecure, "443", closed.Addr().String(), nil, `False FailedDiscoveryCheck: failing or missing response from ` +
			`https://flowers.default.svc:443/apis/flowers.example.com/v1: Get "https://flowers.default.svc:443/apis/flowers.example.com/v1": ` +
			`dial tcp ` + closed.Addr().String() + `: connect: connection refused`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			options := []fakeapi.Option{fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch)}
			if row.address != "" {
				options = append(options, fakeapi.WithWebhookService("default", "flowers", row.address))
			}
			srv := fakeapi.Start(t, options...)
			for _, o := range row.objects {
				_, err := srv.Store(o)
				require.NoError(t, err)
			}
			_, err := srv.Store(apiService(row.spec, row.port))
			require.NoError(t, err)
			assert.Equal(t, row.want, available(t, srv))
		})
	}
}

func TestProxyClientCertificate(t *testing.T) {
	issuer := fakeapi.Start(t, fakeapi.WithTLS())
	proxy := issuer.Credentials(fakeapi.User{Name: "front-proxy"})
	files := apiserver.Files{ProxyClientCertificate: filepath.Join(t.TempDir(), "proxy.crt"), ProxyClientKey: filepath.Join(t.TempDir(), "proxy.key")}
	require.NoError(t, os.WriteFile(files.ProxyClientCertificate, proxy.CertData, 0o600))
	require.NoError(t, os.WriteFile(files.ProxyClientKey, proxy.KeyData, 0o600))

	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{Files: &files}), fakeapi.WithWebhookService("default", "flowers", aggregated(t).Listener.Addr().String()))
	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)
	assert.Equal(t, "True Passed: all checks passed", available(t, srv))
	resp, err := srv.Client().Get(srv.URL + "/apis/flowers.example.com/v1/namespaces/default/roses")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Contains(t, resp.Header.Get("X-Seen"), "flowers.default.svc 1")

	require.NoError(t, os.WriteFile(files.ProxyClientKey, []byte("no key"), 0o600))
	_, err = fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{Files: &files}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
}

func TestAPIServiceOfSnapshotsAndForks(t *testing.T) {
	const roses = "/apis/flowers.example.com/v1/namespaces/default/roses"
	options := []fakeapi.Option{fakeapi.WithWebhookService("default", "flowers", aggregated(t).Listener.Addr().String())}
	srv := fakeapi.Start(t, options...)
	empty := srv.Snapshot()
	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)
	assert.Equal(t, "True Passed: all checks passed", available(t, srv))
	var state bytes.Buffer
	require.NoError(t, srv.WriteState(&state))
	code := func(srv *fakeapi.Server) int {
		resp, err := srv.Client().Get(srv.URL + roses)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	fork := srv.Fork(t)
	require.NoError(t, srv.Restore(empty))
	for _, row := range []struct {
		name string
		srv  *fakeapi.Server
		want int
	}{
		{"restored", srv, 404},
		{"fork", fork, 418},
		{"replica", apitest.Replica(t, fork), 418},
		{"state", fakeapi.Start(t, append(options, fakeapi.WithState(&state))...), 418},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, code(row.srv)) })
	}
}

func TestAPIServiceBecomesLocal(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManualClock(apitest.Epoch))
	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)
	assert.Equal(t, `False ServiceNotFound: service/flowers in "default" is not present`, available(t, srv))
	code, obj := apitest.Do(t, srv, "PATCH", apiServicesPath+"/v1.flowers.example.com", `{"spec":{"service":null,"insecureSkipTLSVerify":false}}`)
	require.Equal(t, 200, code, "%v", obj)
	assert.Equal(t, "True Local: Local APIServices are always available", available(t, srv))
}

func TestAggregatedDiscovery(t *testing.T) {
	const list = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	document := func(version string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/apis" && version != "" {
				w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v="+version+";as=APIGroupDiscoveryList")
				fmt.Fprintf(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/%s","items":[{"metadata":{"name":"flowers.example.com"},"versions":[
					{"version":"v1","freshness":"Stale","resources":[{"resource":"roses","scope":"Namespaced","verbs":["get"],"shortNames":["r"],"subresources":[{"subresource":"status","verbs":["get"]}]}]}]}]}`, version)
			}
		}
	}
	const roses = `[{"resource":"roses","responseKind":{"group":"","version":"","kind":""},"scope":"Namespaced","singularResource":"","verbs":["get"],"shortNames":["r"],` +
		`"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":""},"verbs":["get"]}]}]`
	for _, row := range []struct {
		name    string
		handler http.Handler
		want    string
	}{
		{"v2", document("v2"), `{"version":"v1","resources":` + roses + `,"freshness":"Current"}`},
		{"v2beta1", document("v2beta1"), `{"version":"v1","resources":` + roses + `,"freshness":"Current"}`},
		{"not aggregated", aggregated(t).Config.Handler, `{"version":"v1","resources":[{"resource":"roses","responseKind":{"group":"","version":"","kind":"Rose"},"scope":"Namespaced",` +
			`"singularResource":"rose","verbs":["get","list"],"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":"Rose"},"verbs":["get"]}]}],"freshness":"Current"}`},
		{"no document", document(""), `{"version":"v1","freshness":"Stale"}`},
		{"nobody listens", nil, `{"version":"v1","freshness":"Stale"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			backend := httptest.NewTLSServer(row.handler)
			t.Cleanup(backend.Close)
			if row.handler == nil {
				backend.Close()
			}
			srv := fakeapi.Start(t, fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithWebhookService("default", "flowers", backend.Listener.Addr().String()))
			before, _ := apitest.GetAs(t, srv, "/apis", list)
			_, err := srv.Store(apiService(insecure, "443"))
			require.NoError(t, err)
			require.NoError(t, srv.Settle(context.Background()))

			var doc struct {
				Items []struct {
					Metadata struct{ Name string }
					Versions []json.RawMessage
				}
			}
			after, body := apitest.GetAs(t, srv, "/apis", list)
			assert.NotEqual(t, before.Get("Etag"), after.Get("Etag"))
			require.NoError(t, json.Unmarshal([]byte(body), &doc))
			last := doc.Items[len(doc.Items)-1]
			assert.Equal(t, "flowers.example.com", last.Metadata.Name)
			assert.JSONEq(t, row.want, string(last.Versions[0]))

			const group = `"name":"flowers.example.com","versions":[{"groupVersion":"flowers.example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"flowers.example.com/v1","version":"v1"}}`
			_, body = apitest.GetAs(t, srv, "/apis", "application/json")
			assert.True(t, strings.HasSuffix(body, `,{`+group+"]}\n"), body)
			_, body = apitest.GetAs(t, srv, "/apis/flowers.example.com", "application/json")
			assert.Equal(t, `{"kind":"APIGroup","apiVersion":"v1",`+group+"\n", body)
			_, body = apitest.GetAs(t, srv, "/", "")
			assert.Contains(t, body, `"/apis/flowers.example.com",`)
			assert.Contains(t, body, `"/apis/flowers.example.com/v1",`)

			require.NoError(t, srv.Remove("apiservices.apiregistration.k8s.io", "", "v1.flowers.example.com"))
			after, _ = apitest.GetAs(t, srv, "/apis", list)
			assert.Equal(t, before.Get("Etag"), after.Get("Etag"))
		})
	}
}

func TestAggregatedOpenAPI(t *testing.T) {
	const name = "apis/flowers.example.com/v1"
	var served atomic.Int64 // the number of the documents that the server has
	backend := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/openapi/v3":
			assert.Equal(t, "system:aggregator", r.Header.Get("X-Remote-User"))
			fmt.Fprintf(w, `{"paths":{%q:{"serverRelativeURL":"/openapi/v3/%s?hash=%d"},"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1"}}}`, name, name, served.Load())
		case r.URL.Path == "/openapi/v3/"+name:
			io.WriteString(w, "roses of "+r.URL.RawQuery+" for "+r.Header.Get("X-Remote-User"))
		case r.URL.Path == "/openapi/v2":
			assert.Equal(t, "application/json", r.Header.Get("Accept"))
			fmt.Fprintf(w, `{"swagger":"2.0","paths":{"/%s/roses":{"get":{"operationId":"list%d"}},"/apis/other/v1/":{}}}`, name, served.Load())
		case r.URL.Path == "/"+name:
			io.WriteString(w, "{}")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(backend.Close)
	srv := fakeapi.Start(t, fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithWebhookService("default", "flowers", backend.Listener.Addr().String()))
	_, core := apitest.GetAs(t, srv, "/openapi/v3/api/v1", "application/json")
	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)

	for n := range int64(2) {
		require.NoError(t, srv.Settle(context.Background()))
		var index struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		_, body := apitest.GetAs(t, srv, "/openapi/v3", "application/json")
		require.NoError(t, json.Unmarshal([]byte(body), &index))
		assert.Equal(t, fmt.Sprintf("/openapi/v3/%s?hash=%d", name, n), index.Paths[name].ServerRelativeURL)
		assert.Contains(t, index.Paths["api/v1"].ServerRelativeURL, "?hash=", "this server's own document")

		var v2 struct {
			Paths map[string]struct{ Get struct{ OperationID string } }
		}
		_, body = apitest.GetAs(t, srv, "/openapi/v2", "application/json")
		require.NoError(t, json.Unmarshal([]byte(body), &v2))
		assert.Equal(t, fmt.Sprintf("list%d", n), v2.Paths["/"+name+"/roses"].Get.OperationID)
		assert.Contains(t, v2.Paths, "/api/v1/pods")
		assert.NotContains(t, v2.Paths, "/apis/other/v1/")
		served.Store(1)
		require.NoError(t, srv.Clock().Advance(time.Minute))
	}
	_, body := apitest.GetAs(t, srv, "/openapi/v3/"+name+"?hash=1", "application/json")
	assert.Equal(t, "roses of hash=1 for admin", body)
	_, body = apitest.GetAs(t, srv, "/openapi/v3/api/v1", "application/json")
	assert.Equal(t, core, body)

	require.NoError(t, srv.Remove("apiservices.apiregistration.k8s.io", "", "v1.flowers.example.com"))
	_, body = apitest.GetAs(t, srv, "/openapi/v3", "application/json")
	assert.NotContains(t, body, name)
	_, body = apitest.GetAs(t, srv, "/openapi/v2", "application/json")
	assert.NotContains(t, body, name)
}

func TestAPIServiceTimes(t *testing.T) {
	var code atomic.Int64
	var documents atomic.Int64
	backend := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis" {
			documents.Add(1)
		}
		w.WriteHeader(int(code.Load()))
	}))
	t.Cleanup(backend.Close)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithWebhookService("default", "flowers", backend.Listener.Addr().String()))
	code.Store(500)
	_, err := srv.Store(apiService(insecure, "443"))
	require.NoError(t, err)
	for _, row := range []struct {
		name    string
		code    int64
		advance time.Duration
		want    string
		asked   int64 // for the discovery document, so far
	}{
		{"at once", 500, 0, "False FailedDiscoveryCheck", 1},
		{"before the first delay ends", 200, 4 * time.Millisecond, "False FailedDiscoveryCheck", 1},
		{"after the first delay", 200, time.Millisecond, "True Passed", 2}, // it is also asked for when the availability changes
		{"before the interval ends", 500, 29 * time.Second, "True Passed", 3},
		{"after the interval", 500, time.Second, "False FailedDiscoveryCheck", 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			code.Store(row.code)
			require.NoError(t, srv.Clock().Advance(row.advance))
			assert.Contains(t, available(t, srv), row.want+":")
			assert.Equal(t, row.asked, documents.Load())
		})
	}
}
