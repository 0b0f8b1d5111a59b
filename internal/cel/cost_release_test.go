package cel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOptionalCost checks that comparisons of optional values have no estimated limit for
// kube-apiserver v1.32, whose new expressions are compatible with 1.31.
func TestOptionalCost(t *testing.T) {
	env := base(NewExpressions(32))
	ast, issues := env.Compile("optional.of(1) == optional.of(1)")
	require.NoError(t, issues.Err())
	for _, tt := range []struct {
		minor int
		cheap bool
	}{{32, false}, {33, true}, {36, true}} {
		e, err := env.EstimateCost(ast, costs{version: NewExpressions(tt.minor)})
		require.NoError(t, err)
		assert.Equal(t, tt.cheap, e.Max < maxRuleCost, "1.%d", tt.minor)
	}
}
