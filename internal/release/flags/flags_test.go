package flags

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/release"
)

func types(list func(yield func(Flag) bool)) map[string]string {
	out := map[string]string{}
	for f := range list {
		out[f.Name] = f.Type
	}
	return out
}

func TestKubeAPIServer(t *testing.T) {
	for _, name := range release.Names() {
		r, err := release.Open(name)
		if !assert.NoError(t, err) {
			continue
		}
		got := types(KubeAPIServer(r.Minor()))
		assert.Greater(t, len(got), 150, name)
		assert.Equal(t, "int", got["secure-port"], name)
		assert.Equal(t, "bool", got["anonymous-auth"], name)
		assert.Equal(t, "strings", got["etcd-servers"], name)
		assert.NotContains(t, got, "help", name)
	}
	old, new := types(KubeAPIServer(32)), types(KubeAPIServer(36))
	assert.NotContains(t, old, "tls-curve-preferences")
	assert.Contains(t, new, "tls-curve-preferences")
	assert.Empty(t, slices.Collect(maps.Keys(types(KubeAPIServer(2)))))
}

func TestEtcd(t *testing.T) {
	got := types(Etcd())
	assert.Equal(t, "bool", got["unsafe-no-fsync"])
	assert.Equal(t, "string", got["listen-client-urls"])
}
