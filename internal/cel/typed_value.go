package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/wire"
)

// Since v1.37 expressions of policies read built-in objects as values of their Go types, not as
// what their JSON decodes to. Such maps and lists cannot be compared with values of other kinds,
// only strings and integers are keys and indexes of them, and they have no JSON, so that they
// cannot be the values of JSON patches.
//
// See https://pkg.go.dev/k8s.io/apiserver/pkg/cel/common#SchemalessTypedToVal.

// typedValue returns the value of a part of a decoded object with a Go type. Maps and lists are
// wrapped, not copied.
func typedValue(v any, t wire.GoType) ref.Val {
	switch v := v.(type) {
	case map[string]any:
		if t.IsStruct() || t.IsMap() {
			return typedMap{types.NewStringInterfaceMap(adapter{types.DefaultTypeAdapter}, v), v, t}
		}
	case []any:
		if t.IsList() {
			return typedList{v, t}
		}
	}
	return adapter{types.DefaultTypeAdapter}.NativeToValue(v)
}

// A typedMap is a struct or a map.
type typedMap struct {
	traits.Mapper // of the same members, untyped
	members       map[string]any
	typ           wire.GoType
}

// Find implements [traits.Mapper].
func (v typedMap) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.ValOrErr(key, "unsupported map key type: %T", key), v.typ.IsStruct()
	}
	member, ok := v.members[string(name)]
	if !ok {
		return nil, false
	}
	return typedValue(member, v.typ.Member(string(name))), true
}

// Get implements [traits.Indexer].
func (v typedMap) Get(key ref.Val) ref.Val {
	member, ok := v.Find(key)
	if !ok && member == nil {
		return types.ValOrErr(key, "no such key: %v", key)
	}
	return member
}

// Contains implements [traits.Container].
func (v typedMap) Contains(key ref.Val) ref.Val {
	member, ok := v.Find(key)
	if member != nil && types.IsError(member) {
		return member
	}
	return types.Bool(ok)
}

// Equal implements [ref.Val].
func (v typedMap) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	for name, member := range v.members {
		theirs, ok := o.Find(types.String(name))
		if !ok {
			return types.False
		}
		if equal := typedValue(member, v.typ.Member(name)).Equal(theirs); equal != types.True {
			if v.typ.IsStruct() {
				return equal
			}
			return types.False
		}
	}
	return types.True
}

// ConvertToNative implements [ref.Val].
func (v typedMap) ConvertToNative(to reflect.Type) (any, error) {
	if v.typ.IsStruct() {
		return nil, fmt.Errorf("type conversion error from struct type %v to %v", v.typ, to)
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), to)
}

// A typedList is a slice.
type typedList struct {
	elements []any
	typ      wire.GoType
}

// Get implements [traits.Indexer].
func (v typedList) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index type: %T", index)
	}
	if i < 0 || int64(i) >= int64(len(v.elements)) {
		return types.NewErr("index out of bounds: %d", i)
	}
	return typedValue(v.elements[i], v.typ.Element())
}

// values returns the elements.
func (v typedList) values() []ref.Val {
	out := make([]ref.Val, len(v.elements))
	for i, e := range v.elements {
		out[i] = typedValue(e, v.typ.Element())
	}
	return out
}

// Add implements [traits.Adder]. The sum is a list of expressions.
func (v typedList) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	sum := v.values()
	for it := o.Iterator(); it.HasNext() == types.True; {
		sum = append(sum, it.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, sum)
}

// Contains implements [traits.Container].
func (v typedList) Contains(element ref.Val) ref.Val {
	for _, e := range v.values() {
		if e.Equal(element) == types.True {
			return types.True
		}
	}
	return types.False
}

// Equal implements [ref.Val].
func (v typedList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	for i, e := range v.values() {
		if e.Equal(o.Get(types.Int(i))) != types.True {
			return types.False
		}
	}
	return types.True
}

// Iterator implements [traits.Iterable].
func (v typedList) Iterator() traits.Iterator {
	return types.NewRefValList(types.DefaultTypeAdapter, v.values()).Iterator()
}

// Size implements [traits.Sizer].
func (v typedList) Size() ref.Val { return types.Int(len(v.elements)) }

// ConvertToNative implements [ref.Val].
func (v typedList) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() == reflect.Slice {
		return v.elements, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), to)
}

// ConvertToType implements [ref.Val].
func (v typedList) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.ListType:
		return v
	case types.TypeType:
		return types.ListType
	}
	return types.NewErr("type conversion error from '%s' to '%s'", v.Type(), to.TypeName())
}

// Type implements [ref.Val].
func (v typedList) Type() ref.Type { return types.ListType }

// Value implements [ref.Val].
func (v typedList) Value() any { return v.elements }
