package cel

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// The types of patches. Parts of an object have types named by where they are,
// such as Object.spec.
const (
	patchName     = "Object"
	jsonPatchName = "JSONPatch"
)

var (
	patchType     = types.NewObjectType(patchName)
	jsonPatchType = types.NewObjectType(jsonPatchName, traits.IndexerType|traits.FieldTesterType)
)

// patchFunctions has jsonpatch.escapeKey.
func patchFunctions() []function {
	escape := strings.NewReplacer("/", "~1", "~", "~0")
	return []function{
		global("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", takes(types.StringType), types.StringType,
			unary(func(s types.String) ref.Val { return types.String(escape.Replace(string(s))) })),
	}
}

// patchMembers are the types of a JSON patch's members.
var patchMembers = map[string]*types.Type{
	"op": types.StringType, "path": types.StringType, "from": types.StringType, "value": types.DynType,
}

// providePatches makes the types of patches known to an environment.
func providePatches(env *cel.Env) (*cel.Env, error) {
	return cel.CustomTypeProvider(patchProvider{env.CELTypeProvider()})(env)
}

// A patchProvider knows the types of patches and those of an environment.
type patchProvider struct{ types.Provider }

func isPatch(name string) bool { return name == patchName || strings.HasPrefix(name, patchName+".") }

// FindStructType finds a type by its name.
func (p patchProvider) FindStructType(name string) (*types.Type, bool) {
	switch {
	case name == jsonPatchName:
		return types.NewTypeTypeWithParam(jsonPatchType), true
	case isPatch(name):
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames finds the members of a type. Those of objects are not
// known: there can be any.
func (p patchProvider) FindStructFieldNames(name string) ([]string, bool) {
	switch {
	case name == jsonPatchName:
		return []string{"op", "from", "path", "value"}, true
	case isPatch(name):
		return nil, true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType finds the type of a member.
func (p patchProvider) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	switch {
	case name == jsonPatchName:
		typ, ok := patchMembers[member]
		return &types.FieldType{Type: typ}, ok
	case isPatch(name):
		return &types.FieldType{Type: types.DynType}, true
	}
	return p.Provider.FindStructFieldType(name, member)
}

// NewValue makes a patch, or a part of one.
func (p patchProvider) NewValue(name string, members map[string]ref.Val) ref.Val {
	switch {
	case name == jsonPatchName:
		for member, v := range members {
			if _, ok := v.(types.String); !ok && member != "value" {
				return types.NewErr("unexpected type %T for JSONPatchType '%s' field", v.Value(), member)
			}
		}
		return patchVal{jsonPatchType, members}
	case isPatch(name):
		return patchVal{types.NewObjectType(name, traits.IndexerType|traits.FieldTesterType), members}
	}
	return p.Provider.NewValue(name, members)
}

// patchVal is a patch, or a part of one.
type patchVal struct {
	typ     *types.Type
	members map[string]ref.Val
}

// ConvertToNative gives generic values.
func (v patchVal) ConvertToNative(to reflect.Type) (any, error) {
	if to == reflect.TypeFor[map[string]any]() {
		return generic(v)
	}
	return nil, fmt.Errorf("unable to convert to %v", to)
}

// ConvertToType converts to the patch's own type, and to the type of types.
func (v patchVal) ConvertToType(to ref.Type) ref.Val {
	switch to.TypeName() {
	case v.typ.TypeName():
		return v
	case types.TypeType.TypeName():
		return types.NewTypeTypeWithParam(v.typ)
	}
	return types.NewErr("unsupported conversion into %v", to)
}

// Equal compares patches of one type by their members.
func (v patchVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(patchVal)
	if !ok || v.typ.TypeName() != o.typ.TypeName() || len(v.members) != len(o.members) {
		return types.False
	}
	for name, mine := range v.members {
		theirs, ok := o.members[name]
		if !ok || mine.Equal(theirs) != types.True {
			return types.False
		}
	}
	return types.True
}

// Get is a member.
func (v patchVal) Get(name ref.Val) ref.Val {
	if s, ok := name.(types.String); ok {
		if member, ok := v.members[string(s)]; ok {
			return member
		}
		if patchMembers[string(s)] == types.StringType && v.typ == jsonPatchType {
			return types.String("")
		}
	}
	return types.NewErr("unsupported indexer: %s", name)
}

// IsSet reports whether there is a member.
func (v patchVal) IsSet(name ref.Val) ref.Val {
	s, ok := name.(types.String)
	if !ok {
		return types.NewErr("unsupported field: %s", name)
	}
	_, ok = v.members[string(s)]
	return types.Bool(ok)
}

// Type is the patch's type.
func (v patchVal) Type() ref.Type { return v.typ }

// Value is the patch as a generic value.
func (v patchVal) Value() any {
	m, err := generic(v)
	if err != nil {
		return types.WrapErr(err)
	}
	return m
}

// Generic returns a value as generic values are: maps, lists and scalars of JSON.
// It fails for a value that JSON has nothing for, and for a part of a patch whose
// type is not named by where it is.
func Generic(v ref.Val) (any, error) {
	if p, ok := v.(patchVal); ok && p.typ != jsonPatchType {
		if err := placed(p, patchName); err != nil {
			return nil, err
		}
	}
	return generic(v)
}

func generic(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.String:
		return string(v), nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return int64(v), nil
	case types.Double:
		return float64(v), nil
	case types.Null:
		return nil, nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return generic(v.GetValue())
	case patchVal:
		out := make(map[string]any, len(v.members))
		for name, member := range v.members {
			m, err := generic(member)
			if err != nil {
				return nil, fmt.Errorf("fail to convert field %q: %w", name, err)
			}
			out[name] = m
		}
		return out, nil
	case traits.Lister:
		out := []any{}
		for e := range elements(v) {
			g, err := generic(e)
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		}
		return out, nil
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("map key %q is of type %T, not string", key, key)
			}
			g, err := generic(v.Get(key))
			if err != nil {
				return nil, err
			}
			out[string(name)] = g
		}
		return out, nil
	}
	return nil, fmt.Errorf("unsupported type %v", v.Type())
}

// placed checks that the types in a patch are named by where they are.
func placed(v ref.Val, name string) error {
	switch v := v.(type) {
	case patchVal:
		if got := v.typ.TypeName(); got != name {
			return fmt.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", got, name)
		}
		for member, m := range v.members {
			if err := placed(m, name+"."+member); err != nil {
				return err
			}
		}
	case traits.Lister:
		for e := range elements(v) {
			if err := placed(e, name); err != nil {
				return err
			}
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			if err := placed(v.Get(it.Next()), name); err != nil {
				return err
			}
		}
	}
	return nil
}
