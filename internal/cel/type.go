package cel

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/schema"
)

// A declKind is the kind of a declType.
type declKind int

const (
	kindUnknown declKind = iota // unknown fields are preserved: values can only be compared
	kindInvalid                 // the schema has no type: no value is valid
	kindScalar
	kindIntOrString
	kindObject
	kindMap
	kindList
)

// A declType is the CEL declaration type of a schema's values.
//
// The tree of types differs from that of schemas: fields have escaped names, some
// fields are not visible to expressions, and the root of a resource has
// apiVersion, kind and metadata even if its schema does not declare them.
type declType struct {
	kind declKind
	// schema is source, with apiVersion, kind and metadata if isResourceRoot.
	schema         *schema.Schema
	source         *schema.Schema
	isResourceRoot bool
	// scalar is the type of a scalar.
	scalar *types.Type
	// visible is whether expressions can refer to values of the type. Fields that
	// are not visible still count when objects are compared.
	visible bool

	// fields has the fields of an object by their JSON names, fieldsByName by the
	// names that expressions use.
	fields       map[string]*declType
	fieldsByName map[string]declField
	// element is the type of the elements of a list or the values of a map.
	element *declType

	// maxSize is the maximal number of bytes, elements or entries, 0 if it is not
	// known or not needed. minSerializedSize is the minimal number of bytes of a
	// value in JSON.
	maxSize, minSerializedSize int64
}

// A declField is a field of an object.
type declField struct {
	name string // in JSON
	typ  *declType
}

const (
	// maxRequestSize is the maximal number of bytes of a request. Sizes that the schema
	// does not limit are estimated from it.
	maxRequestSize = 3 << 20
	// maxIntOrStringSize is the size in bytes of the largest int-or-string of a request.
	maxIntOrStringSize = maxRequestSize - 2
	// maxTimeSize and dateSize are sizes in bytes of date-times, durations and dates.
	maxTimeSize = 32
	dateSize    = 12
)

// newDeclType returns the type of a schema's values. isResourceRoot is whether
// they are API objects.
func newDeclType(s *schema.Schema, isResourceRoot bool) *declType {
	t := &declType{source: s, isResourceRoot: isResourceRoot}
	if isResourceRoot {
		s = withMeta(s)
	}
	t.schema = s
	switch {
	case s.IntOrString:
		t.kind, t.visible, t.maxSize, t.minSerializedSize = kindIntOrString, true, maxIntOrStringSize, 1
		if c := s.Constraints; c != nil && c.MaxLength != nil {
			t.maxSize = 4 * max(*c.MaxLength, 0)
		}
	case s.Type == "object":
		t.initObject()
	case s.Type == "array":
		t.initList()
	case s.Type == "string":
		t.initString()
	case scalars[s.Type] != nil:
		t.kind, t.visible, t.scalar, t.minSerializedSize = kindScalar, true, scalars[s.Type], 1
		if s.Type == "boolean" {
			t.minSerializedSize = 4
		}
	case !s.PreserveUnknownFields:
		t.kind = kindInvalid
	}
	return t
}

var scalars = map[string]*types.Type{"boolean": types.BoolType, "number": types.DoubleType, "integer": types.IntType}

// limit returns a limit of the schema, or the estimate if the schema sets none.
func limit(of func(*schema.Constraints) *int64, s *schema.Schema, estimate int64) int64 {
	if s.Constraints != nil {
		if n := of(s.Constraints); n != nil {
			return max(*n, 0)
		}
	}
	return estimate
}

func maxItems(c *schema.Constraints) *int64      { return c.MaxItems }
func maxProperties(c *schema.Constraints) *int64 { return c.MaxProperties }
func maxLength(c *schema.Constraints) *int64     { return c.MaxLength }

// child returns the type of a field, or of the elements (@items), values (@values)
// or keys (@keys); nil if there is none.
func (t *declType) child(name string) *declType {
	switch {
	case name == "@keys" && t.kind == kindMap:
		return &declType{}
	case name == "@items" || name == "@values":
		return t.element
	}
	if m, ok := t.fieldsByName[name]; ok && m.typ.visible {
		return m.typ
	}
	return nil
}

// elementOf returns the type of elements with a schema. If t has no elements, as an object
// whose schema has items, no rule can be compiled for them.
func (t *declType) elementOf(s *schema.Schema) *declType {
	if t.element == nil {
		return &declType{schema: s}
	}
	return t.element
}

// isAnyValue reports whether the schema is that of additionalProperties: true.
func isAnyValue(s *schema.Schema) bool {
	return s.Type == "" && !s.IntOrString && !s.PreserveUnknownFields
}

// sizes returns the function that returns the maximal size of the values at a path. As in
// kube-apiserver, a path within anything else than the variable is one within it, too.
// kube-apiserver v1.33 and older ignore the maxLength of int-or-string.
func (t *declType) sizes(v Version) func(in string, path []string) (size uint64, known bool) {
	return func(_ string, path []string) (size uint64, known bool) {
		t := t
		for i, name := range path {
			if v.has(behavior.CELNameSizes) && i == len(path)-2 && name == "metadata" {
				if size, ok := t.nameSize(path[i+1]); ok {
					return size, true
				}
			}
			if t = t.child(name); t == nil {
				return 0, false
			}
		}
		if t.kind == kindIntOrString && !v.has(behavior.CELIntOrStringSizes) {
			return maxIntOrStringSize, true
		}
		return uint64(t.maxSize), true
	}
}

// nameSizes are the longest metadata.name and metadata.generateName.
var nameSizes = map[string]int64{"name": 253, "generateName": 252}

// nameSize returns the maximal size of a name in the metadata of t, if t is an API object whose schema
// does not declare both names.
func (t *declType) nameSize(field string) (size uint64, ok bool) {
	longest, ok := nameSizes[field]
	if !ok || !t.isResourceRoot || t.schema == t.source {
		return 0, false
	}
	if meta := t.source.Properties["metadata"]; meta != nil {
		if name := meta.Properties[field]; name != nil && name.Constraints != nil && name.Constraints.MaxLength != nil {
			longest = min(longest, max(*name.Constraints.MaxLength, 0))
		}
	}
	return uint64(4 * longest), true
}

func (t *declType) initObject() {
	s := t.schema
	t.kind, t.minSerializedSize = kindObject, 2
	if values := s.Additional; values != nil && s.Properties == nil && !isAnyValue(values) {
		t.kind = kindMap
		t.element = newDeclType(values, values.EmbeddedResource)
		t.visible = t.element.visible
		// An entry has at least two quotes and two characters of a key, a colon and
		// a comma.
		t.maxSize = limit(maxProperties, s, (maxRequestSize-2)/(t.element.minSerializedSize+6))
		return
	}
	t.visible = true
	t.fields = make(map[string]*declType, len(s.Properties))
	t.fieldsByName = make(map[string]declField, len(s.Properties))
	for name, property := range s.Properties {
		m := newDeclType(property, property.EmbeddedResource)
		t.fields[name] = m
		t.fieldsByName[name] = declField{name, m}
		if m.visible && property.Default == nil && slices.Contains(s.Required, name) {
			t.minSerializedSize += int64(len(name)) + m.minSerializedSize + 4
		}
	}
	for name, m := range t.fields {
		if escaped, ok := escape(name); ok {
			t.fieldsByName[escaped] = declField{name, m}
		}
	}
}

func (t *declType) initList() {
	t.kind, t.minSerializedSize = kindList, 2
	if t.schema.Items == nil {
		return
	}
	t.element = newDeclType(t.schema.Items, t.schema.Items.EmbeddedResource)
	t.visible = t.element.visible
	t.maxSize = limit(maxItems, t.schema, (maxRequestSize-2)/(t.element.minSerializedSize+1))
}

func (t *declType) initString() {
	t.kind, t.visible, t.scalar, t.minSerializedSize = kindScalar, true, types.StringType, 2
	switch t.schema.Format {
	case "byte":
		t.scalar = types.BytesType
		t.maxSize = limit(maxLength, t.schema, maxRequestSize-2)
	case "duration":
		t.scalar, t.maxSize, t.minSerializedSize = types.DurationType, maxTimeSize, 3
	case "date":
		t.scalar, t.maxSize, t.minSerializedSize = types.TimestampType, dateSize, dateSize
	case "date-time":
		t.scalar, t.maxSize, t.minSerializedSize = types.TimestampType, maxTimeSize, 21
	default:
		t.maxSize = maxString(t.schema.Constraints)
	}
}

// maxString returns the maximal number of bytes of a string. MaxLength counts
// characters of up to four bytes.
func maxString(c *schema.Constraints) int64 {
	switch {
	case c != nil && c.MaxLength != nil:
		return 4 * max(*c.MaxLength, 0)
	case c != nil && len(c.Enum) > 0:
		longest := 0
		for _, v := range c.Enum {
			if s, ok := v.(string); ok {
				longest = max(longest, len(s))
			}
		}
		return int64(longest)
	}
	return maxRequestSize - 2
}

// rootFields are the fields of every API object that expressions can use.
var rootFields = map[string]*schema.Schema{
	"apiVersion": {Type: "string"},
	"kind":       {Type: "string"},
	"metadata": {Type: "object", Properties: map[string]*schema.Schema{
		"name":         {Type: "string"},
		"generateName": {Type: "string"},
	}},
}

// withMeta returns s with the rootFields.
func withMeta(s *schema.Schema) *schema.Schema {
	if hasTypes(s, rootFields) {
		return s
	}
	isResourceRoot := *s
	isResourceRoot.Properties = maps.Clone(s.Properties)
	if isResourceRoot.Properties == nil {
		isResourceRoot.Properties = make(map[string]*schema.Schema, len(rootFields))
	}
	maps.Copy(isResourceRoot.Properties, rootFields)
	return &isResourceRoot
}

// hasTypes reports whether the schema has the given properties with their types.
func hasTypes(s *schema.Schema, members map[string]*schema.Schema) bool {
	for name, m := range members {
		p := s.Properties[name]
		if p == nil || p.Type != m.Type || !hasTypes(p, m.Properties) {
			return false
		}
	}
	return true
}

// A declaration declares object types in an environment.
type declaration struct {
	types map[string]map[string]*types.Type // by type name and field
}

// selfTypes counts the types of self. Each has another name, so that expressions
// cannot rely on the name.
var selfTypes atomic.Int64

// declare returns the type of t and an environment option that declares it.
func (t *declType) declare(name string) (*types.Type, cel.EnvOption) {
	d := declaration{map[string]map[string]*types.Type{}}
	typ := d.name(t, name)
	return typ, d.envOption
}

// envOption is an environment option that declares the types.
func (d declaration) envOption(env *cel.Env) (*cel.Env, error) {
	p := &provider{env.CELTypeProvider(), env.CELTypeAdapter(), d}
	env, err := cel.CustomTypeProvider(p)(env)
	if err != nil {
		return nil, err
	}
	return cel.CustomTypeAdapter(p)(env)
}

func newSelfTypeName() string { return "selfType" + strconv.FormatInt(selfTypes.Add(1), 10) }

// name adds t and the types within it to the declaration, and returns the type.
func (d declaration) name(t *declType, name string) *types.Type {
	switch t.kind {
	case kindScalar:
		return t.scalar
	case kindList:
		return types.NewListType(d.name(t.element, name+".@idx"))
	case kindMap:
		return types.NewMapType(types.StringType, d.name(t.element, name+".@elem"))
	case kindObject:
		if t.schema.Name != "" {
			name = t.schema.Name
		}
		members := map[string]*types.Type{}
		d.types[name] = members
		for own, m := range t.fields {
			escaped, ok := escape(own)
			if !ok || !m.visible {
				continue
			}
			members[escaped] = d.name(m, name+"."+escaped)
			if isReserved(own) {
				members[own] = members[escaped]
			}
		}
		return types.NewObjectType(name)
	}
	return types.DynType
}

// A provider is the type provider and adapter of an environment, extended by
// declared types.
type provider struct {
	types.Provider
	types.Adapter
	declared declaration
}

// FindStructType implements [types.Provider].
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.declared.types[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements [types.Provider]. Only type literals need it,
// which declared types do not have.
func (p *provider) FindStructFieldNames(string) ([]string, bool) { return nil, false }

// FindStructFieldType implements [types.Provider].
func (p *provider) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	members, ok := p.declared.types[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, member)
	}
	typ, ok := members[member]
	if !ok {
		return nil, false
	}
	return &types.FieldType{Type: typ}, true
}

// NewValue implements [types.Provider]. Declared types have no literals.
func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	return p.Provider.NewValue(name, fields)
}
