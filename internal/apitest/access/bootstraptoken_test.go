package access_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A node joins a cluster by a bootstrap token, for as long as there is its Secret.
func TestBootstrapTokens(t *testing.T) {
	const secret = `{apiVersion: v1, kind: Secret, type: bootstrap.kubernetes.io/token, metadata: {name: bootstrap-token-abcdef, namespace: kube-system},
		stringData: {token-id: abcdef, token-secret: 0123456789abcdef, usage-bootstrap-authentication: 'true'}}`
	const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for _, on := range []bool{true, false} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithObjects(secret),
			fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{BootstrapTokens: on}}))
		token := []string{"Authorization", "Bearer abcdef.0123456789abcdef"}
		code, answer := apitest.DoWithHeaders(t, srv, "POST", reviews, `{"spec":{}}`, token...)
		if !on {
			assert.Equal(t, 401, code)
			continue
		}
		assert.Equal(t, 201, code)
		assert.Equal(t, map[string]any{"userInfo": map[string]any{
			"username": "system:bootstrap:abcdef", "groups": []any{"system:bootstrappers", "system:authenticated"},
		}}, answer["status"])

		fork := srv.Fork(t)
		assert.NoError(t, srv.Remove("secrets", "kube-system", "bootstrap-token-abcdef"))
		code, _ = apitest.DoWithHeaders(t, srv, "POST", reviews, `{"spec":{}}`, token...)
		assert.Equal(t, 401, code)
		code, _ = apitest.DoWithHeaders(t, fork, "POST", reviews, `{"spec":{}}`, token...)
		assert.Equal(t, 201, code, "a fork has Secrets of its own")
	}
}
