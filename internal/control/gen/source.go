package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
)

// sources reads the comments of types from their packages.
type sources struct {
	root     string // of the module
	packages map[string]map[string]comments
}

// comments are the comments of a type and of its fields, by their names in Go. They
// name fields as JSON does.
type comments struct {
	doc    string
	fields map[string]string
}

const module = "github.com/kubefake/kubefake"

// of returns the comments of a struct.
func (s *sources) of(t reflect.Type) (comments, error) {
	path := t.PkgPath()
	if s.packages == nil {
		s.packages = map[string]map[string]comments{}
	}
	if s.packages[path] == nil {
		types, err := readComments(filepath.Join(s.root, strings.TrimPrefix(path, module)))
		if err != nil {
			return comments{}, err
		}
		s.packages[path] = types
	}
	return s.packages[path][t.Name()], nil
}

func readComments(dir string) (map[string]comments, error) {
	noTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), dir, noTests, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	out := map[string]comments{}
	for _, p := range packages {
		for _, file := range p.Files {
			for _, d := range file.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range g.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						if s, ok := t.Type.(*ast.StructType); ok {
							out[t.Name.Name] = structComments(t.Name.Name, g.Doc, s)
						}
					}
				}
			}
		}
	}
	return out, nil
}

func structComments(name string, doc *ast.CommentGroup, s *ast.StructType) comments {
	names := map[string]string{} // of fields, in JSON by Go
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			if f.Tag != nil {
				tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
				name, _, _ := strings.Cut(cmp.Or(tag.Get("json"), tag.Get("query")), ",")
				names[n.Name] = name
			}
		}
	}
	own := maps.Clone(names)
	delete(own, name)
	c := comments{text(doc, own), map[string]string{}}
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			group := f.Doc
			if group == nil {
				group = f.Comment
			}
			c.fields[n.Name] = text(group, names)
		}
	}
	return c
}

var identifier = regexp.MustCompile(`\b[A-Z]\w*\b`)

// constants are what comments name besides fields.
var constants = map[string]string{
	"OpenWatches": "open", "NewWatches": "new", "PauseWatch": "pause", "WithSeed": "--seed", "Inject": "the server",
}

// text returns the text of a comment on one line, with the names of fields in JSON.
func text(group *ast.CommentGroup, names map[string]string) string {
	line := strings.Join(strings.Fields(group.Text()), " ")
	return identifier.ReplaceAllStringFunc(line, func(word string) string {
		if name := names[word]; name != "" && name != "-" {
			return name
		}
		if value, ok := constants[word]; ok {
			return value
		}
		return word
	})
}
