package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func bootstrapToken(name, data string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, type: bootstrap.kubernetes.io/token, metadata: {name: %s, namespace: kube-system},
  stringData: {%s}}`, name, data)
}

const kubeSystemSecrets = "/api/v1/namespaces/kube-system/secrets"

func TestTokenCleaner(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data string
		gone       time.Duration // 0 if it is kept
	}{
		{"without an expiration", "token-id: abcdef", 0},
		{"with an expiration", "token-id: abcdef, expiration: '2026-01-01T01:00:00Z'", time.Hour},
		{"with an expiration in the past", "token-id: abcdef, expiration: '2025-01-01T01:00:00Z'", time.Nanosecond},
		{"with an expiration that is no time", "token-id: abcdef, expiration: soon", time.Nanosecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "token-cleaner-controller")
			c.Create(kubeSystemSecrets, bootstrapToken("bootstrap-token-abcdef", tt.data))
			if tt.gone == 0 {
				c.Wait(1000 * time.Hour)
				assert.NotNil(t, c.Get("secrets", "kube-system", "bootstrap-token-abcdef"))
				return
			}
			c.Wait(tt.gone - time.Nanosecond)
			if tt.gone > time.Nanosecond {
				assert.NotNil(t, c.Get("secrets", "kube-system", "bootstrap-token-abcdef"))
			}
			c.Wait(time.Nanosecond)
			assert.Nil(t, c.Get("secrets", "kube-system", "bootstrap-token-abcdef"))
		})
	}
}

func TestBootstrapSigner(t *testing.T) {
	t.Parallel()
	const valid = "token-id: abcdef, token-secret: 0123456789abcdef, usage-bootstrap-signing: 'true'"
	const signature = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..v28Ea_KqmHOtFWksJ_4tbV6AFRNzMkrRUG_jsuLJz-4"
	tests := []struct {
		name, secret, data string
		signed             bool
	}{
		{"a token", "bootstrap-token-abcdef", valid, true},
		{"of another name", "bootstrap-token-fedcba", valid, false},
		{"not for signing", "bootstrap-token-abcdef", "token-id: abcdef, token-secret: 0123456789abcdef", false},
		{"without a secret", "bootstrap-token-abcdef", "token-id: abcdef, usage-bootstrap-signing: 'true'", false},
		{"expired", "bootstrap-token-abcdef", valid + ", expiration: '2025-01-01T01:00:00Z'", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "bootstrap-signer-controller", fakeapi.WithNamespaces("kube-public"))
			c.Put(`{apiVersion: v1, kind: ConfigMap, metadata: {name: cluster-info, namespace: kube-public}, data: {kubeconfig: text, jws-kubeconfig-xxxxxx: old, other: kept}}`)
			c.Create(kubeSystemSecrets, bootstrapToken(tt.secret, tt.data))
			c.Settle()
			want := map[string]any{"kubeconfig": "text", "other": "kept"}
			if tt.signed {
				want["jws-kubeconfig-abcdef"] = signature
			}
			assert.Equal(t, want, object.Value(c.Get("configmaps", "kube-public", "cluster-info"), "data"))
			c.Delete(kubeSystemSecrets + "/" + tt.secret)
			c.Settle()
			assert.Equal(t, map[string]any{"kubeconfig": "text", "other": "kept"}, object.Value(c.Get("configmaps", "kube-public", "cluster-info"), "data"))
		})
	}
}
