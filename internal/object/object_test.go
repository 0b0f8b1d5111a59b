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
		src := "package p\nimport \"github.com/kubefake/kubefake/internal/object\"\nfunc f(o *object.Object) { old := o.View(); " + statement + " }"
		file, err := parser.ParseFile(fset, "p.go", src, 0)
		require.NoError(t, err)
		_, err = (&types.Config{Importer: from}).Check("p", fset, []*ast.File{file}, nil)
		return err
	}
	require.NoError(t, check(`_ = old.String("metadata", "name")`))
	for _, statement := range []string{
		`old["spec"] = nil`,
		`old.At("spec")["nodeName"] = "a"`,
		`old.At("spec").v = nil`,
		`delete(old.At("spec"), "nodeName")`,
		`old.At("spec", "containers")[0] = nil`,
		`for _, c := range old.At("spec", "containers").Items() { c["name"] = "a" }`,
		`_ = append(old.At("spec", "containers"), nil)`,
		`var m map[string]any = old.At("spec"); m["nodeName"] = "a"`,
	} {
		assert.Error(t, check(statement), statement)
	}
}
