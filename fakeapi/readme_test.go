package fakeapi_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadmeTables checks that the tables of the README have every option and every
// requirement.
func TestReadmeTables(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(b)
	}
	readme := read("../README.md")
	for _, source := range []struct{ file, pattern, row string }{
		{"option.go", `(?m)^func (With\w+)\(`, "| `%s("},
		{"../go.mod", `(?m)^(?:require )?\t?(\S+) v\d\S*(?: // indirect)?$`, "`%s`"},
	} {
		names := regexp.MustCompile(source.pattern).FindAllStringSubmatch(read(source.file), -1)
		require.NotEmpty(t, names, source.file)
		for _, name := range names {
			assert.Contains(t, readme, fmt.Sprintf(source.row, name[1]))
		}
	}
}
