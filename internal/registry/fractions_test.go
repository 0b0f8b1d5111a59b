package registry

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/wire"
)

func TestMayHaveFractions(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-01-01T00:00:00Z":             false,
		"2026-01-01T00:00:00.5Z":           true,
		"2026-01-01T00:00:00,25+01:00":     true,
		"2026-01-01T9:00:00.5Z":            true,
		"2026-01-01T00:00:00.000Z":         true,
		"2026-01-01T00:00:00.":             false,
		"TTT2026-01-01T00:00:00.123Z":      true,
		"T00:00":                           false,
		"registry.example.com:5000/T:v1.5": false,
		"":                                 false,
	} {
		body := []byte(`{"time":"` + text + `"}`)
		assert.Equal(t, want, mayHaveFractions(body), "%s", body)
		_, has := wire.TruncateTime(text)
		assert.False(t, has && !want, "%s has a fraction", text)
	}
}

// FuzzMayHaveFractions checks that no time with a fraction of a second is missed.
func FuzzMayHaveFractions(f *testing.F) {
	for _, text := range []string{"2026-01-01T00:00:00.5Z", "2026-01-01T9:00:00,5+01:00", "2026-01-01T00:00:00Z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, has := wire.TruncateTime(text); has {
			assert.True(t, mayHaveFractions([]byte(text)), "%s", text)
		}
	})
}
