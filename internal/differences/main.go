// Differences generates the table of intended differences from kube-apiserver in
// README.md. Its rows are the paragraphs of Go comments that start with
// "Differs from kube-apiserver:". Run it in the root of the module:
//
//	go run ./internal/differences
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path"
	"slices"
	"strings"
)

//go:generate go run -C ../.. ./internal/differences

const (
	readme = "README.md"
	prefix = "Differs from kube-apiserver: "
	own    = "internal/differences" // this package, which contains the prefix too
	begin  = "<!-- differences: begin, written by go run ./internal/differences -->\n"
	end    = "<!-- differences: end -->\n"
)

func main() {
	log.SetFlags(0)
	if err := update("."); err != nil {
		log.Fatal("differences: ", err)
	}
}

// update rewrites the README of the module at root.
func update(root string) error {
	name := path.Join(root, readme)
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out, err := render(old, os.DirFS(root))
	if err != nil {
		return err
	}
	return os.WriteFile(name, out, 0o644)
}

// A difference is a row of the table.
type difference struct {
	dir  string // the folder of the package, relative to the root
	name string // the declaration with the comment; "" for the package
	text string // a sentence or more
}

// render returns the README with the table for a source tree. It fails if the README has
// no markers for the table.
func render(readme []byte, source fs.FS) ([]byte, error) {
	before, rest, ok := bytes.Cut(readme, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return nil, errors.New("the README has no markers for the table")
	}
	rows, err := collect(source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(begin + "| Package | Where | Difference |\n| --- | --- | --- |\n")
	for _, d := range rows {
		name := ""
		if d.name != "" {
			name = "`" + d.name + "`"
		}
		fmt.Fprintf(&b, "| [`%s`](%s) | %s | %s |\n", d.dir, d.dir, name, strings.ReplaceAll(d.text, "|", `\|`))
	}
	b.WriteString(end)
	b.Write(after)
	return b.Bytes(), nil
}

// collect returns the differences in the Go files below root, except tests, sorted by
// package.
func collect(root fs.FS) ([]difference, error) {
	var out []difference
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			base := entry.Name()
			if name == own || base == "testdata" || name != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil || !bytes.Contains(src, []byte(strings.TrimSpace(prefix))) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, text := range paragraphs(group.Text()) {
				out = append(out, difference{path.Dir(name), declaration(file, group), text})
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b difference) int { return cmp.Compare(a.dir, b.dir) })
	return out, err
}

// paragraphs returns the paragraphs of a comment that describe a difference, each on one
// line and without the prefix.
func paragraphs(comment string) []string {
	var out []string
	for p := range strings.SplitSeq(comment, "\n\n") {
		text, ok := strings.CutPrefix(strings.Join(strings.Fields(p), " "), prefix)
		if ok {
			out = append(out, text)
		}
	}
	return out
}

// declaration returns the name of the declaration that a comment documents or is in.
func declaration(file *ast.File, comment *ast.CommentGroup) string {
	for _, decl := range file.Decls {
		start := decl.Pos()
		if doc := docOf(decl); doc != nil {
			start = doc.Pos()
		}
		if comment.Pos() < start || comment.Pos() > decl.End() {
			continue
		}
		switch d := decl.(type) {
		case *ast.FuncDecl:
			return d.Name.Name
		case *ast.GenDecl:
			// The first specification that has not ended before the comment.
			for _, spec := range d.Specs {
				if spec.End() < comment.Pos() {
					continue
				}
				switch s := spec.(type) {
				case *ast.TypeSpec:
					return s.Name.Name
				case *ast.ValueSpec:
					return s.Names[0].Name
				}
			}
		}
	}
	return ""
}

func docOf(decl ast.Decl) *ast.CommentGroup {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}
