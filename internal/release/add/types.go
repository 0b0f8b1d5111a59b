package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release/modules"
)

// The folders and files that the steps change.
const (
	releaseFile   = "internal/release/release.go"
	genDir        = "internal/release/gen"
	recordingsDir = "internal/release/gen/recordings"
	surfacesDir   = "internal/release/data/surfaces"
	schemeFile    = "internal/release/gen/scheme/groupversions.go"
)

// addTypes makes a release that is not older than the newest one the newest, or records the Go
// types of an older one.
func (a *adder) addTypes(ctx context.Context) error {
	newest, err := firstMatch(releaseFile, newestConstant)
	if err != nil {
		return err
	}
	if modules.Minor(a.version) < modules.Minor(newest) {
		return a.recordOlderTypes(ctx)
	}
	if err := removeOtherPatches(a.version); err != nil {
		return err
	}
	return setNewest(ctx, a.version)
}

// setNewest makes a release the one whose Go types the generator is built with.
func setNewest(ctx context.Context, version string) error {
	if err := setConstant(newestConstant, "Newest", version); err != nil {
		return err
	}
	scheme, err := schemeText(ctx, version)
	if err != nil {
		return err
	}
	if err := os.WriteFile(schemeFile, scheme, 0o644); err != nil {
		return err
	}
	return requireModules(ctx, version)
}

// setConstant sets a constant in release.go.
func setConstant(line *regexp.Regexp, name, value string) error {
	text, err := os.ReadFile(releaseFile)
	if err != nil {
		return err
	}
	return os.WriteFile(releaseFile, line.ReplaceAll(text, fmt.Appendf(nil, "const %s = %q", name, value)), 0o644)
}

// requireModules sets the versions of Kubernetes' modules in the generator's go.mod file. flags
// name another file than go.mod.
func requireModules(ctx context.Context, version string, flags ...string) error {
	edit, tidy := []string{"mod", "edit"}, append([]string{"mod", "tidy"}, flags...)
	for _, module := range append(modules.Types(version), modules.ExtensionsServer) {
		edit = append(edit, "-require="+module+"@"+modules.Staging(version))
	}
	for _, f := range flags {
		if file, ok := strings.CutPrefix(f, "-modfile="); ok {
			edit = append(edit, file)
		}
	}
	if err := command(ctx, genDir, "go", edit...); err != nil {
		return err
	}
	return command(ctx, genDir, "go", tidy...)
}

// recordOlderTypes records the Go types of a release that is not the newest one, with a generator
// that is built with its modules. Releases before the first one with such a recording have none.
func (a *adder) recordOlderTypes(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(recordingsDir, "*", "types.txt"))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(file string) bool {
		return modules.Minor(filepath.Base(filepath.Dir(file))) <= modules.Minor(a.version)
	}) {
		return nil
	}
	if err := removeOtherPatches(a.version); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "add-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(genDir, name))
		if err != nil {
			return err
		}
		if name == "go.mod" { // whose paths are relative to its module
			here, err := os.Getwd()
			if err != nil {
				return err
			}
			text = bytes.ReplaceAll(text, []byte("=> ../../.."), []byte("=> "+here))
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	scheme, err := schemeText(ctx, a.version)
	if err != nil {
		return err
	}
	overlay, err := writeOverlay(dir, schemeFile, scheme)
	if err != nil {
		return err
	}
	flags := []string{"-modfile=" + filepath.Join(dir, "go.mod"), "-overlay=" + overlay}
	if err := requireModules(ctx, a.version, flags...); err != nil {
		return err
	}
	return command(ctx, genDir, "go", slices.Concat([]string{"run"}, flags, []string{".", "-types", a.version})...)
}

// writeOverlay writes a file for the flag -overlay of go, with which a file has another content.
func writeOverlay(dir, file string, content []byte) (string, error) {
	replaced, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	by := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(by, content, 0o644); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{replaced: by}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// typePackages returns the folders of a release's modules with packages of Go types:
// GROUP/VERSION.
func typePackages(version string) map[string]string {
	return map[string]string{
		"k8s.io/api":                ".",
		modules.Extensions(version): "pkg/apis",
		"k8s.io/kube-aggregator":    "pkg/apis",
	}
}

// unknownPackages are those that kube-apiserver does not register.
var unknownPackages = []string{"k8s.io/api/apidiscovery/v2beta1"}

// schemeText returns the file groupversions.go of a release.
func schemeText(ctx context.Context, version string) ([]byte, error) {
	folders := typePackages(version)
	var at []string
	for module := range folders {
		at = append(at, module+"@"+modules.Staging(version))
	}
	dirs, err := modules.Dirs(ctx, at...)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{} // by the names of their imports
	for module, folder := range folders {
		dir := dirs[module]
		files, err := filepath.Glob(filepath.Join(dir, folder, "*", "v*", "register.go"))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no package of types in %s", dir)
		}
		for _, file := range files {
			rel, err := filepath.Rel(dir, filepath.Dir(file))
			if err != nil {
				return nil, err
			}
			if p := path.Join(module, filepath.ToSlash(rel)); !slices.Contains(unknownPackages, p) {
				paths[path.Base(path.Dir(p))+path.Base(p)] = p
			}
		}
	}
	byPath := slices.SortedFunc(maps.Keys(paths), func(a, b string) int { return cmp.Compare(paths[a], paths[b]) })
	var b bytes.Buffer
	b.WriteString("// Code generated by go run ./internal/release/add from the modules of Kubernetes " + version + ". DO NOT EDIT.\n\npackage scheme\n\nimport (\n")
	for _, name := range byPath {
		fmt.Fprintf(&b, "\t%s %q\n", name, paths[name])
	}
	b.WriteString("\t\"k8s.io/apimachinery/pkg/runtime\"\n)\n\n// groupVersions adds the kinds of each group version to a scheme.\nvar groupVersions = []func(*runtime.Scheme) error{\n")
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		fmt.Fprintf(&b, "\t%s.AddToScheme,\n", name)
	}
	b.WriteString("}\n")
	return format.Source(b.Bytes())
}
