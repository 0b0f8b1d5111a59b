package fakeapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pkg.go.dev shows no fields of an alias: the public packages have none.
func TestNoAliases(t *testing.T) {
	sources := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	for _, dir := range []string{".", "faults", "journal", "../mvcc", "../httptest", "../scenarios", "../scenarios/explore"} {
		packages, err := parser.ParseDir(token.NewFileSet(), dir, sources, 0)
		require.NoError(t, err)
		require.NotEmpty(t, packages, dir)
		for _, pkg := range packages {
			ast.Inspect(pkg, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok && s.Name.IsExported() {
					assert.False(t, s.Assign.IsValid(), "%s: %s is an alias", dir, s.Name)
				}
				return true
			})
		}
	}
}
