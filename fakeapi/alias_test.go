package fakeapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// go doc shows no fields of an alias, so the comments of aliases list them. This
// test checks that the comments have every field.
func TestAliasDocs(t *testing.T) {
	docs := map[string]string{}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				if s := spec.(*ast.TypeSpec); s.Assign.IsValid() {
					docs[s.Name.Name] = d.Doc.Text()
				}
			}
		}
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[faults.Fault](), reflect.TypeFor[fakeapi.Request](), reflect.TypeFor[fakeapi.Write](),
		reflect.TypeFor[fakeapi.Writer](), reflect.TypeFor[fakeapi.Change](), reflect.TypeFor[fakeapi.User](),
		reflect.TypeFor[faults.Point](), reflect.TypeFor[faults.Action](),
	} {
		doc, ok := docs[typ.Name()]
		require.True(t, ok, "there is no alias %s", typ.Name())
		for i := range typ.NumField() {
			if !typ.Field(i).IsExported() {
				continue
			}
			assert.Regexp(t, `\b`+typ.Field(i).Name+`\b`, doc, typ.Name())
		}
		delete(docs, typ.Name())
	}
	for name := range docs {
		assert.Contains(t, []string{"WatchEffect", "WatchSelection", "ChangeType", "Moment"}, name, "a struct needs a row here")
	}
}
