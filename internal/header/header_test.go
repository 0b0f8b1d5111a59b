package header_test

import (
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/header"
)

func TestGet(t *testing.T) {
	h := http.Header{"Accept": {"first", "second"}, "Origin": {}}
	for _, name := range []string{"Accept", "Origin", "Authorization"} {
		assert.Equal(t, h.Get(name), header.Get(h, name), name)
	}
	assert.Empty(t, header.Get(nil, "Accept"))
}

func TestWarning(t *testing.T) {
	for value, want := range map[string]string{
		`299 - "deprecated"`:                  "deprecated",
		`299 - "unknown field \"spec.a\\b\""`: `unknown field "spec.a\b"`,
		`299 - ""`:                            "",
		"no text":                             "no text",
	} {
		assert.Equal(t, want, header.Warning(value), value)
	}
}

var get = regexp.MustCompile(`header\.Get\([^"\n]*"([^"]*)"\)`)

// TestNames checks the names in the calls of Get in this module.
func TestNames(t *testing.T) {
	calls := 0
	module := os.DirFS("../..")
	err := fs.WalkDir(module, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := fs.ReadFile(module, path)
		for _, call := range get.FindAllSubmatch(source, -1) {
			calls++
			name := string(call[1])
			assert.Equal(t, http.CanonicalHeaderKey(name), name, path)
		}
		return err
	})
	require.NoError(t, err)
	assert.NotZero(t, calls)
}
