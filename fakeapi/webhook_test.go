//go:build go1.25

package fakeapi_test

import (
	"crypto/tls"
	"encoding/base64"
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
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestInstallWebhooks(t *testing.T) {
	world := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
	for _, name := range []string{"first fork", "second fork"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := world.Fork(t)
			c, _ := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"early"}}`)
			assert.Equal(t, 500, c, "the Service has no address")

			hooks, err := srv.InstallWebhooks(fakeapi.WebhookOptions{CertDir: filepath.Join(t.TempDir(), "certs"), Convert: []string{"toys.example.com"}})
			require.NoError(t, err)
			server := &http.Server{Addr: hooks.Addr, Handler: http.HandlerFunc(apitest.Admit)}
			done := make(chan error)
			go func() { done <- server.ListenAndServeTLS(hooks.CertFile, hooks.KeyFile) }()
			apitest.CheckHooks(t, srv)

			require.NoError(t, server.Close())
			assert.ErrorIs(t, <-done, http.ErrServerClosed)
			c, obj := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"late"}}`)
			assert.Equal(t, 500, c)
			assert.Contains(t, obj["message"], "connection refused", "no wait after the first connection")
		})
	}
}

func TestInstallWebhooksInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), apitest.Hooked())
		slow, err := srv.Inject(faults.SlowWebhook("https://hooks.shop.svc*", time.Second))
		require.NoError(t, err)
		_, err = srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(apitest.Admit), Convert: []string{"toys.example.com"}})
		require.NoError(t, err)
		begin := time.Now()
		apitest.CheckHooks(t, srv)
		assert.Equal(t, 2, slow.Hits(), "faults apply")
		assert.Equal(t, 2*time.Second, time.Since(begin))
	})
}

// The reviews of validating webhooks have the name that the object has before webhooks change it.
func TestRenamingWebhook(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(),
		fakeapi.WithObjects(apitest.HookConfiguration("MutatingWebhookConfiguration", "/rename"), apitest.HookConfiguration("ValidatingWebhookConfiguration", "/name")))
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(apitest.Admit)})
	require.NoError(t, err)
	c, obj := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"asked-for"}}`)
	assert.Equal(t, 400, c)
	assert.Equal(t, `admission webhook "hook.shop.example.com" denied the request: asked-for`, obj["message"])
}

// The reviews of validating webhooks have a generated name.
func TestGeneratedNameOfWebhook(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.HookConfiguration("ValidatingWebhookConfiguration", "/name")))
	_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(apitest.Admit)})
	require.NoError(t, err)
	c, obj := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"generateName":"some-"}}`)
	assert.Equal(t, 400, c)
	assert.Regexp(t, `denied the request: some-[a-z0-9]{5}$`, obj["message"])
}

// The certificate has the names of the Services, and the objects have its CA.
func TestInstallWebhooksCertificate(t *testing.T) {
	other := strings.Replace(apitest.HookConfiguration("ValidatingWebhookConfiguration", "/x"), "name: hooks", "name: own", 1)
	url := `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: url}, webhooks: [{name: a.b.c, clientConfig: {url: "https://127.0.0.1:1/"}}]}`
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithWebhookService("shop", "own", "127.0.0.1:1"),
		fakeapi.WithObjects(apitest.HookConfiguration("MutatingWebhookConfiguration", "/label"), other, url))
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
