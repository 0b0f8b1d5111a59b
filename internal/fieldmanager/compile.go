package fieldmanager

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/schema"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// Names of the types that are not made from a schema. structured-merge-diff
// knows the second by its name.
var (
	atomicName  = "__untyped_atomic_"
	deducedName = "__untyped_deduced_"
)

// Component schemas whose OpenAPI form says less than their Go type does.
const (
	quantityName     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

// compiled is a schema in structured-merge-diff's form.
type compiled struct {
	typed.ParseableType
	// null is nothing but its type.
	null  *typed.TypedValue
	names names
	shape *shape
}

// compile compiles a schema; nil is one that allows any fields. Structs, maps
// and lists are named types and refer to each other by name: schemas may be
// circles, and structured-merge-diff compares types by walking them.
func compile(s *schema.Schema) *compiled {
	if s == nil {
		return newCompiled(typed.DeducedParseableType, nil)
	}
	c := compiler{out: &smd.Schema{}, types: map[place]*string{}, names: names{}}
	root := c.ref(s, false)
	c.define(atomicName, untyped(&atomicName, smd.Atomic))
	c.define(deducedName, untyped(&deducedName, smd.Separable))
	return newCompiled(typed.ParseableType{Schema: c.out, TypeRef: root}, c.names)
}

func newCompiled(p typed.ParseableType, n names) *compiled {
	null, err := p.FromUnstructured(nil)
	if err != nil {
		panic("fieldmanager: " + err.Error()) // unreachable: all types allow a null
	}
	return &compiled{p, null, n, shapes{p.Schema, map[string]*shape{}}.of(p.TypeRef)}
}

type compiler struct {
	out   *smd.Schema
	types map[place]*string
	names names
}

// A place is a schema and whether one that it lies in preserves unknown fields,
// which goes for all that is below.
type place struct {
	schema   *schema.Schema
	preserve bool
}

func (c *compiler) define(name string, a smd.Atom) {
	c.out.Types = append(c.out.Types, smd.TypeDef{Name: name, Atom: a})
}

// ref is a reference to the type of what s describes.
func (c *compiler) ref(s *schema.Schema, preserve bool) smd.TypeRef {
	switch {
	case s.Name == rawExtensionName:
		return smd.TypeRef{NamedType: &atomicName}
	case s.Name == quantityName:
		return inlined(smd.Untyped)
	case s.Name != "":
		preserve = false
	}
	switch s.Type {
	case "integer", "number":
		return inlined(smd.Numeric)
	case "boolean":
		return inlined(smd.Boolean)
	case "string":
		if s.Format == "" || s.Format == "byte" {
			return inlined(smd.String)
		}
		return inlined(smd.Untyped)
	}

	at := place{s, preserve || s.PreserveUnknownFields}
	if name, ok := c.types[at]; ok {
		return smd.TypeRef{NamedType: name}
	}
	name := strconv.Itoa(len(c.types))
	c.types[at] = &name
	var a smd.Atom
	switch s.Type {
	case "object":
		a.Map = c.object(at)
	case "array":
		a.List = c.list(at)
	default:
		a = smd.Atom{Scalar: new(smd.Untyped), List: c.list(at), Map: c.object(at)}
	}
	c.define(name, a)
	return smd.TypeRef{NamedType: &name}
}

func inlined(s smd.Scalar) smd.TypeRef {
	return smd.TypeRef{Inlined: smd.Atom{Scalar: &s}}
}

func (c *compiler) object(at place) *smd.Map {
	s, m := at.schema, &smd.Map{}
	switch s.MapType {
	case "atomic":
		m.ElementRelationship = smd.Atomic
	case "granular":
		m.ElementRelationship = smd.Separable
	}
	for _, text := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[text]
		c.names[text] = &name{text, "f:" + text}
		f := smd.StructField{Name: text, Type: c.ref(p, at.preserve)}
		if p.HasDefault && f.Type.NamedType == nil {
			// Only keys of map lists are asked for their defaults.
			f.Default = p.Default
		}
		m.Fields = append(m.Fields, f)
	}
	switch {
	case s.Additional != nil:
		m.ElementType = c.ref(s.Additional, at.preserve)
	case at.preserve || len(s.Properties) == 0:
		m.ElementType = smd.TypeRef{NamedType: &deducedName}
	}
	return m
}

func (c *compiler) list(at place) *smd.List {
	s, l := at.schema, &smd.List{ElementRelationship: smd.Atomic}
	switch {
	case s.ListType == "map":
		l.ElementRelationship, l.Keys = smd.Associative, s.ListMapKeys
	case s.ListType == "set":
		l.ElementRelationship = smd.Associative
	case s.ListType == "" && slices.Contains(s.PatchStrategies, "merge"):
		l.ElementRelationship = smd.Associative
		if s.PatchMergeKey != "" {
			l.Keys = []string{s.PatchMergeKey}
		}
	}
	l.ElementType = smd.TypeRef{NamedType: &atomicName}
	if s.Items != nil {
		l.ElementType = c.ref(s.Items, at.preserve)
	}
	return l
}

// untyped is the type of any value, whose maps are related as told; its lists
// are atomic.
func untyped(name *string, maps smd.ElementRelationship) smd.Atom {
	return smd.Atom{
		Scalar: new(smd.Untyped),
		List: &smd.List{
			ElementType:         smd.TypeRef{NamedType: &atomicName},
			ElementRelationship: smd.Atomic,
		},
		Map: &smd.Map{
			ElementType:         smd.TypeRef{NamedType: name},
			ElementRelationship: maps,
		},
	}
}
