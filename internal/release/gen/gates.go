package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/modules"
)

// gatesFile is the recording of the feature gates of a release. A line is a gate: its
// name and its state, as in gates.txt.
const gatesFile = "gates.txt"

// gatesText returns the file gates.txt: the feature gates of all recorded releases. A
// line is a gate: its name and, for each release in which its state changed, the
// release and the state, as in 1.36:BETA=true. The state is "-" where a release has no
// such gate, else its stage and default, with ",locked" and ",needs=GATE" behind it.
func gatesText(recordings fs.FS) ([]byte, error) {
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	states := map[string][]string{} // by gate
	last := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "-all") {
			continue // the gates are those of the release
		}
		text, err := fs.ReadFile(recordings, name+"/"+gatesFile)
		if err != nil {
			return nil, err
		}
		have := map[string]string{}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			gate, state, _ := strings.Cut(line, " ")
			have[gate] = state
		}
		for gate := range last {
			if have[gate] == "" {
				have[gate] = "-"
			}
		}
		release := fmt.Sprintf("1.%d", modules.Minor(name))
		for gate, state := range have {
			if last[gate] != state {
				last[gate] = state
				states[gate] = append(states[gate], release+":"+state)
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", marker("the sources of the recorded releases, up to "+release.Newest))
	for _, gate := range slices.Sorted(maps.Keys(states)) {
		fmt.Fprintf(&out, "%s %s\n", gate, strings.Join(states[gate], " "))
	}
	return out.Bytes(), nil
}

// sourceGates returns the recording gates.txt of a release such as "v1.36.3", from the
// source of its modules. It downloads modules that are not in the cache.
func sourceGates(version string) ([]byte, error) {
	staging := modules.Staging(version)
	dirs, err := modules.Dirs(context.Background(),
		"k8s.io/kubernetes@"+version,
		"k8s.io/apiserver@"+staging,
		modules.ExtensionsServer+"@"+staging,
		"k8s.io/client-go@"+staging,
		"k8s.io/component-base@"+staging,
		"k8s.io/controller-manager@"+staging,
	)
	if err != nil {
		return nil, err
	}
	g := gates{minor: modules.Minor(version), names: map[string]string{}, isTrue: map[string]bool{"true": true}, states: map[string]string{}, needs: map[string][]string{}}
	// kube-apiserver registers some gates of the controllers, but not all.
	controllers := filepath.Join(dirs["k8s.io/controller-manager"], "pkg", "features")
	if _, err := g.parse(controllers); err != nil {
		return nil, fmt.Errorf("%s: %w", controllers, err)
	}
	for _, dir := range []string{
		filepath.Join(dirs["k8s.io/component-base"], "featuregate"), // AllAlpha and AllBeta
		filepath.Join(dirs["k8s.io/client-go"], "features"),
		filepath.Join(dirs["k8s.io/component-base"], "logs", "api", "v1"),
		filepath.Join(dirs["k8s.io/component-base"], "metrics", "features"),
		filepath.Join(dirs["k8s.io/component-base"], "zpages", "features"),
		filepath.Join(dirs["k8s.io/apiserver"], "pkg", "features"),
		filepath.Join(dirs[modules.ExtensionsServer], "pkg", "features"),
		filepath.Join(dirs["k8s.io/kubernetes"], "pkg", "features"),
	} {
		if err := g.read(dir); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return g.text(), nil
}

// recordSources writes gates.txt and unversioned.txt of all recorded releases.
func recordSources(dir string) error {
	versions, err := recordedVersions(os.DirFS(dir))
	if err != nil {
		return err
	}
	for _, version := range versions {
		gates, err := sourceGates(version)
		if err != nil {
			return err
		}
		types, err := unversionedLines(version)
		if err != nil {
			return err
		}
		if _, err := replaceFiles(filepath.Join(dir, version), map[string][]byte{gatesFile: gates, unversionedFile: types}); err != nil {
			return err
		}
	}
	return nil
}

// recordedVersions returns the releases of the recordings.
func recordedVersions(recordings fs.FS) (versions []string, err error) {
	names, err := surfaceNames(recordings)
	for _, name := range names {
		if !strings.HasSuffix(name, "-all") {
			versions = append(versions, name)
		}
	}
	return versions, err
}

// gates are the feature gates that the packages of one release register.
type gates struct {
	minor  int                 // of the release
	names  map[string]string   // gates by the names of their constants
	isTrue map[string]bool     // by the names of constants
	states map[string]string   // by gate
	needs  map[string][]string // the gates that a gate depends on
}

func (g *gates) text() []byte {
	var out bytes.Buffer
	for _, gate := range slices.Sorted(maps.Keys(g.states)) {
		fmt.Fprintf(&out, "%s %s", gate, g.states[gate])
		slices.Sort(g.needs[gate])
		for _, n := range g.needs[gate] {
			fmt.Fprintf(&out, ",needs=%s", n)
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// read reads the constants and the maps of the package in a folder. The constants of
// the packages that it imports must have been read.
func (g *gates) read(dir string) error {
	files, err := g.parse(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok && err == nil {
				err = g.readMap(literal)
			}
			return err == nil
		})
	}
	return err
}

// parse parses the package in a folder and reads its constants.
func (g *gates) parse(dir string) (files []*ast.File, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(f, g.readConstant)
		files = append(files, f)
	}
	return files, nil
}

// readConstant reads X Feature = "X", X = Feature("X"), X = "X" and x = true.
func (g *gates) readConstant(n ast.Node) bool {
	spec, ok := n.(*ast.ValueSpec)
	if !ok {
		return true
	}
	for i, value := range spec.Values {
		of := typeName(spec.Type)
		if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
			of, value = typeName(call.Fun), call.Args[0]
		}
		name := spec.Names[i].Name
		switch text, ok := value.(*ast.BasicLit); {
		case ok && (of == "Feature" || text.Value == strconv.Quote(name)):
			g.names[name], _ = strconv.Unquote(text.Value)
		case typeName(value) == "true":
			g.isTrue[name] = true
		}
	}
	return true
}

// readMap reads a map from gates to their specs, or to the gates they depend on.
func (g *gates) readMap(literal *ast.CompositeLit) error {
	m, ok := literal.Type.(*ast.MapType)
	if !ok || typeName(m.Key) != "Feature" {
		return nil
	}
	_, isList := m.Value.(*ast.ArrayType)
	isSpec, isVersioned := typeName(m.Value) == "FeatureSpec", typeName(m.Value) == "VersionedSpecs"
	if !isList && !isSpec && !isVersioned {
		return nil
	}
	for _, e := range literal.Elts {
		pair := e.(*ast.KeyValueExpr)
		gate, ok := g.names[typeName(pair.Key)]
		if !ok {
			return fmt.Errorf("no constant %s", typeName(pair.Key))
		}
		value, _ := pair.Value.(*ast.CompositeLit)
		switch {
		case value == nil:
			return fmt.Errorf("the value of %s is no literal", gate)
		case isSpec:
			if err := g.add(gate, []ast.Expr{value}); err != nil {
				return err
			}
		case isVersioned:
			if err := g.add(gate, value.Elts); err != nil {
				return err
			}
		default:
			for _, e := range value.Elts {
				need, ok := g.names[typeName(e)]
				if !ok {
					return fmt.Errorf("a need of %s is no constant", gate)
				}
				g.needs[gate] = append(g.needs[gate], need)
			}
		}
	}
	return nil
}

// add sets the state of a gate to that of the newest spec that the release has.
func (g *gates) add(gate string, specs []ast.Expr) error {
	for _, spec := range slices.Backward(specs) {
		fields := map[string]ast.Expr{}
		for _, e := range spec.(*ast.CompositeLit).Elts {
			pair := e.(*ast.KeyValueExpr)
			fields[typeName(pair.Key)] = pair.Value
		}
		since, err := specVersion(fields["Version"])
		if err != nil {
			return fmt.Errorf("%s: %w", gate, err)
		}
		compatible, err := specVersion(fields["MinCompatibilityVersion"])
		if err != nil {
			return fmt.Errorf("%s: %w", gate, err)
		}
		// A server is compatible with the release before its own.
		if since > g.minor || compatible > g.minor-1 {
			continue
		}
		stage := map[string]string{"Alpha": "ALPHA", "Beta": "BETA", "GA": "GA", "Deprecated": "DEPRECATED", "PreAlpha": "PREALPHA"}[typeName(fields["PreRelease"])]
		if stage == "" {
			return fmt.Errorf("%s has no known stage", gate)
		}
		state := stage + "=" + strconv.FormatBool(g.isTrue[typeName(fields["Default"])])
		if g.isTrue[typeName(fields["LockToDefault"])] {
			state += ",locked"
		}
		if have, ok := g.states[gate]; ok && have != state {
			return fmt.Errorf("%s is %s and %s", gate, have, state)
		}
		g.states[gate] = state
		return nil
	}
	g.states[gate] = "PREALPHA=false"
	return nil
}

// specVersion returns the minor number of version.MustParse("1.36"), 0 for nil.
func specVersion(e ast.Expr) (int, error) {
	if e == nil {
		return 0, nil
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return 0, errors.New("a version is no call")
	}
	if typeName(call.Fun) == "MajorMinor" && len(call.Args) == 2 {
		return strconv.Atoi(call.Args[1].(*ast.BasicLit).Value)
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return 0, errors.New("a version is no text")
	}
	_, minor, _ := strings.Cut(strings.Trim(text.Value, `"`), ".")
	return strconv.Atoi(minor)
}

// typeName returns the last identifier of an expression such as featuregate.Alpha, or of
// the expression that it converts.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			return typeName(e.Args[0])
		}
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
