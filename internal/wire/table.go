package wire

import (
	"archive/zip"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/once"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/release/data"
)

// metaPackage has the kinds that every group version serves, such as
// DeleteOptions and Status.
const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// A nodeKind determines how a value of a Go type is decoded and encoded.
type nodeKind uint8

const (
	kindBool nodeKind = iota
	kindInt
	kindFloat
	kindString
	kindBytes
	kindAny
	kindSlice
	kindMap
	kindStruct

	// The kinds from here on have their own codecs; see custom.go.
	kindTime
	kindMicroTime
	kindQuantity
	kindIntOrString
	kindRaw
	kindJSON // decoded by kube-apiserver, unlike kindRaw
	kindFieldsV1
	kindSchemaOrBool
	kindSchemaOrArray
	kindSchemaOrStrings
	kindCustomResource
)

// customKinds are the types that the table declares as custom.
var customKinds = map[string]nodeKind{
	metaPackage + ".Time":                               kindTime,
	metaPackage + ".MicroTime":                          kindMicroTime,
	metaPackage + ".FieldsV1":                           kindFieldsV1,
	"k8s.io/apimachinery/pkg/api/resource.Quantity":     kindQuantity,
	"k8s.io/apimachinery/pkg/runtime.RawExtension":      kindRaw,
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":   kindIntOrString,
	schemaPackage + ".JSON":                             kindJSON,
	schemaPackage + ".JSONSchemaPropsOrBool":            kindSchemaOrBool,
	schemaPackage + ".JSONSchemaPropsOrArray":           kindSchemaOrArray,
	schemaPackage + ".JSONSchemaPropsOrStringArray":     kindSchemaOrStrings,
	betaSchemaPackage + ".JSON":                         kindJSON,
	betaSchemaPackage + ".JSONSchemaPropsOrBool":        kindSchemaOrBool,
	betaSchemaPackage + ".JSONSchemaPropsOrArray":       kindSchemaOrArray,
	betaSchemaPackage + ".JSONSchemaPropsOrStringArray": kindSchemaOrStrings,
}

// The packages of schemas: of CustomResourceDefinitions in v1, and in v1beta1, which is decoded
// but not served.
const (
	schemaPackage     = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	betaSchemaPackage = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
)

// A node is a Go type. Nodes form a graph that may have cycles. They are
// immutable once a Type that reaches them has been returned.
type node struct {
	kind   nodeKind
	bits   int    // size of a kindInt
	goType string // as reflect.Type.String formats it, for errors

	elem *node // of a slice or map; the schema in the kindSchemaOr kinds; the metadata of a kindCustomResource

	// Of a struct:
	name   string // without the package, for errors
	fields []field
	byName NameTable // positions in fields
	always uint64    // set of fields that are written even if zero
}

// repeats reports whether the type is a list or a map.
func (n *node) repeats() bool { return n.kind == kindSlice || n.kind == kindMap }

// A field is a field of a struct in JSON: fields of embedded structs are fields
// of the struct that embeds them.
type field struct {
	name      string
	errorName string // the name, since v1.35 prefixed by those of embedded structs
	prefix    string // the start of an encoded member: `"name":`
	node      *node
	pointer   bool
	always    bool // written even if zero
	unstored  bool // protobuf does not have the field
}

// maxFields is the maximum number of fields of a struct: sets of fields are
// uint64.
const maxFields = 64

// table is the opened archive. mu guards all of it and is held while a Type is
// created, so that no incomplete node is visible outside.
type table struct {
	mu       sync.Mutex
	files    map[string]*zip.File
	packages map[string]string            // package path by group version
	decls    map[string]map[string]string // declarations by package path and name
	nodes    map[string]*node             // by spelling
	messages map[string]*message          // by spelling
	minor    int                          // of the release; 0 is the newest one
	older    []int                        // minor numbers of the releases from it on whose types differ, the newest first
}

// tableOf returns the table of ForKindIn by the minor number.
var tableOf = once.PerKey(open)

// NullCreation reports whether a release, by its minor number, encodes an object without
// metadata.creationTimestamp with the field as null.
func NullCreation(minor int) bool { return !behavior.OmitsNullTimes.In(minor) }

// added has the minor number of the release that added a field, by the Go type and the
// field, for fields that the oldest release does not have.
var added = sync.OnceValue(func() map[string]int {
	fields := map[string]int{}
	for _, line := range strings.Split(data.Fields(), "\n") {
		if words := strings.Fields(line); len(words) == 3 {
			fields[words[1]+" "+words[2]], _ = strconv.Atoi(words[0])
		}
	}
	return fields
})

// newestChange returns the minor number from which on all releases have the same types.
var newestChange = sync.OnceValue(func() int {
	newest := max(behavior.OmitsNullTimes.Minor(), behavior.EmbeddedFieldPaths.Minor())
	for _, minor := range added() {
		newest = max(newest, minor)
	}
	for _, older := range open(1).older {
		newest = max(newest, older+1)
	}
	return newest
})

// normalMinor returns 0 for a release that has the types of the newest one.
func normalMinor(minor int) int {
	if minor == 0 || minor >= newestChange() {
		return 0
	}
	return minor
}

// has reports whether the release of the table has a field of a type.
func (t *table) has(typ, field string) bool {
	return t.minor == 0 || added()[typ+" "+field] <= t.minor
}

// open opens the embedded archive and reads the index for a release, by its minor number.
func open(minor int) *table {
	archive := data.WireTypes()
	r, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("wire: wiretypes.zip: " + err.Error())
	}
	t := &table{
		minor:    minor,
		files:    make(map[string]*zip.File, len(r.File)),
		packages: map[string]string{},
		decls:    map[string]map[string]string{},
		nodes:    map[string]*node{},
		messages: map[string]*message{},
	}
	for _, f := range r.File {
		t.files[f.Name] = f
		release, _, _ := strings.Cut(f.Name, "/")
		if m, err := strconv.Atoi(release); err == nil && minor != 0 && minor <= m && !slices.Contains(t.older, m) {
			t.older = append(t.older, m)
		}
	}
	slices.Sort(t.older)
	slices.Reverse(t.older)
	for _, name := range t.entries("index") {
		for _, line := range strings.Split(strings.TrimSpace(t.read(name)), "\n") {
			gv, pkg, _ := strings.Cut(line, " ")
			if gv == absent {
				delete(t.packages, pkg)
				continue
			}
			t.packages[gv] = pkg
		}
	}
	return t
}

// absent is the word before the name of what an older release does not have.
const absent = "absent"

// entries returns the files of the archive that make up a file for the release of the table:
// the one of the newest release, and what older releases differ in.
func (t *table) entries(name string) (names []string) {
	if t.files[name] != nil {
		names = append(names, name)
	}
	for _, minor := range t.older {
		if older := strconv.Itoa(minor) + "/" + name; t.files[older] != nil {
			names = append(names, older)
		}
	}
	return names
}

// read decompresses a file of the archive. It panics on an error, because the
// archive is part of the program.
func (t *table) read(name string) string {
	f, ok := t.files[name]
	if !ok {
		panic("wire: wiretypes.zip: no file " + name)
	}
	r, err := f.Open()
	if err != nil {
		panic("wire: wiretypes.zip: " + err.Error())
	}
	defer r.Close()
	var b strings.Builder
	b.Grow(int(f.UncompressedSize64))
	if _, err := io.Copy(&b, r); err != nil {
		panic("wire: wiretypes.zip: " + err.Error())
	}
	return b.String()
}

// declarations returns the declarations of a package by type name: the lines
// without the name. The caller holds mu.
func (t *table) declarations(pkg string) map[string]string {
	if decls, ok := t.decls[pkg]; ok {
		return decls
	}
	decls := map[string]string{}
	for _, name := range t.entries(pkg) {
		addDeclarations(decls, t.read(name))
	}
	t.decls[pkg] = decls
	return decls
}

// addDeclarations adds those of a file, which take the place of the ones before.
func addDeclarations(decls map[string]string, text string) {
	for len(text) > 0 {
		// A declaration ends before the next line that begins without a space.
		end := 0
		for {
			next := strings.IndexByte(text[end:], '\n')
			end += next + 1
			if end == len(text) || text[end] != ' ' {
				break
			}
		}
		decl := text[:end]
		text = text[end:]
		word, rest, _ := strings.Cut(decl, " ")
		stop := strings.IndexAny(rest, " \n")
		if word == absent {
			delete(decls, rest[:stop])
			continue
		}
		decls[rest[:stop]] = word + rest[stop:]
	}
}

// node returns the node of a type by its spelling. The first call creates it.
// The caller holds mu.
func (t *table) node(spelling string) *node {
	if n, ok := t.nodes[spelling]; ok {
		return n
	}
	n := &node{goType: goType(spelling)}
	t.nodes[spelling] = n // before its parts, because types are recursive
	t.build(n, spelling)
	return n
}

// build makes n the type with that spelling, except for goType, in which a
// named type differs from its underlying type.
func (t *table) build(n *node, spelling string) {
	switch spelling {
	case "bool":
		n.kind = kindBool
		return
	case "int", "int64":
		n.kind, n.bits = kindInt, 64
		return
	case "int32":
		n.kind, n.bits = kindInt, 32
		return
	case "uint8":
		n.kind, n.bits = kindInt, 8
		return
	case "float64":
		n.kind = kindFloat
		return
	case "string":
		n.kind = kindString
		return
	case "any":
		n.kind = kindAny
		return
	case "[]uint8":
		n.kind, n.elem = kindBytes, t.node("uint8")
		return
	}
	if elem, ok := strings.CutPrefix(spelling, "[]"); ok {
		n.kind, n.elem = kindSlice, t.node(elem)
		return
	}
	if _, elem, ok := strings.Cut(spelling, "]"); ok { // map[K]V
		n.kind, n.elem = kindMap, t.node(elem)
		return
	}
	t.buildNamed(n, spelling)
}

func (t *table) buildNamed(n *node, spelling string) {
	dot := strings.LastIndexByte(spelling, '.')
	if dot < 0 {
		panic("wire: wiretypes.zip: unknown type " + strconv.Quote(spelling))
	}
	pkg, name := spelling[:dot], spelling[dot+1:]
	decl, ok := t.declarations(pkg)[name]
	if !ok {
		panic("wire: wiretypes.zip: undeclared type " + strconv.Quote(spelling))
	}
	head, body, _ := strings.Cut(decl, "\n")
	word, rest, _ := strings.Cut(head, " ")
	switch word {
	case "type":
		t.build(n, rest)
	case "custom":
		kind, ok := customKinds[spelling]
		if !ok {
			panic("wire: wiretypes.zip: no codec for " + strconv.Quote(spelling))
		}
		n.kind = kind
		switch kind {
		case kindSchemaOrBool, kindSchemaOrArray, kindSchemaOrStrings:
			n.elem = t.node(pkg + ".JSONSchemaProps")
		}
	case "struct":
		n.kind, n.name = kindStruct, name
		t.addFields(n, spelling, body, "", false)
		n.indexFields()
	}
}

// goType converts the table's spelling of a type to Go's.
func goType(spelling string) string {
	if elem, ok := strings.CutPrefix(spelling, "[]"); ok {
		return "[]" + goType(elem)
	}
	if key, elem, ok := strings.Cut(spelling, "]"); ok {
		return "map[" + goType(strings.TrimPrefix(key, "map[")) + "]" + goType(elem)
	}
	if spelling == "any" {
		return "interface {}"
	}
	return path.Base(spelling)
}

// addFields adds the fields in the lines of a struct to n. The lines are those
// of n or of a struct it embeds; embedded is then the names of the embedded
// structs, each followed by a dot. typ is the struct with the lines.
func (t *table) addFields(n *node, typ, lines, embedded string, unstored bool) {
	for lines != "" {
		var line string
		line, lines, _ = strings.Cut(lines, "\n")
		parts := strings.Fields(line)
		name, spelling, flags := parts[0], parts[1], parts[2]
		unstored := unstored || len(parts) < 4
		if strings.Contains(flags, "i") {
			dot := strings.LastIndexByte(spelling, '.')
			_, inner, _ := strings.Cut(t.declarations(spelling[:dot])[spelling[dot+1:]], "\n")
			t.addFields(n, spelling, inner, embedded+name+".", unstored)
			continue
		}
		if !t.has(typ, name) {
			continue
		}
		if NullCreation(t.minor) && typ == metaPackage+".ObjectMeta" && name == "creationTimestamp" {
			flags = "e"
		}
		f := field{
			name:      name,
			errorName: name,
			unstored:  unstored,
		}
		if behavior.EmbeddedFieldPaths.In(t.minor) {
			f.errorName = embedded + name
		}
		omitempty := strings.Contains(flags, "e")
		spelling, f.pointer = strings.CutPrefix(spelling, "*")
		f.node = t.node(spelling)
		f.always = !strings.Contains(flags, "z") &&
			!(omitempty && (f.pointer || f.node.kind < kindStruct))
		if f.always {
			n.always |= 1 << len(n.fields)
		}
		n.addField(f)
	}
}

// addField appends a field. Its callers call indexFields after the last one.
func (n *node) addField(f field) {
	if len(n.fields) == maxFields {
		panic("wire: wiretypes.zip: too many fields in " + n.name)
	}
	f.prefix = strconv.Quote(f.name) + ":"
	n.fields = append(n.fields, f)
}

// indexFields makes the table of all fields of n.
func (n *node) indexFields() {
	names := make([]string, len(n.fields))
	for i, f := range n.fields {
		names[i] = f.name
	}
	n.byName = NewNameTable(names)
	for i, name := range names {
		if n.byName.Find(name) != i {
			panic("wire: wiretypes.zip: two fields " + name + " in " + n.name)
		}
	}
}
