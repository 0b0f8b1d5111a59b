// Differences generates the table of docs/differences.md. Its rows are the paragraphs of
// Go comments that have this form, on any number of lines:
//
//	Differs from kube-apiserver: SUBJECT: TEXT. Request: REQUEST.
//
// SUBJECT names what differs, REQUEST an API request that shows it. It also generates the
// tables of docs/feature-gates.md and docs/feature-gates-without-effect.md from the gates of
// package release and the code that asks them. Run it in the root of the module:
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
	pageFile = "docs/differences.md"
	prefix   = "Differs from kube-apiserver: "
	own      = "internal/differences" // this package, which contains the prefix too
	begin    = "<!-- differences: begin, written by go run ./internal/differences -->\n"
	end      = "<!-- differences: end -->\n"
)

func main() {
	log.SetFlags(0)
	if err := update("."); err != nil {
		log.Fatal("differences: ", err)
	}
}

// pages are the pages with tables, by their names.
var pages = map[string]func(page []byte, source fs.FS) ([]byte, error){
	pageFile:       render,
	gatesFile:      renderGates,
	otherGatesFile: renderOtherGates,
}

// update rewrites the pages of the module at root.
func update(root string) error {
	for file, render := range pages {
		name := path.Join(root, file)
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		out, err := render(old, os.DirFS(root))
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, out, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// replaceTable returns a page with another table between its markers.
func replaceTable(page []byte, begin, end string, table []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return nil, errors.New("the page has no markers for the table")
	}
	return slices.Concat(before, []byte(begin), table, []byte(end), after), nil
}

// A difference is a row of the table.
type difference struct {
	dir     string // the folder of the package, relative to the root
	name    string // the declaration with the comment; "" for the package
	subject string
	text    string // a sentence or more
	request string // shows the difference
}

// render returns the page with the table for a source tree. It fails if the page has no
// markers for the table.
func render(page []byte, source fs.FS) ([]byte, error) {
	rows, err := collect(source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("| Subject | Difference | Request that shows it | Code |\n| --- | --- | --- | --- |\n")
	escape := strings.NewReplacer("|", `\|`).Replace
	for _, d := range rows {
		code := d.dir
		if d.name != "" {
			code += "." + d.name
		}
		fmt.Fprintf(&b, "| %s | %s | %s | [`%s`](../%s) |\n", escape(d.subject), escape(d.text), escape(d.request), code, d.dir)
	}
	return replaceTable(page, begin, end, b.Bytes())
}

// collect returns the differences in the Go files below root, except tests, sorted by
// subject.
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
			for _, p := range paragraphs(group.Text()) {
				d, ok := parse(p)
				if !ok {
					return fmt.Errorf("%s: %q has no subject or no request", name, p)
				}
				d.dir, d.name = path.Dir(name), declaration(file, group)
				out = append(out, d)
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b difference) int { return cmp.Compare(a.subject, b.subject) })
	return out, err
}

// paragraphs returns the paragraphs of a comment that describe a difference, each on one
// line and without the prefix.
func paragraphs(comment string) []string {
	var out []string
	for _, p := range strings.Split(comment, "\n\n") {
		text, ok := strings.CutPrefix(strings.Join(strings.Fields(p), " "), prefix)
		if ok {
			out = append(out, text)
		}
	}
	return out
}

// parse parses a paragraph without its prefix.
func parse(p string) (d difference, ok bool) {
	subject, rest, hasSubject := strings.Cut(p, ": ")
	i := strings.LastIndex(rest, " Request: ")
	if !hasSubject || i < 0 {
		return difference{}, false
	}
	text, request := rest[:i], strings.TrimSuffix(rest[i+len(" Request: "):], ".")
	return difference{subject: upperFirst(subject), text: text, request: request}, true
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
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
