package httptest_test

import (
	"fmt"
	"io"
	"net/http"

	"github.com/kubefake/kubefake/httptest"
)

func Example() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Method, r.URL.Path)
	})
	srv, err := httptest.Start(handler, httptest.Options{TLS: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	resp, err := srv.Client().Get(srv.URL + "/version")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Proto, string(body))
	// Output: HTTP/2.0 GET /version
}

// Close ends a stream over the in-memory transport.
func ExampleServer_InMemory() {
	srv, err := httptest.Start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		io.WriteString(w, "last\n")
	}), httptest.Options{InMemory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: srv.InMemory()}
	resp, err := client.Get(srv.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	srv.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%q %v\n", body, err)
	// Output: "first\nlast\n" <nil>
}

func ExampleKubeconfig() {
	k := httptest.Kubeconfig{Server: "http://127.0.0.1:8080", Token: "admin"}
	fmt.Printf("%s", k.YAML())
	// Output:
	// apiVersion: v1
	// kind: Config
	// clusters:
	// - name: fakeapi
	//   cluster:
	//     server: "http://127.0.0.1:8080"
	//     insecure-skip-tls-verify: true
	// users:
	// - name: fakeapi
	//   user:
	//     token: "admin"
	// contexts:
	// - name: fakeapi
	//   context:
	//     cluster: fakeapi
	//     user: fakeapi
	//     namespace: "default"
	// current-context: fakeapi
}

func ExampleIssueClient() {
	certPEM, keyPEM, err := httptest.IssueClient("jane", []string{"developers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	k := httptest.Kubeconfig{Server: "https://127.0.0.1:6443", ClientCertificate: certPEM, ClientKey: keyPEM}
	fmt.Println(len(k.YAML()) > 0)
	// Output: true
}
