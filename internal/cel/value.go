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

// value returns the CEL value of a decoded JSON value. Maps and lists are wrapped, not
// copied.
func (t *declType) value(v any) ref.Val {
	if v == nil {
		if t.schema.Nullable {
			return types.NullValue
		}
		return types.NewErr("invalid data, got null for schema with nullable=false")
	}
	switch t.kind {
	case kindIntOrString:
		switch v := v.(type) {
		case string:
			return types.String(v)
		case int64:
			return types.Int(v)
		}
		return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	case kindObject, kindMap:
		m, ok := v.(map[string]any)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		return &mapVal{m, t}
	case kindList:
		return t.listValue(v)
	case kindScalar:
		return t.scalarValue(v)
	case kindUnknown:
		return unknownVal{v}
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", t.schema.Type)
}

func (t *declType) listValue(v any) ref.Val {
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

func (t *declType) scalarValue(v any) ref.Val {
	switch t.schema.Type {
	case "string":
		s, ok := v.(string)
		if !ok {
			return types.NewErr("invalid data, expected string, got %T", v)
		}
		return stringValue(t.schema.Format, s)
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

// stringValue returns the CEL value of a string of a format.
func stringValue(format, s string) ref.Val {
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

// parseDateTime parses a string of the format date-time. The time zone may be omitted;
// the empty string is the start of 1970.
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

// unknownVal is a value whose unknown fields are preserved. Expressions can only
// compare it.
type unknownVal struct{ v any }

func (o unknownVal) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to)
}

func (o unknownVal) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to.TypeName())
}

func (o unknownVal) Equal(other ref.Val) ref.Val { return types.Bool(object.Equal(o.v, other.Value())) }
func (o unknownVal) Type() ref.Type              { return types.UnknownType }
func (o unknownVal) Value() any                  { return o.v }

// mapVal is the CEL value of an object or a map.
type mapVal struct {
	m map[string]any
	t *declType
}

var _ traits.Mapper = (*mapVal)(nil)

func (v *mapVal) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() == reflect.Map {
		return v.m, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), to)
}

func (v *mapVal) ConvertToType(to ref.Type) ref.Val { return convert(v, types.MapType, to) }

// Equal compares the fields. Fields without a type are compared as decoded JSON.
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
			otherMap, ok := other.(*mapVal)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			if otherField, ok := otherMap.m[name]; ok && !object.Equal(value, otherField) {
				return types.False
			}
			continue
		}
		field, found := v.Find(types.String(name))
		otherField, otherFound := o.Find(types.String(name))
		if found != otherFound {
			return types.False
		}
		if !found {
			continue
		}
		if equal := field.Equal(otherField); equal != types.True {
			return equal // false or an error
		}
	}
	return types.True
}

// typeOf returns the type of a field by its JSON name, nil if it has none.
func (v *mapVal) typeOf(name string) *declType {
	if v.t.kind == kindMap {
		return v.t.element
	}
	return v.t.fields[name]
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

// Find returns a field by the name that expressions use. A null field of an object
// counts as absent.
func (v *mapVal) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	name, t := string(k), v.t.element
	if v.t.kind == kindObject {
		m, ok := v.t.fieldsByName[name]
		if !ok {
			return nil, false
		}
		name, t = m.name, m.typ
	}
	value, ok := v.m[name]
	if !ok || value == nil && v.t.kind == kindObject {
		return nil, false
	}
	return t.value(value), true
}

// Iterator returns an iterator over the names of the fields in sorted order.
func (v *mapVal) Iterator() traits.Iterator {
	keys := make([]string, 0, len(v.m))
	for name := range v.m {
		if v.typeOf(name) == nil {
			continue
		}
		if v.t.kind == kindObject {
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

// listVal is the CEL value of a list.
type listVal struct {
	l []any
	t *declType
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

// Add returns the list followed by another list.
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
	var comparisonErr ref.Val
	for i := range v.l {
		equal := v.at(i).Equal(wanted)
		if equal == types.True {
			return equal
		}
		if _, ok := equal.(types.Bool); !ok && comparisonErr == nil {
			comparisonErr = types.MaybeNoSuchOverloadErr(equal)
		}
	}
	if comparisonErr != nil {
		return comparisonErr
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

// setVal is the CEL value of a list of type set. The order does not matter.
type setVal struct{ listVal }

// elementSet returns the set of the elements of l. It skips values that cannot be keys
// of a Go map; the elements of a valid set are scalars.
func elementSet(l []any) map[any]bool {
	set := make(map[any]bool, len(l))
	for _, e := range l {
		if isComparable(e) {
			set[e] = true
		}
	}
	return set
}

func isComparable(v any) bool { return v == nil || reflect.TypeOf(v).Comparable() }

// Equal reports whether the sets have the same elements.
func (v *setVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	set := elementSet(v.l)
	for e := range elements(o) {
		if e := e.Value(); !isComparable(e) || !set[e] {
			return types.False
		}
	}
	return types.True
}

// Add returns the union. The elements of the receiver come first.
func (v *setVal) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	l, set := slices.Clip(v.l), elementSet(v.l)
	for e := range elements(o) {
		if e := e.Value(); isComparable(e) && !set[e] {
			set[e] = true
			l = append(l, e)
		}
	}
	return &setVal{v.with(l)}
}

// mapListVal is the CEL value of a list of type map. The order does not matter.
type mapListVal struct{ listVal }

// key returns the key of an element. Unlike for the correlation of old and new
// elements, absent key fields are allowed.
//
// Differs from kube-apiserver: lists with map keys in CEL: if the name of a key
// must be escaped, kube-apiserver looks it up by its escaped name, does not
// find it, and treats all elements as equal in it. Here the name is found.
// Request: PUT of a custom resource with a rule that compares such lists, with
// a key named "if".
func (v *mapListVal) key(e any) string {
	m, _ := e.(map[string]any)
	key := ""
	for _, name := range v.t.schema.ListMapKeys {
		key += fmt.Sprintf("%T %q\x00", m[name], fmt.Sprint(m[name]))
	}
	return key
}

// Equal reports whether the lists have the same keys with equal elements.
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

// Add returns the list with elements of the other list, which replace elements with
// the same key or are appended.
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
