// Gen describes the Go types in which a kube-apiserver holds objects while it
// works on them, for package unversioned.
//
//	go run ./internal/unversioned/gen -modules DIR -version v1.36.3 -out FILE
//
// DIR is a Go module cache with k8s.io/kubernetes at that version and, at the
// version that goes with it, k8s.io/api, apimachinery and
// apiextensions-apiserver.
//
// A line of the output is a type: its name and its fields, separated by tabs. A
// field is the name that it is printed by, the path of the member that holds it
// in versioned objects, and its type. A type is one of
//
//	s b i f   string, boolean, integer, float
//	q o t     quantity, integer or string, time
//	a         anything, printed as it is
//	*T []T {}T    pointer, list, map
//
// or the name of a type. A field that is left out while it is empty ends in a
// comma.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A source is a package of types: where the unversioned ones are declared, and
// the versioned ones whose tags say what their members are called.
type source struct {
	name        string
	unversioned string
	versioned   string
}

func sources(modules, version string) []source {
	kubernetes := filepath.Join(modules, "k8s.io", "kubernetes@"+version, "pkg", "apis")
	staging := func(module string) string {
		return filepath.Join(modules, "k8s.io", module+"@v0"+strings.TrimPrefix(version, "v1"))
	}
	api := staging("api")
	extensions := filepath.Join(staging("apiextensions-apiserver"), "pkg", "apis", "apiextensions")
	meta := filepath.Join(staging("apimachinery"), "pkg", "apis", "meta", "v1")
	list := []source{
		{"metav1", meta, meta},
		{"apiextensions", extensions, filepath.Join(extensions, "v1")},
	}
	for _, group := range []struct{ name, version string }{
		{"core", "v1"}, {"apps", "v1"}, {"batch", "v1"}, {"policy", "v1"}, {"networking", "v1"}, {"autoscaling", "v2"}, {"storage", "v1"},
		{"admissionregistration", "v1"}, {"flowcontrol", "v1"}, {"resource", "v1"},
	} {
		list = append(list, source{group.name, filepath.Join(kubernetes, group.name), filepath.Join(api, group.name, group.version)})
	}
	return list
}

// basic are the types that are not described field by field.
var basic = map[string]string{
	"string": "s", "bool": "b", "byte": "i", "int": "i", "int32": "i", "int64": "i", "uint32": "i", "float32": "f", "float64": "f",
	"resource.Quantity": "q", "intstr.IntOrString": "o", "metav1.Time": "t", "metav1.MicroTime": "t", "metav1.Duration": "s",
	"metav1.FieldsV1": "a", "runtime.RawExtension": "a", "runtime.Object": "a", "types.UID": "s",
}

// A table has the declarations of all packages, by name: "core.PodSpec".
type table struct {
	declared map[string]ast.Expr
	tags     map[string]map[string]string // of versioned types: json names by field
}

func main() {
	log.SetFlags(0)
	modules := flag.String("modules", "", "the module cache")
	version := flag.String("version", "", "the version of k8s.io/kubernetes")
	out := flag.String("out", "", "the file to write")
	flag.Parse()
	text, err := describe(*modules, *version)
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// describe describes the types of a version, whose modules are in a cache.
func describe(modules, version string) (string, error) {
	t := &table{declared: map[string]ast.Expr{}, tags: map[string]map[string]string{}}
	for _, s := range sources(modules, version) {
		if err := t.read(s); err != nil {
			return "", err
		}
	}
	return t.describe(version), nil
}

// read reads the declarations of a package.
func (t *table) read(s source) error {
	err := types(s.unversioned, func(name string, typ ast.Expr) {
		t.declared[s.name+"."+name] = typ
	})
	if err != nil {
		return err
	}
	return types(s.versioned, func(name string, typ ast.Expr) {
		fields, ok := typ.(*ast.StructType)
		if !ok {
			return
		}
		tags := map[string]string{}
		for _, f := range fields.Fields.List {
			for _, n := range f.Names {
				tags[n.Name], _, _ = strings.Cut(jsonTag(f), ",")
			}
		}
		t.tags[s.name+"."+name] = tags
	})
}

// types calls yield with every type that the package in a folder declares.
func types(dir string, yield func(name string, typ ast.Expr)) error {
	files, err := filepath.Glob(filepath.Join(dir, "*types*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range parsed.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok {
					yield(ts.Name.Name, ts.Type)
				}
			}
		}
	}
	return nil
}

func jsonTag(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	return reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
}

// describe describes every struct.
func (t *table) describe(version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Code generated by internal/unversioned/gen from k8s.io/kubernetes %s. DO NOT EDIT.\n", version)
	for _, name := range slices.Sorted(maps.Keys(t.declared)) {
		if s, ok := t.declared[name].(*ast.StructType); ok && !strings.HasSuffix(name, "List") {
			b.WriteString(name)
			t.fields(&b, name, "", s)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// fields describes the fields of a struct, those of embedded ones among them,
// whose members in versioned objects stand at the prefix.
func (t *table) fields(b *strings.Builder, name, prefix string, s *ast.StructType) {
	pkg, _, _ := strings.Cut(name, ".")
	for _, f := range s.Fields.List {
		tag, options, _ := strings.Cut(jsonTag(f), ",")
		if tag == "-" {
			continue
		}
		if len(f.Names) == 0 {
			inner := qualify(pkg, f.Type)
			at := prefix
			switch inner {
			case "metav1.TypeMeta":
				continue // unversioned objects are of no version
			case "metav1.ObjectMeta":
				at = "metadata."
			}
			if embedded, ok := t.declared[inner].(*ast.StructType); ok {
				t.fields(b, inner, at, embedded)
			}
			continue
		}
		for _, n := range f.Names {
			member := cmp.Or(t.tags[name][n.Name], lowerFirst(n.Name))
			fmt.Fprintf(b, "\t%s %s%s %s", cmp.Or(tag, n.Name), prefix, member, t.spell(pkg, f.Type))
			if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
				b.WriteByte(',')
			}
		}
	}
}

// spell writes a type.
func (t *table) spell(pkg string, typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return "*" + t.spell(pkg, typ.X)
	case *ast.ArrayType:
		if id, ok := typ.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "a"
		}
		return "[]" + t.spell(pkg, typ.Elt)
	case *ast.MapType:
		return "{}" + t.spell(pkg, typ.Value)
	case *ast.InterfaceType:
		return "a"
	}
	name := qualify(pkg, typ)
	if code, ok := basic[strings.TrimPrefix(name, pkg+".")]; ok {
		return code
	}
	if code, ok := basic[name]; ok {
		return code
	}
	declared, ok := t.declared[name]
	if !ok {
		return "a"
	}
	if _, ok := declared.(*ast.StructType); ok {
		return name
	}
	from, _, _ := strings.Cut(name, ".")
	return t.spell(from, declared)
}

// qualify is the name of a type with its package: "core.PodSpec".
func qualify(pkg string, typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return pkg + "." + typ.Name
	case *ast.SelectorExpr:
		if x, ok := typ.X.(*ast.Ident); ok {
			name := x.Name
			if name == "api" {
				name = "core"
			}
			return name + "." + typ.Sel.Name
		}
	}
	return ""
}

func lowerFirst(s string) string {
	runes := []rune(s)
	runes[0] = unicode.ToLower(runes[0])
	return string(runes)
}
