package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A value is measured in thousandths, rounded away from zero, and at once, whatever its exponent is.
func TestMeasuredValues(t *testing.T) {
	for value, want := range map[string]int64{"250m": 250, "2": 2000, " 1 ": 1000, "1n": 1, "-1n": -1, "5e-1999999999": 1} {
		t.Run(value, func(t *testing.T) {
			milli, err := parse("cpu", value)
			require.NoError(t, err)
			assert.Equal(t, want, milli)
		})
	}
}
