package fieldmanager

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/schema"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// Names of the types that are not compiled from a schema. structured-merge-diff
// treats deducedName specially.
var (
	atomicName  = "__untyped_atomic_"
	deducedName = "__untyped_deduced_"

	quantityType = "__quantity_"
	timeType     = "__time_"
)

// untypedScalar is the type of any scalar. Schemas share it.
var untypedScalar = smd.Untyped

// Component schemas whose OpenAPI form is less precise than their Go type.
const (
	quantityName     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	timeName         = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
	rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

// compiled is a schema in structured-merge-diff's form.
type compiled struct {
	typed.ParseableType
	// null is a typed null. It carries the type where there is no value.
	null  *typed.TypedValue
	names names
	types *resolvedType
	// untypedData is whether objects may have untyped data, whose text matters to Update only.
	untypedData bool
}

// compile compiles a schema. nil compiles to a schema that allows any fields.
// Structs, maps and lists become named types that refer to each other by name:
// schemas may be recursive, and structured-merge-diff compares types by walking
// them.
func compile(k *Kind) *compiled {
	if k.Schema == nil {
		return newCompiled(typed.DeducedParseableType, nil, resolver{partialKeys: k.PartialKeys})
	}
	c := compiler{out: &smd.Schema{}, types: map[typeKey]*string{}, names: names{}}
	root := c.typeRef(k.Schema, false)
	c.define(atomicName, untyped(&atomicName, smd.Atomic))
	c.define(deducedName, untyped(&deducedName, smd.Separable))
	c.define(quantityType, smd.Atom{Scalar: &untypedScalar})
	c.define(timeType, smd.Atom{Scalar: &untypedScalar})
	r := resolver{partialKeys: k.PartialKeys}
	if k.Zero != nil {
		r.written = c.required()
	}
	out := newCompiled(typed.ParseableType{Schema: c.out, TypeRef: root}, c.names, r)
	out.untypedData = c.untypedData
	return out
}

// newCompiled returns a compiled type. r has only what is known beside the schema.
func newCompiled(p typed.ParseableType, n names, r resolver) *compiled {
	null, err := p.FromUnstructured(nil)
	if err != nil {
		panic("fieldmanager: " + err.Error()) // unreachable: all types allow a null
	}
	r.schema, r.named = p.Schema, map[string]*resolvedType{}
	root := r.resolve(p.TypeRef)
	r.markKeyed()
	r.markRespelled()
	return &compiled{ParseableType: p, null: null, names: n, types: root}
}

type compiler struct {
	out   *smd.Schema
	types map[typeKey]*string
	names names

	untypedData bool // see compiled
}

// A typeKey identifies a compiled type: its schema, and whether the schema or
// an enclosing one preserves unknown fields.
type typeKey struct {
	schema   *schema.Schema
	preserve bool
}

// required returns the required fields of the types, by the names of these.
func (c *compiler) required() map[string][]string {
	out := map[string][]string{}
	for at, name := range c.types {
		if fields := at.schema.Required; len(fields) > 0 {
			out[*name] = fields
		}
	}
	return out
}

func (c *compiler) define(name string, a smd.Atom) {
	c.out.Types = append(c.out.Types, smd.TypeDef{Name: name, Atom: a})
}

// typeRef returns a reference to the type that s describes.
func (c *compiler) typeRef(s *schema.Schema, preserve bool) smd.TypeRef {
	switch {
	case s.Name == rawExtensionName:
		c.untypedData = true
		return smd.TypeRef{NamedType: &atomicName}
	case s.Name == quantityName:
		return smd.TypeRef{NamedType: &quantityType}
	case s.Name == timeName:
		return smd.TypeRef{NamedType: &timeType}
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

	at := typeKey{s, preserve || s.PreserveUnknownFields}
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
		a = smd.Atom{Scalar: &untypedScalar, List: c.list(at), Map: c.object(at)}
	}
	c.define(name, a)
	return smd.TypeRef{NamedType: &name}
}

func inlined(s smd.Scalar) smd.TypeRef {
	return smd.TypeRef{Inlined: smd.Atom{Scalar: &s}}
}

func (c *compiler) object(at typeKey) *smd.Map {
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
		f := smd.StructField{Name: text, Type: c.typeRef(p, at.preserve)}
		if p.HasDefault && f.Type.NamedType == nil {
			// structured-merge-diff reads the defaults of map-list keys only.
			f.Default = p.Default
		}
		m.Fields = append(m.Fields, f)
	}
	switch {
	case s.Additional != nil:
		m.ElementType = c.typeRef(s.Additional, at.preserve)
	case at.preserve || len(s.Properties) == 0:
		m.ElementType = smd.TypeRef{NamedType: &deducedName}
	}
	return m
}

func (c *compiler) list(at typeKey) *smd.List {
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
		l.ElementType = c.typeRef(s.Items, at.preserve)
	}
	return l
}

// untyped returns the type of any value. Its lists are atomic; maps is the
// element relationship of its maps.
func untyped(name *string, maps smd.ElementRelationship) smd.Atom {
	return smd.Atom{
		Scalar: &untypedScalar,
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
