package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/modules"
)

// watched are the folders whose changes change what a server answers, by their modules.
var watched = []struct {
	module  string
	folders []string
}{
	{"k8s.io/kubernetes", []string{"pkg/api", "pkg/apis", "pkg/controlplane", "pkg/kubeapiserver", "pkg/quota", "pkg/registry", "pkg/serviceaccount", "plugin/pkg/admission", "plugin/pkg/auth"}},
	{"k8s.io/apiserver", []string{"pkg/admission", "pkg/audit", "pkg/authentication", "pkg/authorization", "pkg/cel", "pkg/endpoints", "pkg/quota", "pkg/registry", "pkg/server", "pkg/storage"}},
	{"k8s.io/apiextensions-apiserver", []string{"pkg/apis", "pkg/apiserver", "pkg/controller", "pkg/registry"}},
	{"k8s.io/apimachinery", []string{"pkg/api/validation", "pkg/apis/meta/v1/validation", "pkg/util/managedfields", "pkg/util/strategicpatch", "pkg/util/validation"}},
	{"k8s.io/kube-aggregator", []string{"pkg/apis", "pkg/apiserver", "pkg/controllers", "pkg/registry"}},
	{"k8s.io/pod-security-admission", []string{"admission", "api", "policy"}},
	{"k8s.io/component-helpers", []string{"resource", "storage"}},
	{"k8s.io/dynamic-resource-allocation", []string{"cel"}},
}

// generatedSource matches files that are generated from what the data has too.
var generatedSource = regexp.MustCompile(`(^zz_generated\.(conversion|deepcopy|defaults|model_name|openapi|prerelease-lifecycle).*|\.pb|_swagger_doc_generated|_test)\.go$`)

// sources returns the folders with a module as it goes with a release, and with the one that is added.
func (a *adder) sources(ctx context.Context, module, previous string) (old, now string, err error) {
	if old, err = sourcesAt(ctx, module, previous); err == nil {
		now, err = sourcesAt(ctx, module, a.version)
	}
	return old, now, err
}

func sourcesAt(ctx context.Context, module, version string) (string, error) {
	if module != "k8s.io/kubernetes" {
		version = modules.Staging(version)
	}
	dirs, err := modules.Dirs(ctx, module+"@"+version)
	return dirs[module], err
}

// reportSources lists the files and functions that changed upstream.
func (a *adder) reportSources(ctx context.Context, b *bytes.Buffer, previous string) error {
	b.WriteString("\n## Sources\n\nThe functions, types and variables that changed: `+` new, `-` gone.\n")
	for _, w := range watched {
		old, now, err := a.sources(ctx, w.module, previous)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n### %s\n\n", path.Base(w.module))
		var lines []string
		for _, folder := range w.folders {
			changed, err := changedDeclarations(old, now, folder)
			if err != nil {
				return err
			}
			parts := map[string][]string{} // by the folder of an API group
			for _, file := range slices.Sorted(maps.Keys(changed)) {
				group, rest, ok := strings.Cut(strings.TrimPrefix(file, folder+"/"), "/")
				if !ok {
					group, rest = "", group
				}
				parts[group] = append(parts[group], fmt.Sprintf("`%s` (%s)", rest, abbreviated(changed[file])))
			}
			for group, files := range parts {
				lines = append(lines, "**"+path.Join(folder, group)+"**: "+strings.Join(files, ", "))
			}
		}
		writeList(b, lines)
	}
	return nil
}

// namesPerFile is how many declarations of a file the report names.
const namesPerFile = 12

// abbreviated joins names.
func abbreviated(names []string) string {
	more := ""
	if len(names) > namesPerFile {
		more = fmt.Sprintf(" and %d more", len(names)-namesPerFile)
		names = names[:namesPerFile]
	}
	return strings.Join(names, " ") + more
}

// changedDeclarations returns the names of the declarations below a folder that differ in two
// versions of a module, by files.
func changedDeclarations(old, now, folder string) (map[string][]string, error) {
	before, err := goFiles(old, folder)
	if err != nil {
		return nil, err
	}
	after, err := goFiles(now, folder)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	changed := map[string][]string{}
	for file := range all {
		if before[file] == after[file] {
			continue
		}
		one, err := declarations(before[file])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(old, file), err)
		}
		two, err := declarations(after[file])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(now, file), err)
		}
		var names []string
		for name, change := range changes(one, two) {
			sign := map[string]string{"new": "+", "gone": "-"}[change]
			names = append(names, sign+name)
		}
		if len(names) == 0 {
			continue // comments and imports
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(strings.Compare(strings.TrimLeft(a, "+-"), strings.TrimLeft(b, "+-")), strings.Compare(a, b))
		})
		changed[file] = names
	}
	return changed, nil
}

// goFiles returns the texts of the Go files below a folder of a module that people write, by their
// paths in the module.
func goFiles(module, folder string) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(module), folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".go" || generatedSource.MatchString(path.Base(p)) || strings.Contains(p, "/testing/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(module, p))
		files[p] = string(text)
		return err
	})
	return files, err
}

// declarations returns the declarations of a Go file without their comments, by their names. There
// are none in an empty text.
func declarations(text string) (map[string]string, error) {
	out := map[string]string{}
	if text == "" {
		return out, nil
	}
	positions := token.NewFileSet()
	f, err := parser.ParseFile(positions, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiverName(d.Recv.List[0].Type) + "." + name
			}
			out[name] += printed(positions, d)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			for _, spec := range d.Specs {
				for _, name := range specNames(spec) {
					out[name] += printed(positions, spec)
				}
			}
		}
	}
	return out, nil
}

// receiverName returns the name of the type of a receiver.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// specNames returns the names that a type, a constant or a variable declares.
func specNames(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		names = append(names, s.Name.Name)
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// printed returns a node as text that does not depend on its place.
func printed(positions *token.FileSet, node ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, positions, node); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// testModules are the modules with integration tests.
var testModules = []string{"k8s.io/kubernetes", "k8s.io/apiextensions-apiserver"}

// testFunction matches the beginning of a test.
var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)

// reportTests lists the integration tests that are new upstream.
func (a *adder) reportTests(ctx context.Context, b *bytes.Buffer, previous string) error {
	b.WriteString("\n## New tests upstream\n\n`go -C conformance run ./upstream -packages EXPRESSION -run EXPRESSION` runs them, with this release as its `version`.\n\n")
	var lines []string
	for _, module := range testModules {
		before, after, err := a.sources(ctx, module, previous)
		if err != nil {
			return err
		}
		old, err := integrationTests(before)
		if err != nil {
			return err
		}
		now, err := integrationTests(after)
		if err != nil {
			return err
		}
		for dir, tests := range now {
			added := slices.DeleteFunc(tests, func(name string) bool { return slices.Contains(old[dir], name) })
			if len(added) > 0 {
				lines = append(lines, fmt.Sprintf("`%s/%s`: %s", path.Base(module), dir, strings.Join(added, ", ")))
			}
		}
	}
	writeList(b, lines)
	return nil
}

// integrationTests returns the integration tests of a module by their folders, sorted.
func integrationTests(module string) (map[string][]string, error) {
	tests := map[string][]string{}
	err := fs.WalkDir(os.DirFS(module), "test/integration", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(module, p))
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			tests[path.Dir(p)] = append(tests[path.Dir(p)], m[1])
		}
		return err
	})
	for _, names := range tests {
		slices.Sort(names)
	}
	return tests, err
}
