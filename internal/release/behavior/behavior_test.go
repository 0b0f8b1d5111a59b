package behavior

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const path = "github.com/kubefake/kubefake/internal/release/behavior"

func TestIn(t *testing.T) {
	assert.Equal(t, 34, PlainDetails.Minor())
	for minor, want := range map[int]bool{0: true, 33: false, 34: true, 35: true} {
		assert.Equal(t, want, PlainDetails.In(minor), minor)
	}
	assert.True(t, Behavior(0).In(32))
}

// comparesReleases are the files that compare the numbers of releases, because they select
// data of a release, and the reason.
var comparesReleases = map[string]string{
	"internal/release/":                                "reads what depends on the release",
	"internal/wire/table.go":                           "the Go types of releases",
	"internal/unversioned/unversioned.go":              "the Go types of releases",
	"internal/kinds/kind/gatedfields.go":               "the fields of feature gates by release",
	"internal/profile/profile.go":                      "the release that is closest to a cluster",
	"internal/admission/plugin/podsecurity/metrics.go": "the version of a policy, which users choose",
}

// A rule asks for a behavior or a feature gate: it does not compare the number of a release.
func TestNoRuleComparesReleases(t *testing.T) {
	for _, files := range sources(t) {
		for name, file := range files {
			if exempt(name) {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if comparesMinor(n) {
					t.Errorf("%v compares the number of a release: give what it does otherwise a name in internal/release/behavior/table.go", fset.Position(n.Pos()))
				}
				return true
			})
		}
	}
}

func TestComparesMinor(t *testing.T) {
	for expr, want := range map[string]bool{
		"r.Minor() < 34": true, "strict <= minor": true, "(row.Minor) != 0": true, "minor-1 >= 35": true,
		"wire.ForKindIn(minor, g, v, k) == nil": false, "len(names) < 34": false, "minor + 1": false,
	} {
		e, err := parser.ParseExpr(expr)
		require.NoError(t, err)
		assert.Equal(t, want, comparesMinor(e), expr)
	}
}

// Each behavior has a comment that says what changed, and one behavior has one name.
func TestTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, parser.ParseComments)
	require.NoError(t, err)
	for name, comment := range constants(file) {
		assert.Regexp(t, "^"+name+`: [^.]+\.`, comment, name)
	}
}

// Rules ask for each behavior. When 1.32 is no longer served, the rows of 1.33 are deleted, as
// here in a copy, and the compiler lists the rules that ask for them, and no others.
func TestCompilerListsTheRules(t *testing.T) {
	src, err := os.ReadFile("table.go")
	require.NoError(t, err)
	blocks := regexp.MustCompile(`(?ms)^const \(\n\t_ Behavior = (\d+)\*byRelease.*?^\)\n`)
	listed := undefined(t, blocks.ReplaceAllString(string(src), ""))
	for _, block := range blocks.FindAllStringSubmatch(string(src), -1) {
		gone, err := parser.ParseFile(token.NewFileSet(), "", "package behavior\n"+block[0], parser.ParseComments)
		require.NoError(t, err)
		for name := range constants(gone) {
			assert.NotEmpty(t, listed[name], "no rule asks for %s", name)
		}
		if block[1] == "33" {
			listed := undefined(t, strings.Replace(string(src), block[0], "", 1))
			assert.ElementsMatch(t, slices.Collect(maps.Keys(constants(gone))), slices.Collect(maps.Keys(listed)))
			for name, places := range listed {
				t.Log(name, places)
			}
		}
	}
}

// undefined checks the types of the packages that use this one, with another table. It
// returns where they use a behavior that is not in it, by name. What they use of other
// packages is not looked up.
func undefined(t *testing.T, table string) map[string][]string {
	t.Helper()
	places := map[string][]string{}
	own := make([]*ast.File, 2)
	for i, src := range []any{nil, table} {
		var err error
		own[i], err = parser.ParseFile(fset, []string{"behavior.go", "table.go"}[i], src, 0)
		require.NoError(t, err)
	}
	checked, err := (&types.Config{}).Check(path, fset, own, nil)
	require.NoError(t, err)
	config := &types.Config{
		Importer: importer{checked},
		Error: func(err error) {
			var e types.Error
			if !errors.As(err, &e) {
				return
			}
			if name, ok := strings.CutPrefix(e.Msg, "undefined: behavior."); ok {
				places[name] = append(places[name], fset.Position(e.Pos).String())
			}
		},
	}
	for dir, files := range sources(t) {
		var users []*ast.File
		for _, f := range files {
			if imports(f, path) {
				users = append(users, f)
			}
		}
		if len(users) > 0 {
			_, _ = config.Check(dir, fset, users, nil) // Error has its errors
		}
	}
	return places
}

// An importer has one package.
type importer struct{ pkg *types.Package }

func (i importer) Import(path string) (*types.Package, error) {
	if path == i.pkg.Path() {
		return i.pkg, nil
	}
	return nil, errors.New("not looked up")
}

var (
	fset   = token.NewFileSet()
	parsed map[string]map[string]*ast.File
)

// sources returns the files of the module without tests, by folder and name.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	if parsed != nil {
		return parsed
	}
	const root = "../../.."
	all := map[string]map[string]*ast.File{}
	for _, top := range []string{"internal", "fakeapi", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || d.Name() == "testdata" {
					return filepath.SkipDir
				}
				return nil
			case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				return err
			}
			dir, short := filepath.Dir(name), filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
			if all[dir] == nil {
				all[dir] = map[string]*ast.File{}
			}
			all[dir][short] = file
			return nil
		})
		require.NoError(t, err)
	}
	parsed = all
	return all
}

// constants returns the comments of the constants of a file, by their names.
func constants(file *ast.File) map[string]string {
	out := map[string]string{}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
			for _, s := range d.Specs {
				if s := s.(*ast.ValueSpec); s.Names[0].Name != "_" {
					out[s.Names[0].Name] = s.Doc.Text()
				}
			}
		}
	}
	return out
}

// exempt reports whether a file may compare the numbers of releases.
func exempt(name string) bool {
	if !strings.HasPrefix(name, "internal/") {
		return true
	}
	for prefix := range comparesReleases {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(path) })
}

// comparesMinor reports whether a comparison or a switch is about the number of a release.
func comparesMinor(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		comparisons := []token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ}
		return slices.Contains(comparisons, n.Op) && (isMinor(n.X) || isMinor(n.Y))
	case *ast.SwitchStmt:
		return n.Tag != nil && isMinor(n.Tag)
	}
	return false
}

// isMinor reports whether an expression is the number of a release, by its name.
func isMinor(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.EqualFold(e.Name, "minor")
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "minor")
	case *ast.CallExpr:
		return isMinor(e.Fun)
	case *ast.ParenExpr:
		return isMinor(e.X)
	case *ast.BinaryExpr:
		return isMinor(e.X) || isMinor(e.Y)
	}
	return false
}
