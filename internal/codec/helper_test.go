package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/wire"
)

// kind returns the type of a kind of v1.
func kind(t testing.TB, name string) *wire.Type {
	typ, ok := wire.ForKind("", "v1", name)
	require.True(t, ok)
	return typ
}

// lenient is the codec of a built-in kind.
type lenient struct{ *wire.Type }

func (t lenient) Wire() *wire.Type { return t.Type }

func (t lenient) Decode(body []byte, strict bool) (map[string]any, []error, error) {
	return t.Type.Decode(body, wire.DecodeOptions{Strict: strict})
}

func (t lenient) Normalize(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return t.Type.Normalize(obj, wire.DecodeOptions{Strict: strict})
}
