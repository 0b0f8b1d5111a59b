//go:build go1.24

package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing/fstest"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// In a test, pass its *testing.T.
func ExampleStart() {
	t := &recorder{}
	defer t.end()

	srv := fakeapi.Start(t)
	resp, err := http.Get(srv.URL + "/api/v1/namespaces/default")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer resp.Body.Close()
	var namespace fakeapi.Object
	json.NewDecoder(resp.Body).Decode(&namespace)
	fmt.Println(resp.Status, namespace["kind"], namespace.Name())
	// Output: 200 OK Namespace default
}

func ExampleNew() {
	srv, err := fakeapi.New(fakeapi.WithInMemory())
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	resp, err := srv.Client().Post(srv.URL+"/api/v1/namespaces", "application/json",
		strings.NewReader(`{"metadata":{"name":"shop"}}`))
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 201 Created
}

func ExampleWithObjectFiles() {
	// In a test, use os.DirFS("testdata") or an embed.FS.
	fixtures := fstest.MapFS{"shop.yaml": {Data: []byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`)}}
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithObjectFiles(fixtures, "*.yaml"))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	settings, err := srv.Get("configmaps", "shop", "settings")
	fmt.Println(settings.Name(), err)
	// Output: settings <nil>
}

func ExampleWithNamespaces() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithNamespaces("empty"),
		fakeapi.WithObjects(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}`))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	for _, name := range []string{"empty", "shop"} {
		namespace, err := srv.Get("namespaces", "", name)
		fmt.Println(namespace.Name(), err)
	}
	// Output:
	// empty <nil>
	// shop <nil>
}

// The webhook of a Service denies every ConfigMap.
func ExampleServer_InstallWebhooks() {
	srv := example(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: shop}
webhooks:
- name: deny.shop.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: shop, name: hooks, path: /deny}}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
`)
	defer srv.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/deny", func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		uid := review["request"].(map[string]any)["uid"]
		review["response"] = map[string]any{"uid": uid, "allowed": false}
		json.NewEncoder(w).Encode(review)
	})
	// With CertDir in place of Handler, the test listens on the returned address.
	if _, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: mux}); err != nil {
		panic(err)
	}

	resp, err := srv.Client().Post(srv.URL+"/api/v1/namespaces/default/configmaps", "application/json",
		strings.NewReader(`{"metadata":{"name":"a"}}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var status struct{ Message string }
	json.NewDecoder(resp.Body).Decode(&status)
	fmt.Println(status.Message)
	// Output: admission webhook "deny.shop.example.com" denied the request without explanation
}

func ExampleServer_Credentials() {
	srv := example()
	defer srv.Close()
	body := strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	req, _ := http.NewRequest("POST", srv.URL+"/apis/authentication.k8s.io/v1/selfsubjectreviews", body)
	req.Header.Set("Authorization", "Bearer "+srv.Credentials(fakeapi.User{Name: "alice", Groups: []string{"devs"}}).BearerToken)
	resp, err := srv.Client().Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var review struct {
		Status struct {
			UserInfo struct {
				Username string
				Groups   []string
			}
		}
	}
	json.NewDecoder(resp.Body).Decode(&review)
	fmt.Println(review.Status.UserInfo)
	// Output: {alice [devs system:authenticated]}
}

func ExampleWithToken() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithRBAC(),
		fakeapi.WithToken("secret", fakeapi.User{Name: "alice"}))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	req, _ := http.NewRequest("GET", srv.URL+"/api/v1/pods", nil)
	req.Header.Set("Authorization", "Bearer secret")
	resp, err := srv.Client().Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var status struct{ Message string }
	json.NewDecoder(resp.Body).Decode(&status)
	fmt.Println(status.Message)
	// Output: pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope
}

func ExampleWithRBAC() {
	srv, err := fakeapi.New(
		fakeapi.WithRBAC(),
		fakeapi.WithToken("reader-token", fakeapi.User{Name: "ann", Groups: []string{"readers"}}),
		fakeapi.WithObjects(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:aggregate-to-view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}]
`))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	for _, path := range []string{"/api/v1/pods", "/api/v1/secrets"} {
		req, err := http.NewRequest(http.MethodGet, srv.URL+path, nil)
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer reader-token")
		resp, err := srv.Client().Do(req)
		if err != nil {
			panic(err)
		}
		resp.Body.Close()
		fmt.Println(path, resp.StatusCode)
	}
	// Output:
	// /api/v1/pods 200
	// /api/v1/secrets 403
}

func ExampleServer_Fork() {
	t := &recorder{}
	defer t.end()

	world := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	for _, value := range []string{"2", "3"} { // a subtest each
		srv := world.Fork(t)
		srv.Store(apitest.ConfigMap("a", value))
		fmt.Println(contents(srv))
	}
	fmt.Println(contents(world))
	// Output:
	// map[a:2]
	// map[a:3]
	// map[a:1]
}

func ExampleServer_Store() {
	srv := example()
	defer srv.Close()
	pod, err := srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: Running}}`)
	if err != nil {
		panic(err)
	}
	var p struct{ Status struct{ Phase string } }
	if err := pod.Into(&p); err != nil {
		panic(err)
	}
	fmt.Println(pod.Namespace(), pod.Name(), p.Status.Phase)
	// Output: default p Running
}

func ExampleServer_List() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	before := srv.Revision()
	srv.Store(apitest.ConfigMap("b", "2"))
	srv.Remove("configmaps", "default", "a")

	now, _ := srv.List("configmaps", "default")
	then, _ := srv.List("configmaps", "default", fakeapi.AtRevision(before))
	fmt.Println(then[0].Name(), now[0].Name())
	// Output: a b
}

func ExampleServer_Compact() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	old := srv.Revision()
	srv.Store(apitest.ConfigMap("a", "2"))
	srv.Compact(0)

	resp, err := srv.Client().Get(fmt.Sprintf("%s/api/v1/configmaps?resourceVersion=%d&resourceVersionMatch=Exact", srv.URL, old))
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 410 Gone
}

func ExampleServer_Snapshot() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	snapshot := srv.Snapshot()
	srv.Store(apitest.ConfigMap("a", "2"))
	if err := srv.Restore(snapshot); err != nil {
		panic(err)
	}
	fmt.Println(contents(srv))
	// Output: map[a:1]
}

func ExampleServer_Reset() {
	srv := example(apitest.ConfigMap("a", "1"))
	defer srv.Close()
	if err := srv.Reset(); err != nil {
		panic(err)
	}
	fmt.Println(contents(srv))
	// Output: map[]
}

func ExampleServer_Writes() {
	srv := example()
	defer srv.Close()
	from := srv.Revision() + 1
	srv.Store(apitest.ConfigMap("a", "1"))
	srv.Store(apitest.ConfigMap("a", "2"))
	for _, write := range srv.Writes(from) {
		for _, change := range write.Changes {
			fmt.Println(change)
		}
	}
	// Output:
	// ADDED configmaps default/a
	// MODIFIED configmaps default/a
}

func ExampleServer_Story() {
	srv := example()
	defer srv.Close()
	srv.Store(apitest.ConfigMap("a", "1"))
	srv.Store(apitest.ConfigMap("a", "2"))

	for line := range strings.Lines(srv.Story()) {
		_, what, _ := strings.Cut(line, "the test ") // behind the time and the revision
		fmt.Print(what)
	}

	page, err := os.CreateTemp("", "story-*.html")
	if err != nil {
		panic(err)
	}
	defer os.Remove(page.Name())
	defer page.Close()
	if err := srv.WriteStory(page); err != nil { // open it in a browser
		panic(err)
	}
	// Output:
	// store configmaps default/a
	// store configmaps default/a: data.key 1 → 2
}

func ExampleServer_Requests() {
	srv := example()
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL + "/api/v1/nodes/n1")
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, resp.Body) // the handler is done when the answer has ended
	resp.Body.Close()
	for _, r := range srv.Requests() {
		fmt.Println(r.Code, r.Method, r.URI, r.Message)
	}
	// Output: 404 GET /api/v1/nodes/n1 nodes "n1" not found
}

func ExampleClock() {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	srv.Clock().Advance(36 * time.Hour)
	a, _ := srv.Store(apitest.ConfigMap("a", "1"))
	fmt.Println(a["metadata"].(map[string]any)["creationTimestamp"])
	// Output: 2030-01-02T12:00:00Z
}

// example returns an in-memory server with objects.
func example(objects ...any) *fakeapi.Server {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithObjects(objects...))
	if err != nil {
		panic(err)
	}
	return srv
}
