package cel

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/cel/library"
)

// The types of patches. The type of a field of an apply configuration is named by
// its path, such as Object.spec.
const (
	patchName     = "Object"
	jsonPatchName = "JSONPatch"
)

var (
	patchType     = types.NewObjectType(patchName)
	jsonPatchType = types.NewObjectType(jsonPatchName, traits.IndexerType|traits.FieldTesterType)
)

// jsonPatchFields has the types of the fields of a JSON patch operation.
var jsonPatchFields = map[string]*types.Type{
	"op": types.StringType, "path": types.StringType, "from": types.StringType, "value": types.DynType,
}

// withPatchTypes is an environment option that declares the types of patches.
func withPatchTypes(env *cel.Env) (*cel.Env, error) {
	return cel.CustomTypeProvider(patchProvider{env.CELTypeProvider()})(env)
}

// A patchProvider is the type provider of an environment, extended by the types of
// patches.
type patchProvider struct{ types.Provider }

func isPatchType(name string) bool {
	return name == patchName || strings.HasPrefix(name, patchName+".")
}

// FindStructType implements [types.Provider].
func (p patchProvider) FindStructType(name string) (*types.Type, bool) {
	switch {
	case name == jsonPatchName:
		return types.NewTypeTypeWithParam(jsonPatchType), true
	case isPatchType(name):
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements [types.Provider]. Apply configurations may have any
// field.
func (p patchProvider) FindStructFieldNames(name string) ([]string, bool) {
	switch {
	case name == jsonPatchName:
		return []string{"op", "from", "path", "value"}, true
	case isPatchType(name):
		return nil, true
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements [types.Provider].
func (p patchProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	switch {
	case name == jsonPatchName:
		return &types.FieldType{Type: jsonPatchFields[field]}, true // other fields have no type, as in kube-apiserver
	case isPatchType(name):
		return &types.FieldType{Type: types.DynType}, true
	}
	return p.Provider.FindStructFieldType(name, field)
}

// NewValue implements [types.Provider]. It returns a patch or a field of one.
func (p patchProvider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	switch {
	case name == jsonPatchName:
		for field, v := range fields {
			if _, ok := v.(types.String); !ok && field != "value" {
				return types.NewErr("unexpected type %T for JSONPatchType '%s' field", v.Value(), field)
			}
		}
		return patchVal{jsonPatchType, fields}
	case isPatchType(name):
		return patchVal{types.NewObjectType(name, traits.IndexerType|traits.FieldTesterType), fields}
	}
	return p.Provider.NewValue(name, fields)
}

// patchVal is a JSON patch operation, an apply configuration or a field of one.
type patchVal struct {
	typ    *types.Type
	fields map[string]ref.Val
}

// ConvertToNative converts to map[string]any.
func (v patchVal) ConvertToNative(to reflect.Type) (any, error) {
	if to == reflect.TypeFor[map[string]any]() {
		return v.native()
	}
	return nil, fmt.Errorf("unable to convert to %v", to)
}

// ConvertToType converts to the patch's own type and to the type type.
func (v patchVal) ConvertToType(to ref.Type) ref.Val {
	switch to.TypeName() {
	case v.typ.TypeName():
		return v
	case types.TypeType.TypeName():
		return types.NewTypeTypeWithParam(v.typ)
	}
	return types.NewErr("unsupported conversion into %v", to)
}

// Equal compares the types and the fields.
func (v patchVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(patchVal)
	if !ok || v.typ.TypeName() != o.typ.TypeName() || len(v.fields) != len(o.fields) {
		return types.False
	}
	for name, mine := range v.fields {
		theirs, ok := o.fields[name]
		if !ok || mine.Equal(theirs) != types.True {
			return types.False
		}
	}
	return types.True
}

// Get returns a field.
func (v patchVal) Get(name ref.Val) ref.Val {
	if s, ok := name.(types.String); ok {
		if field, ok := v.fields[string(s)]; ok {
			return field
		}
		if jsonPatchFields[string(s)] == types.StringType && v.typ == jsonPatchType {
			return types.String("")
		}
	}
	return types.NewErr("unsupported indexer: %s", name)
}

// IsSet reports whether a field is set.
func (v patchVal) IsSet(name ref.Val) ref.Val {
	s, ok := name.(types.String)
	if !ok {
		return types.NewErr("unsupported field: %s", name)
	}
	_, ok = v.fields[string(s)]
	return types.Bool(ok)
}

// Type returns the patch's type.
func (v patchVal) Type() ref.Type { return v.typ }

// Value returns the members of the patch.
func (v patchVal) Value() any {
	m, err := v.native()
	if err != nil {
		return types.WrapErr(err)
	}
	return m
}

// checkPatchTypes checks that the types in an apply configuration have the names of
// their paths. path is the expected type name of v.
func checkPatchTypes(v ref.Val, path string) error {
	switch v := v.(type) {
	case patchVal:
		if got := v.typ.TypeName(); got != path {
			return fmt.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", got, path)
		}
		for name, field := range v.fields {
			if err := checkPatchTypes(field, path+"."+name); err != nil {
				return err
			}
		}
	case traits.Lister:
		for e := range library.Elements(v) {
			if err := checkPatchTypes(e, path); err != nil {
				return err
			}
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			if err := checkPatchTypes(v.Get(it.Next()), path); err != nil {
				return err
			}
		}
	}
	return nil
}
