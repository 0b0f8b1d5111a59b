package kindtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// Versions returns the storage version of a resource and another version.
func Versions(t testing.TB, name string) (stored, other *resource.Type) {
	t.Helper()
	stored = TypeOf(t, name)
	for _, v := range stored.Versions {
		if v.GroupVersion != stored.GroupVersion {
			return stored, v
		}
	}
	require.Fail(t, "the resource has one version only", name)
	return nil, nil
}

// Convert converts the object to the version of to, and checks that the result is
// canonical.
func Convert(t testing.TB, to *resource.Type, obj map[string]any) map[string]any {
	t.Helper()
	out, err := to.Convert(context.Background(), []map[string]any{object.Copy(obj)})
	require.NoError(t, err)
	normal, _, err := to.Codec.Normalize(out[0], true)
	require.NoError(t, err)
	assert.Equal(t, normal, out[0], "canonical")
	return out[0]
}
