package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
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
// the files that it names.
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
}

var packageNames = regexp.MustCompile("`([^`]+)`")

// The table of packages names the folders that exist, and each folder of internal.
func TestArchitecturePackages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "## Packages")
	packages, _, _ := strings.Cut(rest, "Nested modules")
	named := map[string]bool{}
	for row := range strings.Lines(packages) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		parent := ""
		for _, m := range packageNames.FindAllStringSubmatch(cells[1], -1) {
			name, _, _ := strings.Cut(m[1], "/GROUP")
			name, _, _ = strings.Cut(name, "/AREA")
			if parent == "" {
				parent = filepath.Dir(name)
			} else if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				name = filepath.Join(parent, name)
			}
			assert.DirExists(t, filepath.Join(root, name))
			named[name] = true
		}
	}
	folders, err := os.ReadDir(filepath.Join(root, "internal"))
	require.NoError(t, err)
	for _, f := range folders {
		name := filepath.Join("internal", f.Name())
		assert.True(t, named[name] || !f.IsDir(), "the table has no row for %s", name)
	}
}

// Imports run one way, downwards.
func TestArchitectureImports(t *testing.T) {
	const module = "github.com/kubefake/kubefake/"
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir, list.Env = root, append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	require.NoError(t, err)
	allowed := map[string]*regexp.Regexp{ // of the packages below the first folder of a path
		"mvcc":      regexp.MustCompile(`^$`),
		"httptest":  regexp.MustCompile(`^internal/header$`),
		"internal":  regexp.MustCompile(`^(internal/|mvcc$|httptest$|fakeapi/(faults|journal|usage)$)`),
		"fakeapi":   regexp.MustCompile(`^(internal/|mvcc$|httptest$|fakeapi)`),
		"scenarios": regexp.MustCompile(`^(internal/|httptest$|fakeapi|scenarios)`),
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(strings.ReplaceAll(line, module, ""))
		folder, _, _ := strings.Cut(words[0], "/")
		rule := allowed[folder]
		if rule == nil || strings.HasPrefix(words[0], "internal/apitest") {
			continue
		}
		for _, imported := range words[1:] {
			if strings.Contains(line, module+imported) {
				assert.Regexp(t, rule, imported, "imported by %s", words[0])
			}
		}
	}
}
