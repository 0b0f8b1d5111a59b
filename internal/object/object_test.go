package object_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWritesDoNotCompile type-checks programs that write to an Object.
func TestWritesDoNotCompile(t *testing.T) {
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "source", nil)
	check := func(statement string) error {
		src := "package p\nimport \"github.com/kubefake/kubefake/internal/object\"\nfunc f(o *object.Object) { " + statement + " }"
		file, err := parser.ParseFile(fset, "p.go", src, 0)
		require.NoError(t, err)
		_, err = (&types.Config{Importer: from}).Check("p", fset, []*ast.File{file}, nil)
		return err
	}
	require.NoError(t, check(`_ = o.String("metadata", "name")`))
	for _, statement := range []string{
		`o["spec"] = nil`,
		`o.At("spec")["nodeName"] = "a"`,
		`o.At("spec").v = nil`,
		`delete(o.At("spec"), "nodeName")`,
		`o.At("spec", "containers")[0] = nil`,
		`for _, c := range o.At("spec", "containers").Items() { c["name"] = "a" }`,
		`_ = append(o.At("spec", "containers"), nil)`,
		`var m map[string]any = o.At("spec"); m["nodeName"] = "a"`,
	} {
		assert.Error(t, check(statement), statement)
	}
}
