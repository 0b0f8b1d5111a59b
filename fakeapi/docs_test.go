package fakeapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
)

// TestDocsTables checks that the tables in docs have every option, every field of
// apiserver.Config and every requirement.
func TestDocsTables(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(b)
	}
	for _, source := range []struct{ files, page, pattern, row string }{
		{"*.go", "options.md", `(?m)^func (With\w+)\(.*\) Option `, "| `%s("},
		{"../go.mod", "dependencies.md", `(?m)^(?:require )?\t?(\S+) v\d\S*(?: // indirect)?$`, "`%s`"},
	} {
		files, err := filepath.Glob(source.files)
		require.NoError(t, err)
		var text strings.Builder
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				text.WriteString(read(file))
			}
		}
		names := regexp.MustCompile(source.pattern).FindAllStringSubmatch(text.String(), -1)
		require.NotEmpty(t, names, source.files)
		page := read("../docs/" + source.page)
		for _, name := range names {
			assert.Contains(t, page, fmt.Sprintf(source.row, name[1]))
		}
	}
	options := read("../docs/options.md")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[apiserver.Config]()) {
		assert.Contains(t, options, "`"+f.Name+"`")
	}
}
