package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/release"
)

// The pages of feature gates, of those that have an effect here and of the others, and the
// markers of their tables.
const (
	gatesFile      = "docs/feature-gates.md"
	otherGatesFile = "docs/feature-gates-without-effect.md"

	gatesBegin = "<!-- gates: begin, written by go run ./internal/differences -->\n"
	gatesEnd   = "<!-- gates: end -->\n"
)

// renderGates returns the page of feature gates with the table: the gates of all
// releases that packages of a source tree name in a string, and those packages.
func renderGates(page []byte, source fs.FS) ([]byte, error) {
	return renderGateTable(page, source, true)
}

// renderOtherGates returns the page of the other feature gates with their table.
func renderOtherGates(page []byte, source fs.FS) ([]byte, error) {
	return renderGateTable(page, source, false)
}

func renderGateTable(page []byte, source fs.FS, asked bool) ([]byte, error) {
	var releases []*release.Release
	for _, name := range release.Names() {
		r, err := release.Open(name)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(name, "-all") {
			releases = append(releases, r)
		}
	}
	states := map[string][]string{} // by gate, one for each release
	for i, r := range releases {
		for _, g := range r.Gates() {
			if states[g.Name] == nil {
				states[g.Name] = make([]string, len(releases))
			}
			states[g.Name][i] = gateState(g)
		}
	}
	users, err := gateUsers(source, states)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("| Gate |")
	for _, r := range releases {
		fmt.Fprintf(&b, " 1.%d |", r.Minor())
	}
	columns := len(releases) + 1
	if asked {
		b.WriteString(" Asked by |")
		columns++
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", columns) + "\n")
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if asked != (users[name] != nil) {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", name, strings.Join(states[name], " | "))
		if asked {
			fmt.Fprintf(&b, " %s |", strings.Join(users[name], ", "))
		}
		b.WriteByte('\n')
	}
	return replaceTable(page, gatesBegin, gatesEnd, b.Bytes())
}

// gateState returns the state of a gate as the table prints it: "beta, on".
func gateState(g release.Gate) string {
	text := strings.ToLower(g.Stage)
	if g.Stage == "GA" {
		text = g.Stage
	}
	switch {
	case g.Locked && g.Default:
		return text + ", locked"
	case g.Locked:
		return text + ", locked off"
	case g.Default:
		return text + ", on"
	}
	return text + ", off"
}

// gateUsers returns the packages below internal that name each gate.
func gateUsers(source fs.FS, gates map[string][]string) (map[string][]string, error) {
	users := map[string][]string{}
	err := fs.WalkDir(source, "internal", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			// The name of a package that only tests use ends in "test".
			if name == own || strings.HasSuffix(name, "test") || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		link := fmt.Sprintf("[`%s`](../%s)", strings.TrimPrefix(dir, "internal/"), dir)
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				gate, _ := strconv.Unquote(text.Value)
				if gates[gate] != nil && !slices.Contains(users[gate], link) {
					users[gate] = append(users[gate], link)
				}
			}
			return true
		})
		return nil
	})
	return users, err
}
