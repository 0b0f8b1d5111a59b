package kind

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestValidatedAsNew(t *testing.T) {
	twice := Strategy{ValidatedAsNewUntil: behavior.UpdatesOnce}
	for name, want := range map[string]bool{"v1.34": true, "v1.35": false} {
		r, err := release.Open(name)
		require.NoError(t, err)
		assert.Equal(t, want, twice.Build(r, &resource.Type{}).UpdatesValidatedAsNew, name)
	}
	assert.False(t, twice.Build(nil, &resource.Type{}).UpdatesValidatedAsNew)
}
