package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	pathFunctions = regexp.MustCompile("`(\\w+)`")
	pathFile      = regexp.MustCompile(`\]\((.*?)\) \|$`)
)

// The functions of the path of a POST, as docs/architecture.md lists them, exist in
// the files that it names, and so do the packages.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "<!-- path: begin -->")
	table, _, ok := strings.Cut(rest, "<!-- path: end -->")
	require.True(t, ok)
	declared := func(file string) map[string]bool {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "docs", file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		out := map[string]bool{}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				out[f.Name.Name] = true
			}
		}
		return out
	}
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	require.NotEmpty(t, rows)
	for _, row := range rows {
		m := pathFile.FindStringSubmatch(row)
		require.NotNil(t, m, row)
		cells := strings.Split(row, "|")
		have := declared(m[1])
		for _, f := range pathFunctions.FindAllStringSubmatch(cells[2], -1) {
			assert.True(t, have[f[1]], "%s has no function %s", m[1], f[1])
		}
	}

	_, rest, _ = strings.Cut(string(text), "## Packages")
	packages, _, _ := strings.Cut(rest, "Nested modules")
	for row := range strings.Lines(packages) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		parent := ""
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			name, _, _ := strings.Cut(m[1], "/GROUP")
			dir := filepath.Join(root, name)
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				dir = filepath.Join(root, parent, name)
			}
			assert.DirExists(t, dir)
			if parent == "" {
				parent = filepath.Dir(name)
			}
		}
	}
}
