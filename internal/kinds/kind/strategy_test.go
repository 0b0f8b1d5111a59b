package kind

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestValidatedAsNew(t *testing.T) {
	twice := Strategy{UpdatesValidatedAsNew: ValidatedAsNew{Before: 35, Times: 1}}
	for name, want := range map[string]int{"v1.34": 1, "v1.35": 0} {
		r, err := release.Open(name)
		require.NoError(t, err)
		assert.Equal(t, want, twice.Build(r, &resource.Type{}).UpdatesValidatedAsNew, name)
	}
	assert.Zero(t, twice.Build(nil, &resource.Type{}).UpdatesValidatedAsNew)
}
