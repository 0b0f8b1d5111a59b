package docs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// imports are the packages that blocks without an import declaration may use.
var imports = map[string]string{
	"admissionregistrationv1": "k8s.io/api/admissionregistration/v1",
	"admissionv1":             "k8s.io/api/admission/v1",
	"apierrors":               "k8s.io/apimachinery/pkg/api/errors",
	"apiserver":               "github.com/kubefake/kubefake/fakeapi/apiserver",
	"appsv1":                  "k8s.io/api/apps/v1",
	"authenticationv1":        "k8s.io/api/authentication/v1",
	"clusters":                "github.com/kubefake/kubefake/fakeapi/clusters",
	"context":                 "context",
	"corev1":                  "k8s.io/api/core/v1",
	"ctrl":                    "sigs.k8s.io/controller-runtime",
	"dynamic":                 "k8s.io/client-go/dynamic",
	"errors":                  "errors",
	"explore":                 "github.com/kubefake/kubefake/scenarios/explore",
	"fakeapi":                 "github.com/kubefake/kubefake/fakeapi",
	"faults":                  "github.com/kubefake/kubefake/fakeapi/faults",
	"fmt":                     "fmt",
	"http":                    "net/http",
	"httptest":                "net/http/httptest",
	"journal":                 "github.com/kubefake/kubefake/fakeapi/journal",
	"json":                    "encoding/json",
	"kubernetes":              "k8s.io/client-go/kubernetes",
	"metav1":                  "k8s.io/apimachinery/pkg/apis/meta/v1",
	"os":                      "os",
	"pem":                     "encoding/pem",
	"rest":                    "k8s.io/client-go/rest",
	"restconfig":              "github.com/kubefake/kubefake/fakeapi/restconfig",
	"retry":                   "k8s.io/client-go/util/retry",
	"schema":                  "k8s.io/apimachinery/pkg/runtime/schema",
	"scenarios":               "github.com/kubefake/kubefake/scenarios",
	"strings":                 "strings",
	"synctest":                "testing/synctest",
	"testing":                 "testing",
	"time":                    "time",
	"types":                   "k8s.io/apimachinery/pkg/types",
	"unstructured":            "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured",
	"usage":                   "github.com/kubefake/kubefake/fakeapi/usage",
	"watch":                   "k8s.io/apimachinery/pkg/watch",
	"webhook":                 "sigs.k8s.io/controller-runtime/pkg/webhook",
}

var declaresServer = regexp.MustCompile(`\b(fakeapi\.Start|fakeapi\.New|scenarios\.Replay)\(`)

var functions = regexp.MustCompile(`(?m)^(?:func|type|var|const) `)

// source returns the test file for a go block, and the names of its tests.
func (p page) source(b block) (src string, tests []string, err error) {
	src = b.text
	if !strings.HasPrefix(src, "package ") && !strings.Contains(src, "\npackage ") {
		if !functions.MatchString(src) {
			server := ""
			if !declaresServer.MatchString(src) {
				server = "srv := fakeapi.Start(t); "
			}
			src = fmt.Sprintf("func Test_%s(t *testing.T) { %s\n//line %s:%d\n%s}\n", p.goName(b), server, p.name, b.line+1, src)
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", "package docs\n"+src, 0)
		if err != nil {
			return "", nil, fmt.Errorf("%s:%d: %v", p.name, b.line, err)
		}
		used := map[string]string{}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				// A local variable may have the name of a package.
				if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil && imports[x.Name] != "" {
					used[x.Name] = imports[x.Name]
				}
			}
			return true
		})
		head := "package docs\n\n"
		for _, name := range slices.Sorted(maps.Keys(used)) {
			head += fmt.Sprintf("import %s %q\n", name, used[name])
		}
		src = head + "\n" + src
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, fmt.Errorf("%s:%d: %v", p.name, b.line, err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
			tests = append(tests, f.Name.Name)
		}
	}
	return src, tests, nil
}

// The go blocks compile, and their tests pass.
func TestGoBlocks(t *testing.T) {
	t.Parallel()
	type run struct {
		page   page
		binary string
		tests  []string
	}
	var runs []run
	here, err := os.Getwd()
	require.NoError(t, err)
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	packages := map[string]bool{} // names of directories below blocks
	add := func(pkg, name, src string) {
		file := filepath.Join(tmp, pkg+"_"+name+"_test.go")
		require.NoError(t, os.WriteFile(file, []byte(src), 0o644))
		overlay.Replace[filepath.Join(here, "blocks", pkg, name+"_test.go")] = file
		packages[pkg] = true
	}
	for _, p := range pages(t) {
		var shared []string
		for _, b := range p.blocks {
			if _, file := b.args["file"]; b.language != "go" || file { // TestRecipes runs files
				continue
			}
			src, tests, err := p.source(b)
			require.NoError(t, err)
			if src == b.text {
				add(p.goName(b), "file", src)
				runs = append(runs, run{p, p.goName(b), tests})
				continue
			}
			add("shared", p.goName(b), src)
			shared = append(shared, tests...)
		}
		if shared != nil {
			runs = append(runs, run{p, "shared", shared})
		}
	}
	config, err := json.Marshal(overlay)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(tmp, "overlay.json"), config, 0o644))
	args := append([]string{"test", "-c", "-vet=off", "-overlay", filepath.Join(tmp, "overlay.json"), "-o", tmp + "/"}, raceFlag()...)
	for pkg := range packages {
		args = append(args, "./blocks/"+pkg)
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)

	for _, r := range runs {
		t.Run(r.page.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r.page.writeFiles(t, dir)
			binary := filepath.Join(tmp, r.binary+".test")
			cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.timeout=1m", "-test.run=^("+strings.Join(r.tests, "|")+")$")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			for _, name := range r.tests {
				require.Contains(t, string(out), "--- PASS: "+name+" ")
			}
		})
	}
}

// raceFlag returns -race if this test was built with it, so that both share what
// they compile.
func raceFlag() []string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return []string{"-race"}
		}
	}
	return nil
}

// writeFiles writes the files of a page to a directory.
func (p page) writeFiles(t *testing.T, dir string) {
	for _, b := range p.blocks {
		if name, ok := b.args["file"]; ok && b.language == "yaml" {
			path := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(b.text), 0o644))
		}
	}
}
