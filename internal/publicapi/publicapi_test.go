package publicapi

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata")

// packages are the public packages of the root module.
var packages = []string{
	"fakeapi", "fakeapi/apiserver", "fakeapi/clusters", "fakeapi/faults", "fakeapi/journal", "fakeapi/kubelet", "fakeapi/manifests", "fakeapi/usage",
	"httptest", "mvcc", "scenarios", "scenarios/explore",
}

func TestPublicAPI(t *testing.T) {
	for _, name := range packages {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", strings.ReplaceAll(name, "/", "_")+".txt")
			have := declarations(t, filepath.Join("..", "..", name))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(have), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), have, "if the change is wanted, run: go test ./internal/publicapi -update")
		})
	}
}

// declarations returns the exported declarations of the package in a directory, sorted,
// without comments and bodies. Files of other systems count.
func declarations(t *testing.T, dir string) string {
	sources := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	fset := token.NewFileSet()
	parsed, err := parser.ParseDir(fset, dir, sources, 0)
	require.NoError(t, err)
	require.Len(t, parsed, 1)
	var out []string
	for _, pkg := range parsed {
		ast.PackageExports(pkg)
		for _, file := range pkg.Files {
			for _, decl := range file.Decls {
				out = append(out, textOf(t, fset, decl)...)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "")
}

// textOf returns the text of a declaration: one for each constant, variable and type.
func textOf(t *testing.T, fset *token.FileSet, decl ast.Decl) (out []string) {
	add := func(node any) {
		var b bytes.Buffer
		require.NoError(t, printer.Fprint(&b, fset, node))
		out = append(out, strings.Join(strings.Fields(b.String()), " ")+"\n")
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
			return nil
		}
		d.Body = nil
		add(d)
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil
		}
		for _, spec := range d.Specs {
			add(&ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}})
		}
	}
	return out
}

// receiver returns the name of the type of a receiver.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	}
	return x.(*ast.Ident).Name
}
