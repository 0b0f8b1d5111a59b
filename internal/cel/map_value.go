package cel

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/object"
)

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

func (v *mapVal) ConvertToType(to ref.Type) ref.Val {
	return library.ConvertToType(v, types.MapType, to)
}

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
