package release

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPreRelease checks the order and the minor release of names, of which some are of
// pre-releases.
func TestPreRelease(t *testing.T) {
	names := []string{"v1.38.0-rc.0-all", "v1.37.2-all", "v1.38.0-rc.0", "v1.37.2"}
	slices.SortFunc(names, compareNames)
	assert.Equal(t, []string{"v1.37.2", "v1.37.2-all", "v1.38.0-rc.0", "v1.38.0-rc.0-all"}, names)
	version, all := cutAll("v1.38.0-rc.0-all")
	assert.True(t, all)
	assert.Equal(t, "v1.38", minorNameOf(version))
	assert.Equal(t, 38, minorNumber("v1.38.0-rc.0-all"))
}
