//go:build go1.26

package registry

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// API servers of two releases read the same object, each by the rules of its release.
func TestDecodedCacheOfReleases(t *testing.T) {
	pods := func(name string) *resource.Type {
		p, err := release.Open(name)
		require.NoError(t, err)
		return baseOf(p).types.Lookup("", "v1", "pods")
	}
	before, now := pods("v1.33"), pods("v1.36")
	stored := storage.New(now, map[string]any{
		"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "namespace": "default"},
		"spec": map[string]any{"hostnameOverride": "x"},
	}, nil)
	var cache decodedCache
	for range 2 {
		assert.Equal(t, "x", object.String(cache.get(now, stored), "spec", "hostnameOverride"))
		assert.Empty(t, object.String(cache.get(before, stored), "spec", "hostnameOverride"), "v1.33 does not have the field")
	}
}
