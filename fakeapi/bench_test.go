//go:build go1.24

package fakeapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// firstStart is an environment variable. With it, this program starts a server,
// prints how long that took, and exits.
const firstStart = "FAKEAPI_TEST_FIRST_START"

func TestMain(m *testing.M) {
	if os.Getenv(firstStart) == "" {
		os.Exit(m.Run())
	}
	begun := time.Now()
	srv, err := fakeapi.New()
	fmt.Println(time.Since(begun).Nanoseconds())
	if err != nil {
		panic(err)
	}
	srv.Close()
}

// BenchmarkFirstStart measures the first server of a process, which reads the data
// of the release. The time of an operation includes the start of the process.
func BenchmarkFirstStart(b *testing.B) {
	b.Setenv(firstStart, "1")
	sum := 0
	for b.Loop() {
		out, err := exec.Command(os.Args[0]).Output()
		require.NoError(b, err)
		ns, err := strconv.Atoi(strings.TrimSpace(string(out)))
		require.NoError(b, err)
		sum += ns
	}
	b.ReportMetric(float64(sum)/float64(b.N), "ns/start")
}

// BenchmarkStart measures starting and closing a further server.
func BenchmarkStart(b *testing.B) {
	for _, bench := range []struct {
		name    string
		options []fakeapi.Option
	}{
		{"listening", nil},
		{"memory", []fakeapi.Option{fakeapi.WithInMemory()}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			start := func() {
				srv, err := fakeapi.New(bench.options...)
				require.NoError(b, err)
				srv.Close()
			}
			start()
			for b.Loop() {
				start()
			}
		})
	}
}

func BenchmarkFork(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			srv := filled(b, n)
			for b.Loop() {
				fork, err := srv.NewFork()
				require.NoError(b, err)
				fork.Close()
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	srv := filled(b, 1000)
	for b.Loop() {
		request(b, srv, "GET", "/api/v1/namespaces/default/configmaps/cm-500", "")
	}
}

// BenchmarkGetConnection gets an object over a connection, with net/http's client.
func BenchmarkGetConnection(b *testing.B) {
	srv, err := fakeapi.New(fakeapi.WithObjects(apitest.ConfigMap("cm", "value")))
	require.NoError(b, err)
	b.Cleanup(srv.Close)
	for b.Loop() {
		request(b, srv, "GET", "/api/v1/namespaces/default/configmaps/cm", "")
	}
}

// BenchmarkGetRBAC gets an object that a RoleBinding allows, beside n ClusterRoleBindings for others and
// those that every cluster has.
func BenchmarkGetRBAC(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprintf("others=%d", n), func(b *testing.B) {
			objects := []any{apitest.ConfigMap("cm", "value"),
				`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"alice","namespace":"default"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"alice"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`}
			for i := range n {
				objects = append(objects, fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"other-%d"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"other-%[1]d"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`, i))
			}
			srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithToken("alice", fakeapi.User{Name: "alice"}), fakeapi.WithObjects(objects...))
			require.NoError(b, err)
			b.Cleanup(srv.Close)
			for b.Loop() {
				req, err := http.NewRequest("GET", srv.URL+"/api/v1/namespaces/default/configmaps/cm", nil)
				require.NoError(b, err)
				req.Header.Set("Authorization", "Bearer alice")
				resp, err := srv.Transport().RoundTrip(req)
				require.NoError(b, err)
				require.Equal(b, 200, resp.StatusCode)
				resp.Body.Close()
			}
		})
	}
}

// BenchmarkGetTCP gets an object through net/http. Its client costs little: it has one
// connection, sends the same bytes each time, and reads no header but Content-Length.
func BenchmarkGetTCP(b *testing.B) {
	srv, err := fakeapi.New(fakeapi.WithObjects(apitest.ConfigMap("cm", "value")))
	require.NoError(b, err)
	b.Cleanup(srv.Close)
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	require.NoError(b, err)
	b.Cleanup(func() { conn.Close() })
	get := []byte("GET /api/v1/namespaces/default/configmaps/cm HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n\r\n")
	in := bufio.NewReader(conn)
	for b.Loop() {
		conn.Write(get)
		length := 0
		for line := []byte("status"); len(line) > len("\r\n"); {
			if line, err = in.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
		}
		if n, err := in.Discard(length); n == 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			srv := filled(b, n)
			for b.Loop() {
				b.SetBytes(request(b, srv, "GET", "/api/v1/namespaces/default/configmaps", ""))
			}
		})
	}
}

// BenchmarkListPages lists 5,000 objects at once and in pages. The client searches each page
// for the token of the next one and does not decode it.
func BenchmarkListPages(b *testing.B) {
	srv := filled(b, 5000)
	list := func(query string) (page []byte) {
		resp, err := srv.Transport().RoundTrip(httptest.NewRequest("GET", srv.URL+"/api/v1/namespaces/default/configmaps?"+query, nil))
		require.NoError(b, err)
		defer resp.Body.Close()
		page, err = io.ReadAll(resp.Body)
		require.NoError(b, err)
		return page
	}
	for _, limit := range []int{0, 2500, 500} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for query := fmt.Sprintf("limit=%d", limit); query != ""; {
					page := list(query)
					_, token, more := bytes.Cut(page[:min(len(page), 1000)], []byte(`"continue":"`))
					if query = ""; more {
						token, _, _ = bytes.Cut(token, []byte(`"`))
						query = fmt.Sprintf("limit=%d&continue=%s", limit, token)
					}
				}
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	srv := filled(b, 0)
	for b.Loop() {
		request(b, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"cm-"},"data":{"key":"value"}}`)
	}
}

// podSpec is the spec of a small Pod.
const podSpec = `{"serviceAccountName":"default","automountServiceAccountToken":false,
	"containers":[
		{"name":"app","image":"registry.example.com/app:v1","args":["--serve","--port=8080"],
			"ports":[{"containerPort":8080,"name":"http"}],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],
			"resources":{"requests":{"cpu":"100m","memory":"128Mi"}}},
		{"name":"sidecar","image":"registry.example.com/sidecar:v1"}]}`

// BenchmarkCreatePod compares a Pod, with its defaults and validation, a Pod whose spec no other
// Pod has, and a ConfigMap of the same size.
func BenchmarkCreatePod(b *testing.B) {
	const meta = `{"metadata":{"name":"a-%d","labels":{"app":"a","shard":"1"}},`
	for _, bench := range []struct{ name, path, body string }{
		{"pod", "/api/v1/namespaces/default/pods", meta + `"spec":` + podSpec + `}`},
		{"other spec", "/api/v1/namespaces/default/pods", meta + `"spec":` + strings.Replace(podSpec, "app:v1", "app:v%[1]d", 1) + `}`},
		{"configmap", "/api/v1/namespaces/default/configmaps", meta + `"data":{"k":"` + strings.Repeat("v", len(podSpec)) + `"}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			srv := filled(b, 0)
			for i := 0; b.Loop(); i++ {
				request(b, srv, "POST", bench.path, fmt.Sprintf(bench.body, i))
			}
		})
	}
}

// BenchmarkWatch measures a write until all watches have received it.
func BenchmarkWatch(b *testing.B) {
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	for _, bench := range []struct {
		name   string
		n      int
		accept string
	}{
		{"watchers=1", 1, ""},
		{"watchers=100", 100, ""},
		{"watchers=100/table", 100, table},
	} {
		b.Run(bench.name, func(b *testing.B) {
			n := bench.n
			srv := filled(b, 0)
			var seen sync.WaitGroup
			for range n {
				req, err := http.NewRequest("GET", srv.URL+"/api/v1/configmaps?watch=1&resourceVersion=0", nil)
				require.NoError(b, err)
				req.Header.Set("Accept", bench.accept)
				resp, err := srv.Transport().RoundTrip(req)
				require.NoError(b, err)
				b.Cleanup(func() { resp.Body.Close() })
				go func() {
					for in := bufio.NewScanner(resp.Body); in.Scan(); {
						if bytes.Contains(in.Bytes(), []byte(`"generateName":"cm-"`)) {
							seen.Done()
						}
					}
				}()
			}
			for b.Loop() {
				seen.Add(n)
				request(b, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"cm-"},"data":{"key":"value"}}`)
				seen.Wait()
			}
		})
	}
}

func BenchmarkPatch(b *testing.B) {
	srv := filled(b, 0)
	request(b, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p","labels":{"app":"a"}},"spec":`+podSpec+`}`)
	for i := 0; b.Loop(); i++ {
		request(b, srv, "PATCH", "/api/v1/namespaces/default/pods/p", fmt.Sprintf(`{"metadata":{"annotations":{"p":"%d"}}}`, i))
	}
}

// BenchmarkPatchSorts changes one value of an object in each way that a PATCH can.
func BenchmarkPatchSorts(b *testing.B) {
	const (
		deployments = "/apis/apps/v1/namespaces/default/deployments"
		template    = `"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":` + podSpec + `}`
		deployment  = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","labels":{"app":"a"}},"spec":{"replicas":%d,` + template + `}}`
		pod         = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"app":"a"}},"spec":` + podSpec + `}`
	)
	for _, bench := range []struct{ name, path, object, method, subresource, patch string }{
		{"merge", deployments, deployment, "PATCH", "", `{"spec":{"replicas":%d}}`},
		{"json", deployments, deployment, "JSON PATCH", "", `[{"op":"replace","path":"/spec/replicas","value":%d}]`},
		{"strategic", deployments, deployment, "STRATEGIC PATCH", "", `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:v%d"}]}}}}`},
		{"apply", deployments, deployment, "APPLY", "?fieldManager=bench&force=true", deployment},
		{"kubelet status", "/api/v1/namespaces/default/pods", pod, "STRATEGIC PATCH", "/status",
			`{"metadata":{"uid":null},"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"ContainersReady"}],
				"conditions":[{"type":"Ready","status":"True","message":"%d"}],"phase":"Running","podIP":"10.0.0.1"}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			srv := filled(b, 0)
			request(b, srv, "POST", bench.path, strings.ReplaceAll(bench.object, "%d", "0"))
			patch := strings.NewReplacer("\n", "", "\t", "").Replace(bench.patch) // as clients encode it
			for i := 0; b.Loop(); i++ {
				request(b, srv, bench.method, bench.path+"/a"+bench.subresource, fmt.Sprintf(patch, i+1))
			}
		})
	}
}

// BenchmarkUpdate sends back what the last answer had, with another text in one place, as
// controllers do.
func BenchmarkUpdate(b *testing.B) {
	const (
		pods      = "/api/v1/namespaces/default/pods"
		pod       = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"app":"a"},"annotations":{"a":"text-0"}},"spec":` + podSpec + `}`
		podStatus = `{"phase":"Running","conditions":[{"type":"Ready","status":"True","message":"text-0"}],
			"containerStatuses":[{"name":"app","image":"registry.example.com/app:v1","imageID":"","ready":true,"restartCount":0,"started":true}]}`
	)
	for _, bench := range []struct{ name, path, object, status string }{
		{"pod", pods, pod, ""},
		{"pod status", pods, pod, podStatus},
		{"custom status", apitest.WidgetsPath, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":1}}`,
			`{"conditions":[{"type":"Ready","status":"True","reason":"Up","message":"text-0"}]}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			srv := filled(b, 0)
			_, err := srv.Store(widgetsWithConditions(`"size":{"type":"integer"}`))
			require.NoError(b, err)
			path := bench.path + "/a"
			object := content(b, srv, "POST", bench.path, bench.object)
			if bench.status != "" {
				path += "/status"
				status, _ := json.Marshal(map[string]any{"status": json.RawMessage(bench.status)})
				object = content(b, srv, "PATCH", path, string(status))
			}
			for i := 0; b.Loop(); i++ {
				object = strings.Replace(object, fmt.Sprintf(`"text-%d"`, i), fmt.Sprintf(`"text-%d"`, i+1), 1)
				object = content(b, srv, "PUT", path, object)
			}
		})
	}
}

// BenchmarkApply applies a configuration with new data each time.
func BenchmarkApply(b *testing.B) {
	srv := filled(b, 0)
	for i := 0; b.Loop(); i++ {
		request(b, srv, "APPLY", "/api/v1/namespaces/default/configmaps/a?fieldManager=bench",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"%d"}}`, i))
	}
}

// filled returns an in-memory server with n ConfigMaps in the namespace default.
func filled(b *testing.B, n int) *fakeapi.Server {
	b.Helper()
	var objects []any
	for i := range n {
		objects = append(objects, apitest.ConfigMap(fmt.Sprintf("cm-%d", i), "value"))
	}
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithObjects(objects...))
	require.NoError(b, err)
	b.Cleanup(srv.Close)
	return srv
}

// request makes a request as roundTrip does and returns the length of the response.
func request(b *testing.B, srv *fakeapi.Server, method, path, body string) int64 {
	resp := roundTrip(b, srv, method, path, body)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	return n
}

// content makes a request as roundTrip does and returns the body of the response.
func content(b *testing.B, srv *fakeapi.Server, method, path, body string) string {
	resp := roundTrip(b, srv, method, path, body)
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	return string(data)
}

// roundTrip makes a request, which must succeed. The method APPLY is a server-side apply, and others
// name the sort of a PATCH.
func roundTrip(b *testing.B, srv *fakeapi.Server, method, path, body string) *http.Response {
	contentType := "application/json"
	switch method {
	case "PATCH":
		contentType = "application/merge-patch+json"
	case "JSON PATCH":
		method, contentType = "PATCH", "application/json-patch+json"
	case "STRATEGIC PATCH":
		method, contentType = "PATCH", "application/strategic-merge-patch+json"
	case "APPLY":
		method, contentType = "PATCH", "application/apply-patch+yaml"
	}
	req, err := http.NewRequest(method, srv.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := srv.Transport().RoundTrip(req)
	if err != nil || resp.StatusCode/100 != 2 {
		b.Fatal(resp, err)
	}
	return resp
}
