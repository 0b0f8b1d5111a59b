//go:build go1.25

package fakeapi_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// hookConfiguration is a webhook configuration of the Service shop/hooks.
func hookConfiguration(kind, path string) string {
	return `{apiVersion: admissionregistration.k8s.io/v1, kind: ` + kind + `, metadata: {name: shop}, webhooks: [{
		name: hook.shop.example.com, admissionReviewVersions: [v1], sideEffects: None,
		clientConfig: {caBundle: Cg==, service: {namespace: shop, name: hooks, path: ` + path + `}},
		rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}]}`
}

// admit is a handler of webhooks: /label adds a label, /deny denies objects without it,
// /rename changes the name, and /name denies a request by its name. /convert converts by
// changing apiVersion.
func admit(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request := review["request"].(map[string]any)
	response := map[string]any{"uid": request["uid"], "allowed": true}
	switch r.URL.Path {
	case "/label":
		response["patchType"] = "JSONPatch"
		response["patch"] = []byte(`[{"op":"add","path":"/metadata/labels","value":{"hooked":"yes"}}]`)
	case "/deny":
		labels, _ := request["object"].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]any)
		response["allowed"] = labels["hooked"] == "yes"
	case "/rename":
		response["patchType"] = "JSONPatch"
		response["patch"] = []byte(`[{"op":"replace","path":"/metadata/name","value":"other"}]`)
	case "/name":
		response["allowed"] = false
		response["status"] = map[string]any{"message": request["name"]}
	case "/convert":
		response["result"] = map[string]any{"status": "Success"}
		objects := request["objects"].([]any)
		for _, o := range objects {
			o.(map[string]any)["apiVersion"] = request["desiredAPIVersion"]
		}
		response["convertedObjects"] = objects
	}
	review["response"] = response
	_ = json.NewEncoder(w).Encode(review)
}

// hooked has a validating and a mutating webhook of a Service, and a definition with two
// versions.
func hooked() fakeapi.Option {
	versions := `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},` +
		`{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
	return fakeapi.WithObjects(hookConfiguration("MutatingWebhookConfiguration", "/label"), hookConfiguration("ValidatingWebhookConfiguration", "/deny"),
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"toys.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"toys","singular":"toy","kind":"Toy","listKind":"ToyList"},"versions":[`+versions+`]}}`)
}

// checkHooks checks that the server calls the webhooks.
func checkHooks(t *testing.T, srv *fakeapi.Server) {
	t.Helper()
	c, obj := do(t, srv, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
	require.Equal(t, 201, c, "%v", obj)
	assert.Equal(t, map[string]any{"hooked": "yes"}, obj["metadata"].(map[string]any)["labels"])
	c, obj = do(t, srv, "POST", "/apis/example.com/v1/namespaces/default/toys", `{"apiVersion":"example.com/v1","kind":"Toy","metadata":{"name":"t"}}`)
	require.Equal(t, 201, c, "%v", obj)
	c, obj = do(t, srv, "GET", "/apis/example.com/v2/namespaces/default/toys/t", "")
	require.Equal(t, 200, c, "%v", obj)
	assert.Equal(t, "example.com/v2", obj["apiVersion"])
}

func TestInstallWebhooks(t *testing.T) {
	world := fakeapi.Start(t, fakeapi.WithInMemory(), hooked())
	for _, name := range []string{"first fork", "second fork"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := world.Fork(t)
			c, _ := do(t, srv, "POST", configMapsPath, `{"metadata":{"name":"early"}}`)
			assert.Equal(t, 500, c, "the Service has no address")

			hooks, err := srv.InstallWebhooks(fakeapi.WebhookOptions{CertDir: filepath.Join(t.TempDir(), "certs"), Convert: []string{"toys.example.com"}})
			require.NoError(t, err)
			server := &http.Server{Addr: hooks.Addr, Handler: http.HandlerFunc(admit)}
			done := make(chan error)
			go func() { done <- server.ListenAndServeTLS(hooks.CertFile, hooks.KeyFile) }()
			checkHooks(t, srv)

			require.NoError(t, server.Close())
			assert.ErrorIs(t, <-done, http.ErrServerClosed)
			c, obj := do(t, srv, "POST", configMapsPath, `{"metadata":{"name":"late"}}`)
			assert.Equal(t, 500, c)
			assert.Contains(t, obj["message"], "connection refused", "no wait after the first connection")
		})
	}
}

func TestInstallWebhooksInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), hooked())
		slow, err := srv.Inject(faults.SlowWebhook("https://hooks.shop.svc*", time.Second))
		require.NoError(t, err)
		_, err = srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(admit), Convert: []string{"toys.example.com"}})
		require.NoError(t, err)
		begin := time.Now()
		checkHooks(t, srv)
		assert.Equal(t, 2, slow.Hits(), "faults apply")
		assert.Equal(t, 2*time.Second, time.Since(begin))
	})
}

// Validating webhooks are told the name that the object has before webhooks change it.
func TestRenamingWebhook(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(),
		fakeapi.WithObjects(hookConfiguration("MutatingWebhookConfiguration", "/rename"), hookConfiguration("ValidatingWebhookConfiguration", "/name")))
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(admit)})
	require.NoError(t, err)
	c, obj := do(t, srv, "POST", configMapsPath, `{"metadata":{"name":"asked-for"}}`)
	assert.Equal(t, 400, c)
	assert.Equal(t, `admission webhook "hook.shop.example.com" denied the request: asked-for`, obj["message"])
}

// Validating webhooks are told a generated name.
func TestGeneratedNameOfWebhook(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(hookConfiguration("ValidatingWebhookConfiguration", "/name")))
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(admit)})
	require.NoError(t, err)
	c, obj := do(t, srv, "POST", configMapsPath, `{"metadata":{"generateName":"some-"}}`)
	assert.Equal(t, 400, c)
	assert.Regexp(t, `denied the request: some-[a-z0-9]{5}$`, obj["message"])
}

// The certificate has the names of the Services, and the objects have its CA.
func TestInstallWebhooksCertificate(t *testing.T) {
	other := strings.Replace(hookConfiguration("ValidatingWebhookConfiguration", "/x"), "name: hooks", "name: own", 1)
	url := `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: url}, webhooks: [{name: a.b.c, clientConfig: {url: "https://127.0.0.1:1/"}}]}`
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithWebhookService("shop", "own", "127.0.0.1:1"),
		fakeapi.WithObjects(hookConfiguration("MutatingWebhookConfiguration", "/label"), other, url))
	dir := t.TempDir()
	hooks, err := srv.InstallWebhooks(fakeapi.WebhookOptions{CertDir: dir, Services: []string{"shop/more"}})
	require.NoError(t, err)
	assert.Equal(t, dir, hooks.CertDir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	require.NoError(t, err)
	assert.Subset(t, pair.Leaf.DNSNames, []string{"localhost", "hooks.shop.svc", "more.shop.svc"})
	assert.NotContains(t, pair.Leaf.DNSNames, "own.shop.svc")
	info, err := os.Stat(hooks.KeyFile)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	bundle := func(kind, name string) any {
		o, err := srv.Get(kind+".admissionregistration.k8s.io", "", name)
		require.NoError(t, err)
		return o["webhooks"].([]any)[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"]
	}
	assert.Equal(t, base64.StdEncoding.EncodeToString(hooks.CABundle), bundle("mutatingwebhookconfigurations", "shop"))
	assert.Equal(t, "Cg==", bundle("validatingwebhookconfigurations", "shop"), "a Service with an address of its own")
	assert.Nil(t, bundle("mutatingwebhookconfigurations", "url"))

	before := srv.Revision()
	again, err := srv.InstallWebhooks(fakeapi.WebhookOptions{CertDir: dir})
	require.NoError(t, err)
	assert.NotEqual(t, hooks.Port, again.Port)
	assert.Equal(t, before, srv.Revision(), "nothing to change")
}

func TestInstallWebhooksFails(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, tt := range []struct {
		name    string
		options fakeapi.WebhookOptions
		want    string
		is      error
	}{
		{"nothing", fakeapi.WebhookOptions{}, "exactly one of CertDir and Handler must be set", fakeapi.ErrInvalidOption},
		{"both", fakeapi.WebhookOptions{CertDir: file, Handler: http.NotFoundHandler()}, "exactly one of", fakeapi.ErrInvalidOption},
		{"service", fakeapi.WebhookOptions{Handler: http.NotFoundHandler(), Services: []string{"hooks"}}, `the Service "hooks" is not namespace/name`, fakeapi.ErrInvalidOption},
		{"definition", fakeapi.WebhookOptions{Handler: http.NotFoundHandler(), Convert: []string{"none"}}, "none", fakeapi.ErrNotFound},
		{"directory", fakeapi.WebhookOptions{CertDir: file}, file, syscall.ENOTDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := srv.InstallWebhooks(tt.options)
			assert.ErrorContains(t, err, "fakeapi: InstallWebhooks: ")
			assert.ErrorContains(t, err, tt.want)
			assert.ErrorIs(t, err, tt.is)
		})
	}
}
