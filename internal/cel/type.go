package cel

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/schema"
)

// A sort says how a value is seen.
type sort int

const (
	opaque   sort = iota // unknown: there is only equality
	mistyped             // nothing fits
	scalar
	either // an integer or a string
	structure
	dictionary // a map
	list
)

// A Type is how expressions see the values of a schema.
//
// It is a tree of its own, and not the schema's, because what expressions see
// differs: some members have other names, some are not visible, and the root of
// an API object has members that its schema need not mention.
type Type struct {
	sort   sort
	schema *schema.Schema
	// of is the schema that the type was made for, and whole whether it is that of
	// an API object, which has members that the schema need not mention.
	of    *schema.Schema
	whole bool
	// scalar is the type of a scalar.
	scalar *types.Type
	// visible is whether expressions can refer to values of the type. Members
	// that are not do count when objects are compared.
	visible bool

	// members are those of an object by their own names; byName by those that
	// expressions use.
	members map[string]*Type
	byName  map[string]member
	// element is the type of what is in a list or a map.
	element *Type

	// maxSize is how many bytes, elements or entries there can be, 0 if no
	// number is known or needed. minJSON is the least number of bytes that a
	// value takes.
	maxSize, minJSON int64
}

// A member is a member of an object as expressions see it.
type member struct {
	name string // its own
	typ  *Type
}

const (
	// maxRequest is the size of the largest request, in bytes, by which sizes
	// without a limit are estimated.
	maxRequest = 3 << 20
	maxTime    = 32 // of a date-time or a duration, in bytes
	dateSize   = 12
)

// newType returns the type of a schema's values. whole is whether they are API
// object.
func newType(s *schema.Schema, whole bool) *Type {
	t := &Type{of: s, whole: whole}
	if whole {
		s = withMeta(s)
	}
	t.schema = s
	switch {
	case s.IntOrString:
		t.sort, t.visible, t.maxSize, t.minJSON = either, true, maxRequest-2, 1
		if c := s.Constraints; c != nil && c.MaxLength != nil {
			t.maxSize = 4 * max(*c.MaxLength, 0)
		}
	case s.Type == "object":
		t.structure()
	case s.Type == "array":
		t.list()
	case s.Type == "string":
		t.text()
	case scalars[s.Type] != nil:
		t.sort, t.visible, t.scalar, t.minJSON = scalar, true, scalars[s.Type], 1
		if s.Type == "boolean" {
			t.minJSON = 4
		}
	case !s.PreserveUnknownFields:
		t.sort = mistyped
	}
	return t
}

var scalars = map[string]*types.Type{"boolean": types.BoolType, "number": types.DoubleType, "integer": types.IntType}

// limit is a limit of the schema, or what is estimated without one.
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

// part is the type of a part of the type's values, as cost estimates name it;
// nil if it has none.
func (t *Type) part(name string) *Type {
	switch {
	case name == "@keys" && t.sort == dictionary:
		return &Type{}
	case name == "@items" || name == "@values":
		return t.element
	}
	if m, ok := t.byName[name]; ok && m.typ.visible {
		return m.typ
	}
	return nil
}

// anyValue reports whether the schema is what additionalProperties: true means.
func anyValue(s *schema.Schema) bool {
	return s.Type == "" && !s.IntOrString && !s.PreserveUnknownFields
}

// size is how large a part of the type's values can be.
func (t *Type) size(path []string) (size uint64, known bool) {
	for _, name := range path {
		if t = t.part(name); t == nil {
			return 0, false
		}
	}
	return uint64(t.maxSize), true
}

func (t *Type) structure() {
	s := t.schema
	t.sort, t.minJSON = structure, 2
	if values := s.Additional; values != nil && s.Properties == nil && !anyValue(values) {
		t.sort = dictionary
		t.element = newType(values, values.EmbeddedResource)
		t.visible = t.element.visible
		// An entry has at least two quotes and two characters of a key, a colon and
		// a comma.
		t.maxSize = limit(maxProperties, s, (maxRequest-2)/(t.element.minJSON+6))
		return
	}
	t.visible = true
	t.members = make(map[string]*Type, len(s.Properties))
	t.byName = make(map[string]member, len(s.Properties))
	for name, property := range s.Properties {
		m := newType(property, property.EmbeddedResource)
		t.members[name] = m
		t.byName[name] = member{name, m}
		if m.visible && property.Default == nil && slices.Contains(s.Required, name) {
			t.minJSON += int64(len(name)) + m.minJSON + 4
		}
	}
	for name, m := range t.members {
		if escaped, ok := escape(name); ok {
			t.byName[escaped] = member{name, m}
		}
	}
}

func (t *Type) list() {
	t.sort, t.minJSON = list, 2
	if t.schema.Items == nil {
		return
	}
	t.element = newType(t.schema.Items, t.schema.Items.EmbeddedResource)
	t.visible = t.element.visible
	t.maxSize = limit(maxItems, t.schema, (maxRequest-2)/(t.element.minJSON+1))
}

func (t *Type) text() {
	t.sort, t.visible, t.scalar, t.minJSON = scalar, true, types.StringType, 2
	switch t.schema.Format {
	case "byte":
		t.scalar = types.BytesType
		t.maxSize = limit(maxLength, t.schema, maxRequest-2)
	case "duration":
		t.scalar, t.maxSize, t.minJSON = types.DurationType, maxTime, 3
	case "date":
		t.scalar, t.maxSize, t.minJSON = types.TimestampType, dateSize, dateSize
	case "date-time":
		t.scalar, t.maxSize, t.minJSON = types.TimestampType, maxTime, 21
	default:
		t.maxSize = maxString(t.schema.Constraints)
	}
}

// maxString is how many bytes a string can have. Its limit is in characters.
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
	return maxRequest - 2
}

// meta are the members that every API object has for expressions: they see no
// more of its metadata.
var meta = map[string]*schema.Schema{
	"apiVersion": {Type: "string"},
	"kind":       {Type: "string"},
	"metadata": {Type: "object", Properties: map[string]*schema.Schema{
		"name":         {Type: "string"},
		"generateName": {Type: "string"},
	}},
}

// withMeta is the schema with those members, unless it has them.
func withMeta(s *schema.Schema) *schema.Schema {
	if hasTypes(s, meta) {
		return s
	}
	whole := *s
	whole.Properties = maps.Clone(s.Properties)
	if whole.Properties == nil {
		whole.Properties = make(map[string]*schema.Schema, len(meta))
	}
	maps.Copy(whole.Properties, meta)
	return &whole
}

// hasTypes reports whether the schema has these members, of these types.
func hasTypes(s *schema.Schema, members map[string]*schema.Schema) bool {
	for name, m := range members {
		p := s.Properties[name]
		if p == nil || p.Type != m.Type || !hasTypes(p, m.Properties) {
			return false
		}
	}
	return true
}

// A declaration gives a type and those within names under which an environment
// knows them.
type declaration struct {
	types map[string]map[string]*types.Type // the members of objects
}

// selves counts the types of self. Expressions must not rely on how they are
// named, so every one has another name.
var selves atomic.Int64

// declare returns the declared type, and an option of environments that makes it
// known.
func (t *Type) declare(name string) (*types.Type, cel.EnvOption) {
	d := declaration{map[string]map[string]*types.Type{}}
	typ := d.name(t, name)
	return typ, d.known
}

// known is an option of environments that makes the declared types known.
func (d declaration) known(env *cel.Env) (*cel.Env, error) {
	p := &provider{env.CELTypeProvider(), env.CELTypeAdapter(), d}
	env, err := cel.CustomTypeProvider(p)(env)
	if err != nil {
		return nil, err
	}
	return cel.CustomTypeAdapter(p)(env)
}

func selfName() string { return "selfType" + strconv.FormatInt(selves.Add(1), 10) }

// name declares a type and all within it.
func (d declaration) name(t *Type, name string) *types.Type {
	switch t.sort {
	case scalar:
		return t.scalar
	case list:
		return types.NewListType(d.name(t.element, name+".@idx"))
	case dictionary:
		return types.NewMapType(types.StringType, d.name(t.element, name+".@elem"))
	case structure:
		if t.schema.Name != "" {
			name = t.schema.Name
		}
		members := map[string]*types.Type{}
		d.types[name] = members
		for own, m := range t.members {
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

// A provider knows declared types and those of an environment.
type provider struct {
	types.Provider
	types.Adapter
	declared declaration
}

// FindStructType finds a type by its name.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.declared.types[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames is for literals of a type, which declared ones have not.
func (p *provider) FindStructFieldNames(string) ([]string, bool) { return nil, false }

// FindStructFieldType finds the type of an object's member.
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

// NewValue makes no values of declared types.
func (p *provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	return p.Provider.NewValue(name, fields)
}
