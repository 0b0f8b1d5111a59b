package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubefake/kubefake/internal/release/gen/scheme"
)

// indexFile maps group versions to the packages of their kinds.
const indexFile = "index"

// A describer writes the declarations of named Go types, each once. The package
// comment of wire describes their form.
type describer struct {
	kinds map[reflect.Type]bool
	seen  map[reflect.Type]bool
	lines map[string]map[string]string // by package path and type name
}

// describe returns the entries of wiretypes.zip: the declarations of each Go
// package by its path, and the index.
func describe(types *runtime.Scheme) map[string][]byte {
	d := &describer{
		kinds: map[reflect.Type]bool{},
		seen:  map[reflect.Type]bool{},
		lines: map[string]map[string]string{},
	}
	index := map[string]string{}
	for gvk, t := range types.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		if gvk.Kind != t.Name() && packageOf(t) != metaPackage {
			panic(fmt.Sprintf("kind %v has the type %v: package wire finds a kind by the name of its type", gvk, t))
		}
		d.kinds[t] = true
		gv := gvk.GroupVersion().String()
		if packageOf(t) != metaPackage || index[gv] == "" {
			index[gv] = packageOf(t)
		}
	}
	for t := range d.kinds {
		d.named(t)
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[metav1.LabelSelector](),
		reflect.TypeFor[metav1.ObjectMeta](),
	} {
		d.named(t)
	}

	out := map[string][]byte{}
	var b bytes.Buffer
	for _, gv := range slices.Sorted(maps.Keys(index)) {
		fmt.Fprintf(&b, "%s %s\n", gv, index[gv])
	}
	out[indexFile] = bytes.Clone(b.Bytes())
	for pkg, types := range d.lines {
		b.Reset()
		for _, name := range slices.Sorted(maps.Keys(types)) {
			b.WriteString(types[name])
		}
		out[pkg] = bytes.Clone(b.Bytes())
	}
	return out
}

var (
	metaPackage     = packageOf(reflect.TypeFor[metav1.ObjectMeta]())
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// packageOf returns the path of the package of a type. Custom resource definitions keep the one that
// they have in releases before they moved.
func packageOf(t reflect.Type) string {
	if rest, moved := strings.CutPrefix(t.PkgPath(), "k8s.io/apiextensions-api/"); moved {
		return "k8s.io/apiextensions-apiserver/" + rest
	}
	return t.PkgPath()
}

// named adds the declaration of a named type and returns its full name.
func (d *describer) named(t reflect.Type) string {
	full := packageOf(t) + "." + t.Name()
	if d.seen[t] {
		return full
	}
	d.seen[t] = true
	if want := path.Base(packageOf(t)) + "." + t.Name(); t.String() != want {
		panic(fmt.Sprintf("%v prints as %q: package wire derives %q from its path", full, t, want))
	}
	pointer := reflect.PointerTo(t)
	custom := pointer.Implements(jsonUnmarshaler)
	if custom != pointer.Implements(jsonMarshaler) || !custom && pointer.Implements(textUnmarshaler) {
		panic(fmt.Sprintf("%v has methods that package wire does not know", full))
	}
	var b strings.Builder
	switch {
	case custom:
		fmt.Fprintf(&b, "custom %s\n", t.Name())
		if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "JSONSchemaPropsOr") {
			for f := range t.Fields() {
				d.expr(f.Type) // the schemas within
			}
		}
	case t.Kind() == reflect.Struct:
		fmt.Fprintf(&b, "struct %s%s\n", t.Name(), d.marks(t))
		for f := range t.Fields() {
			d.field(&b, f)
		}
	default:
		fmt.Fprintf(&b, "type %s %s\n", t.Name(), d.underlying(t))
	}
	if d.lines[packageOf(t)] == nil {
		d.lines[packageOf(t)] = map[string]string{}
	}
	d.lines[packageOf(t)][t.Name()] = b.String()
	return full
}

// marks returns the marks of a struct: whether it is a kind, and whether
// kube-apiserver stores it as protobuf.
func (d *describer) marks(t reflect.Type) string {
	if !d.kinds[t] {
		return ""
	}
	if scheme.StoredAsProtobuf(t) {
		return " kind protobuf"
	}
	return " kind"
}

// field writes a field of a struct: name, type, flags, protobuf tag.
func (d *describer) field(b *strings.Builder, f reflect.StructField) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" {
		return
	}
	var flags strings.Builder
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "inline":
		case "omitempty":
			flags.WriteByte('e')
		case "omitzero":
			if f.Type != reflect.TypeFor[metav1.Time]() {
				panic(fmt.Sprintf("field %s: omitzero on %v", f.Name, f.Type))
			}
			flags.WriteByte('z')
		default:
			panic(fmt.Sprintf("field %s: json option %q", f.Name, option))
		}
	}
	if f.Anonymous && name == "" {
		if f.Type.Kind() != reflect.Struct {
			panic(fmt.Sprintf("embedded %v is not a struct", f.Type))
		}
		flags.WriteByte('i')
		name = f.Name
	}
	if name == "" {
		name = f.Name
	}
	if flags.Len() == 0 {
		flags.WriteByte('-')
	}
	fmt.Fprintf(b, " %s %s %s%s\n", name, d.expr(f.Type), &flags, protobufTag(f))
}

// protobufTag returns the wire type, number, label and packing in a field's
// protobuf tag. The rest of the tag repeats the Go type.
func protobufTag(f reflect.StructField) string {
	tag := f.Tag.Get("protobuf")
	if tag == "" || tag == "-" {
		return ""
	}
	parts := strings.Split(tag, ",")
	head := parts[:3]
	for _, part := range parts[3:] {
		if part == "packed" {
			head = append(head, part)
		}
	}
	return " " + strings.Join(head, ",")
}

// expr returns the spelling of a type.
func (d *describer) expr(t reflect.Type) string {
	if packageOf(t) != "" {
		return d.named(t)
	}
	return d.underlying(t)
}

// underlying returns the spelling of the underlying type.
func (d *describer) underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.String,
		reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Float64:
		return t.Kind().String()
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return "any"
		}
	case reflect.Pointer:
		return "*" + d.expr(t.Elem())
	case reflect.Slice:
		return "[]" + d.expr(t.Elem())
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return "map[" + d.expr(t.Key()) + "]" + d.expr(t.Elem())
		}
	}
	panic(fmt.Sprintf("no spelling for %v", t))
}
