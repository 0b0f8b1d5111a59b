//go:build go1.24

package fakeapi_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/profile"
)

const cluster = `
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gone}
webhooks:
- name: gone.example.com
  clientConfig: {url: "https://127.0.0.1:1"}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "!has(object.data) || !has(object.data.large)", message: too large}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small}
spec: {policyName: small, validationActions: [Deny]}
`

// recordProfile records a server to a file.
func recordProfile(t *testing.T, srv *fakeapi.Server) (p *profile.Profile, file string) {
	r := profile.Recorder{URL: srv.URL, Client: srv.Client(), Warn: func(text string) { t.Error("warning:", text) }}
	p, err := r.Record(context.Background())
	require.NoError(t, err)
	text, err := p.Encode()
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "mycluster.profile")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return p, file
}

func TestProfile(t *testing.T) {
	real := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.35"), fakeapi.WithObjects(cluster),
		fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{"autoscaling/v1": false}}), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"WatchList": false}}))
	_, err := real.Store(apitest.Widgets("v1", `"size":{"type":"integer"}`))
	require.NoError(t, err)
	p, file := recordProfile(t, real)
	assert.Equal(t, "v1.35.4", p.Version)
	assert.Equal(t, map[string]bool{"autoscaling/v1": false}, map[string]bool(p.RuntimeConfig))
	assert.Equal(t, map[string]bool{"WatchList": false}, p.FeatureGates)

	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithProfileFile(file))
	assert.Equal(t, "v1.35.4", srv.Release())
	for _, path := range []string{"/apis", "/apis/example.com/v1", "/apis/autoscaling/v1", "/version"} {
		wantCode, want := respond(t, real, "GET", path, "")
		code, got := respond(t, srv, "GET", path, "")
		assert.Equal(t, wantCode, code, path)
		assert.Equal(t, want, got, path)
	}
	for _, path := range []string{"/api/v1/namespaces", "/apis/storage.k8s.io/v1/storageclasses", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"} {
		assert.Equal(t, names(t, real, path), names(t, srv, path), path)
	}
	team, err := srv.Get("namespaces", "", "team")
	require.NoError(t, err)
	assert.Equal(t, "restricted", team["metadata"].(map[string]any)["labels"].(map[string]any)["pod-security.kubernetes.io/enforce"])
	code, _ := respond(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, 201, code, "the webhook is not called")
	code, _ = respond(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"b"},"data":{"large":"x"}}`)
	assert.Equal(t, 422, code, "the policy decides")

	calling := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithProfileFile(file), fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"ValidatingAdmissionWebhook"}}))
	code, _ = respond(t, calling, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, 500, code, "the webhook is called")

	newer := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithProfileFile(file), fakeapi.WithRelease("v1.36"))
	assert.Equal(t, "v1.36.3", newer.Release())
}

func TestProfileRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.yaml")
	require.NoError(t, os.WriteFile(file, []byte("kind: Pod\n"), 0o600))
	_, err := fakeapi.New(fakeapi.WithProfileFile(file))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
	_, err = fakeapi.New(fakeapi.WithProfileFile(file + ".gone"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
