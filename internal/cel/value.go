package cel

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

// value is a generic value as expressions see it. Maps and lists are wrapped,
// not copied.
func (t *Type) value(v any) ref.Val {
	if v == nil {
		if t.schema.Nullable {
			return types.NullValue
		}
		return types.NewErr("invalid data, got null for schema with nullable=false")
	}
	switch t.sort {
	case either:
		switch v := v.(type) {
		case string:
			return types.String(v)
		case int64:
			return types.Int(v)
		}
		return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	case structure, dictionary:
		m, ok := v.(map[string]any)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		return &mapVal{m, t}
	case list:
		return t.listValue(v)
	case scalar:
		return t.scalarValue(v)
	case opaque:
		return opaqueVal{v}
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", t.schema.Type)
}

func (t *Type) listValue(v any) ref.Val {
	l, ok := v.([]any)
	if !ok {
		return types.NewErr("invalid data, expected an array for the provided schema with type=array")
	}
	if t.element == nil {
		return types.NewErr("invalid array type, expected Items with a non-empty Schema")
	}
	plain := listVal{l, t}
	switch typ := t.schema.ListType; typ {
	case "map":
		return &mapListVal{plain}
	case "set":
		return &setVal{plain}
	case "", "atomic":
		return &plain
	default:
		return types.NewErr("invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got %s", typ)
	}
}

func (t *Type) scalarValue(v any) ref.Val {
	switch t.schema.Type {
	case "string":
		s, ok := v.(string)
		if !ok {
			return types.NewErr("invalid data, expected string, got %T", v)
		}
		return textValue(t.schema.Format, s)
	case "number":
		switch v := v.(type) {
		case int64:
			return types.Double(v)
		case float64:
			return types.Double(v)
		}
		return types.NewErr("invalid data, expected float, got %T", v)
	case "integer":
		if i, ok := v.(int64); ok {
			return types.Int(i)
		}
		return types.NewErr("invalid data, expected int, got %T", v)
	}
	if b, ok := v.(bool); ok {
		return types.Bool(b)
	}
	return types.NewErr("invalid data, expected bool, got %T", v)
}

// textValue is what a string of a format means.
func textValue(format, s string) ref.Val {
	switch format {
	case "duration":
		d, err := schema.ParseDuration(s)
		if err != nil {
			return types.NewErr("Invalid duration %s: %v", s, err)
		}
		return types.Duration{Duration: d}
	case "date":
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return types.NewErr("Invalid date formatted string %s: %v", s, err)
		}
		return types.Timestamp{Time: d}
	case "date-time":
		d, err := parseDateTime(s)
		if err != nil {
			return types.NewErr("Invalid date-time formatted string %s: %v", s, err)
		}
		return types.Timestamp{Time: d}
	case "byte":
		b, err := base64.URLEncoding.DecodeString(s)
		if err != nil {
			return types.NewErr("Invalid byte formatted string %s: %v", s, err)
		}
		return types.Bytes(b)
	}
	return types.String(s)
}

// parseDateTime takes what the format date-time takes: a time without a zone too,
// and nothing, which is the beginning of 1970.
func parseDateTime(s string) (time.Time, error) {
	if s == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05", s)
	}
	return t, err
}

// opaqueVal is a value that expressions cannot look into.
type opaqueVal struct{ v any }

func (o opaqueVal) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to)
}

func (o opaqueVal) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to.TypeName())
}

func (o opaqueVal) Equal(other ref.Val) ref.Val { return types.Bool(object.Equal(o.v, other.Value())) }
func (o opaqueVal) Type() ref.Type              { return types.UnknownType }
func (o opaqueVal) Value() any                  { return o.v }

// mapVal is an object or a map.
type mapVal struct {
	m map[string]any
	t *Type
}

var _ traits.Mapper = (*mapVal)(nil)

func (v *mapVal) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() == reflect.Map {
		return v.m, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), to)
}

func (v *mapVal) ConvertToType(to ref.Type) ref.Val { return convert(v, types.MapType, to) }

// Equal compares members by their types, and those that have none as they are.
func (v *mapVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	for name, value := range v.m {
		if v.typeOf(name) == nil {
			same, ok := other.(*mapVal)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			if theirs, ok := same.m[name]; ok && !object.Equal(value, theirs) {
				return types.False
			}
			continue
		}
		mine, found := v.Find(types.String(name))
		theirs, theirsFound := o.Find(types.String(name))
		if found != theirsFound {
			return types.False
		}
		if !found {
			continue
		}
		if equal := mine.Equal(theirs); equal != types.True {
			return equal // false or an error
		}
	}
	return types.True
}

// typeOf is the type of a member by its own name, nil if it has none.
func (v *mapVal) typeOf(name string) *Type {
	if v.t.sort == dictionary {
		return v.t.element
	}
	return v.t.members[name]
}

func (v *mapVal) Type() ref.Type { return types.MapType }
func (v *mapVal) Value() any     { return v.m }
func (v *mapVal) Size() ref.Val  { return types.Int(len(v.m)) }

func (v *mapVal) Contains(key ref.Val) ref.Val {
	found, ok := v.Find(key)
	if found != nil && types.IsUnknownOrError(found) {
		return found
	}
	return types.Bool(ok)
}

func (v *mapVal) Get(key ref.Val) ref.Val {
	if found, ok := v.Find(key); ok {
		return found
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Find finds a member by the name that expressions use. A null is as good as an
// absent member of an object.
func (v *mapVal) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	name, t := string(k), v.t.element
	if v.t.sort == structure {
		m, ok := v.t.byName[name]
		if !ok {
			return nil, false
		}
		name, t = m.name, m.typ
	}
	value, ok := v.m[name]
	if !ok || value == nil && v.t.sort == structure {
		return nil, false
	}
	return t.value(value), true
}

// Iterator walks the keys in their order.
func (v *mapVal) Iterator() traits.Iterator {
	keys := make([]string, 0, len(v.m))
	for name := range v.m {
		if v.typeOf(name) == nil {
			continue
		}
		if v.t.sort == structure {
			if escaped, ok := escape(name); ok {
				name = escaped
			}
		}
		keys = append(keys, name)
	}
	slices.Sort(keys)
	vals := make([]ref.Val, len(keys))
	for i, k := range keys {
		vals[i] = types.String(k)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, vals).Iterator()
}

// listVal is a list.
type listVal struct {
	l []any
	t *Type
}

var _ traits.Lister = (*listVal)(nil)

func (v *listVal) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), to)
	}
	if v.t.element.schema.Type != "string" {
		return v.l, nil
	}
	out := make([]string, len(v.l))
	for i, e := range v.l {
		s, ok := e.(string)
		if !ok {
			return nil, fmt.Errorf("expected all elements to be of type string, but got %T", e)
		}
		out[i] = s
	}
	return out, nil
}

func (v *listVal) ConvertToType(to ref.Type) ref.Val { return convert(v, types.ListType, to) }

func (v *listVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	for i := range v.l {
		if equal := v.at(i).Equal(o.Get(types.Int(i))); equal != types.True {
			return equal // false or an error
		}
	}
	return types.True
}

func (v *listVal) Type() ref.Type       { return types.ListType }
func (v *listVal) Value() any           { return v.l }
func (v *listVal) Size() ref.Val        { return types.Int(len(v.l)) }
func (v *listVal) at(i int) ref.Val     { return v.t.element.value(v.l[i]) }
func (v *listVal) with(l []any) listVal { return listVal{l, v.t} }

// Add appends a list.
func (v *listVal) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	l := slices.Clip(v.l)
	for e := range elements(o) {
		l = append(l, e.Value())
	}
	sum := v.with(l)
	return &sum
}

func (v *listVal) Contains(wanted ref.Val) ref.Val {
	if types.IsUnknownOrError(wanted) {
		return wanted
	}
	var wrong ref.Val
	for i := range v.l {
		equal := v.at(i).Equal(wanted)
		if equal == types.True {
			return equal
		}
		if _, ok := equal.(types.Bool); !ok && wrong == nil {
			wrong = types.MaybeNoSuchOverloadErr(equal)
		}
	}
	if wrong != nil {
		return wrong
	}
	return types.False
}

func (v *listVal) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || int(i) >= len(v.l) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return v.at(int(i))
}

func (v *listVal) Iterator() traits.Iterator {
	vals := make([]ref.Val, len(v.l))
	for i := range v.l {
		vals[i] = v.at(i)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, vals).Iterator()
}

// setVal is a list of the type set, whose order does not matter.
type setVal struct{ listVal }

// holds are the elements that are in a list. They are scalars, or the list is no
// set; those that cannot be keys of a Go map are passed over.
func holds(l []any) map[any]bool {
	set := make(map[any]bool, len(l))
	for _, e := range l {
		if comparable(e) {
			set[e] = true
		}
	}
	return set
}

func comparable(v any) bool { return v == nil || reflect.TypeOf(v).Comparable() }

// Equal compares sets.
func (v *setVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	set := holds(v.l)
	for e := range elements(o) {
		if e := e.Value(); !comparable(e) || !set[e] {
			return types.False
		}
	}
	return types.True
}

// Add is the union, in which the set's own elements come first.
func (v *setVal) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	l, set := slices.Clip(v.l), holds(v.l)
	for e := range elements(o) {
		if e := e.Value(); comparable(e) && !set[e] {
			set[e] = true
			l = append(l, e)
		}
	}
	return &setVal{v.with(l)}
}

// mapListVal is a list of the type map, whose elements have keys and no order.
type mapListVal struct{ listVal }

// key is what tells an element from others. It differs from that by which old
// and new elements correspond: an absent member is a key like any other.
//
// Differs from kube-apiserver: that looks for keys whose names have to be escaped
// under the escaped name, where there are none, and so takes all elements for one.
func (v *mapListVal) key(e any) string {
	m, _ := e.(map[string]any)
	key := ""
	for _, name := range v.t.schema.ListMapKeys {
		key += fmt.Sprintf("%T %q\x00", m[name], fmt.Sprint(m[name]))
	}
	return key
}

// Equal compares elements that have the same key.
func (v *mapListVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	byKey := make(map[string]int, len(v.l))
	for i, e := range v.l {
		byKey[v.key(e)] = i
	}
	for e := range elements(o) {
		i, ok := byKey[v.key(e.Value())]
		if !ok {
			return types.False
		}
		if equal := v.at(i).Equal(e); equal != types.True {
			return equal // false or an error
		}
	}
	return types.True
}

// Add replaces elements by those with the same key, and appends the others.
func (v *mapListVal) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	l := slices.Clone(v.l)
	byKey := make(map[string]int, len(l))
	for i, e := range l {
		byKey[v.key(e)] = i
	}
	for e := range elements(o) {
		e := e.Value()
		if i, ok := byKey[v.key(e)]; ok {
			l[i] = e
			continue
		}
		l = append(l, e)
	}
	return &mapListVal{v.with(l)}
}
