package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/kubefake/kubefake/internal/release/modules"
	kubeversion "k8s.io/apimachinery/pkg/version"
)

// unversionedLines returns a description of the Go types of a release of
// kube-apiserver's internal version, in which it validates objects. A line is
// a type: its name and its fields, separated by tabs. A field has three words:
// the name under which encoding/json prints it, the path of the member that
// holds it in versioned objects, and its type. A type is one of
//
//	s b i f       string, boolean, integer, float
//	q o t         quantity, integer or string, time
//	a             anything, printed unchanged
//	*T []T {}T    pointer, list, map
//	NAME=T        another name of T: core.ResourceName=s, int64=i
//
// The path is a dot for the members of the object itself.
//
// or the name of a struct. A comma after the type stands for omitempty. A fourth word is
// the name of the field in Go if it is not the first word in upper case. It begins with
// the name of the type and a slash for a field of an embedded struct.
func unversionedLines(version string) ([]byte, error) {
	at := []string{"k8s.io/kubernetes@" + version}
	for _, module := range []string{"k8s.io/api", modules.ExtensionsServer, modules.Extensions(version), "k8s.io/apimachinery"} {
		at = append(at, module+"@"+modules.Staging(version))
	}
	dirs, err := modules.Dirs(context.Background(), at...)
	if err != nil {
		return nil, err
	}
	packages, err := goPackages(dirs, modules.Extensions(version))
	if err != nil {
		return nil, err
	}
	return describeUnversioned(packages)
}

// A goPackage is a package of internal types, and the packages of versioned types whose
// tags name their members. The first package that has a type counts.
type goPackage struct {
	name        string
	unversioned string   // folder
	versioned   []string // folders
}

// notStored are the groups without kinds that are stored in an internal version of their own.
var notStored = []string{"abac", "admission", "apidiscovery", "apiserverinternal", "authentication", "events", "extensions", "imagepolicy"}

// goPackages returns the packages in the folders of modules: a group has those of its versions in
// k8s.io/api, the most stable one first. extensions is the module with the versions of custom
// resource definitions.
func goPackages(dirs map[string]string, extensions string) ([]goPackage, error) {
	const definitions = "pkg/apis/apiextensions"
	meta := filepath.Join(dirs["k8s.io/apimachinery"], "pkg", "apis", "meta", "v1")
	list := []goPackage{
		{"metav1", meta, []string{meta}},
		{"apiextensions", filepath.Join(dirs[modules.ExtensionsServer], definitions), []string{filepath.Join(dirs[extensions], definitions, "v1")}},
	}
	folders, err := filepath.Glob(filepath.Join(dirs["k8s.io/kubernetes"], "pkg", "apis", "*", "types.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range folders {
		p := goPackage{name: filepath.Base(filepath.Dir(file)), unversioned: filepath.Dir(file)}
		if slices.Contains(notStored, p.name) {
			continue
		}
		if p.versioned, err = filepath.Glob(filepath.Join(dirs["k8s.io/api"], p.name, "v*", "types.go")); err != nil {
			return nil, err
		}
		for i := range p.versioned {
			p.versioned[i] = filepath.Dir(p.versioned[i])
		}
		slices.SortFunc(p.versioned, func(a, b string) int {
			return kubeversion.CompareKubeAwareVersionStrings(filepath.Base(b), filepath.Base(a))
		})
		list = append(list, p)
	}
	return list, nil
}

// basic holds the codes of types that are not described field by field.
var basic = map[string]string{
	"string": "s", "bool": "b", "byte": "uint8=i", "int": "i", "int32": "int32=i", "int64": "int64=i", "uint32": "uint32=i", "float32": "float32=f", "float64": "f",
	"resource.Quantity": "q", "intstr.IntOrString": "o", "metav1.Time": "t", "metav1.MicroTime": "t", "metav1.Duration": "s",
	"metav1.FieldsV1": "metav1.FieldsV1=a", "runtime.RawExtension": "a", "runtime.Object": "a", "types.UID": "types.UID=s",
}

// declarations holds the declared types of all packages, by name: "core.PodSpec".
type declarations struct {
	types map[string]ast.Expr
	tags  map[string]map[string]string // of versioned structs: JSON names by field
}

// describeUnversioned returns the text for the types of packages.
func describeUnversioned(packages []goPackage) ([]byte, error) {
	d := &declarations{types: map[string]ast.Expr{}, tags: map[string]map[string]string{}}
	for _, p := range packages {
		if err := d.read(p); err != nil {
			return nil, err
		}
	}
	return d.text(), nil
}

// read reads the declarations of a package.
func (d *declarations) read(p goPackage) error {
	err := eachType(p.unversioned, func(name string, typ ast.Expr) {
		d.types[p.name+"."+name] = typ
	})
	if err != nil {
		return err
	}
	for _, dir := range p.versioned {
		err := eachType(dir, func(name string, typ ast.Expr) {
			fields, ok := typ.(*ast.StructType)
			if _, known := d.tags[p.name+"."+name]; known || !ok {
				return
			}
			tags := map[string]string{}
			for _, f := range fields.Fields.List {
				for _, n := range f.Names {
					tags[n.Name], _, _ = strings.Cut(jsonTag(f), ",")
				}
				if _, inner, _ := strings.Cut(qualify(p.name, f.Type), "."); len(f.Names) == 0 && inner != "" {
					tags[inner] = "." // an unversioned struct may have it in a field
				}
			}
			d.tags[p.name+"."+name] = tags
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachType calls yield with every type that the API files of the package in a folder
// declare.
func eachType(dir string, yield func(name string, typ ast.Expr)) error {
	var files []string
	for _, pattern := range []string{"*types*.go", "group_version.go"} {
		matches, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		files = append(files, matches...)
	}
	if len(files) == 0 {
		return fmt.Errorf("no types in %s", dir)
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

// text returns a line for every struct.
func (d *declarations) text() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(d.types)) {
		if s, ok := d.types[name].(*ast.StructType); ok && !strings.HasSuffix(name, "List") {
			b.WriteString(name)
			d.fields(&b, name, "", "", s)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// fields writes the fields of a struct and of the structs that it embeds. Their
// members in versioned objects have the prefix, their Go names begin with embedded.
func (d *declarations) fields(b *bytes.Buffer, name, prefix, embedded string, s *ast.StructType) {
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
			if fields, ok := d.types[inner].(*ast.StructType); ok {
				d.fields(b, inner, at, inner+"/", fields)
			}
			continue
		}
		for _, n := range f.Names {
			member := cmp.Or(d.tags[name][n.Name], lowerFirst(n.Name))
			fmt.Fprintf(b, "\t%s %s%s %s", cmp.Or(tag, n.Name), prefix, member, d.spell(pkg, f.Type))
			if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
				b.WriteByte(',')
			}
			if goName := embedded + n.Name; goName != upperFirst(cmp.Or(tag, n.Name)) {
				b.WriteString(" " + goName)
			}
		}
	}
}

// spell returns the spelling of a type.
func (d *declarations) spell(pkg string, typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return "*" + d.spell(pkg, typ.X)
	case *ast.ArrayType:
		if id, ok := typ.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "[]byte=a"
		}
		return "[]" + d.spell(pkg, typ.Elt)
	case *ast.MapType:
		return "{}" + d.spell(pkg, typ.Value)
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
	declared, ok := d.types[name]
	if !ok {
		return "a"
	}
	if _, ok := declared.(*ast.StructType); ok {
		return name
	}
	from, _, _ := strings.Cut(name, ".")
	spelling := d.spell(from, declared)
	if _, alias, ok := strings.Cut(spelling, "="); ok && alias[0] != '*' && len(alias) == 1 {
		spelling = alias
	}
	return name + "=" + spelling
}

// qualify returns the name of a type with its package: "core.PodSpec".
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

func upperFirst(s string) string {
	runes := []rune(s)
	runes[0] = unicode.ToUpper(runes[0])
	return string(runes)
}
