package fakeapi_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocsTables checks that the tables in docs have every option and every requirement.
func TestDocsTables(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(b)
	}
	for _, source := range []struct{ file, page, pattern, row string }{
		{"option.go", "fixtures-and-webhooks.md", `(?m)^func (With\w+)\(`, "| `%s("},
		{"../go.mod", "dependencies.md", `(?m)^(?:require )?\t?(\S+) v\d\S*(?: // indirect)?$`, "`%s`"},
	} {
		names := regexp.MustCompile(source.pattern).FindAllStringSubmatch(read(source.file), -1)
		require.NotEmpty(t, names, source.file)
		page := read("../docs/" + source.page)
		for _, name := range names {
			assert.Contains(t, page, fmt.Sprintf(source.row, name[1]))
		}
	}
}
