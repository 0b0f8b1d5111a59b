package cel

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/object"
)

// ApplyConfiguration returns the members of an apply configuration. As in kube-apiserver, what
// CEL has no JSON value for stays a Go value, which the merge refuses: null, unsigned integers,
// bytes, and lists and maps in lists and maps. It fails for a value that is no apply
// configuration, and for a field whose type does not have the name of its path.
func ApplyConfiguration(v ref.Val) (map[string]any, error) {
	p, ok := v.(patchVal)
	if !ok || p.typ == jsonPatchType {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", v.Type())
	}
	if err := checkPatchTypes(p, patchName); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	return p.native()
}

// native returns the members as Go values.
func (v patchVal) native() (map[string]any, error) {
	out := make(map[string]any, len(v.fields))
	for name, field := range v.fields {
		member, err := nativeField(field)
		if err != nil {
			return nil, fmt.Errorf("fail to convert field %q: %w", name, err)
		}
		out[name] = member
	}
	return out, nil
}

// nativeField returns the Go value of a field of a patch. Lists and maps of expressions become
// those of JSON at this depth only.
func nativeField(v ref.Val) (any, error) {
	switch v := v.Value().(type) {
	case []ref.Val:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = nativeValue(e)
		}
		return out, nil
	case map[ref.Val]ref.Val:
		out := make(map[string]any, len(v))
		for key, e := range v {
			name, ok := key.Value().(string)
			if !ok {
				return nil, fmt.Errorf("map key %q is of type %T, not string", key, key)
			}
			out[name] = nativeValue(e)
		}
		return out, nil
	}
	return nativeValue(v), nil
}

// nativeValue returns the Go value of v, a copy if it is part of an object.
func nativeValue(v ref.Val) any {
	switch v := v.Value().(type) {
	case map[string]any:
		return object.Copy(v)
	case []any:
		return object.Copy(v)
	default:
		return v
	}
}

// JSONPatch returns the operations of a JSON patch, to be encoded as JSON.
func JSONPatch(v ref.Val) ([]map[string]any, error) {
	list, ok := v.(traits.Lister)
	if !ok {
		return nil, fmt.Errorf("unsupported type %v", v.Type())
	}
	operations := []map[string]any{}
	for e := range library.Elements(list) {
		p, ok := e.(patchVal)
		if !ok {
			return nil, fmt.Errorf("unsupported type %v", e.Type())
		}
		o := map[string]any{"op": "", "path": ""}
		for name, field := range p.fields {
			if name != "value" {
				if text := field.Value(); name != "from" || text != "" {
					o[name] = text
				}
				continue
			}
			value, err := jsonValue(field)
			if err != nil {
				return nil, errors.New(strings.ReplaceAll(err.Error(), "\u00a0", " ")) // which protobuf uses at random
			}
			o[name] = value
		}
		operations = append(operations, o)
	}
	return operations, nil
}

// jsonValue returns a value of CEL as JSON.
//
// Differs from kube-apiserver: literals of Objects in lists or maps of JSON patches of
// MutatingAdmissionPolicies: kube-apiserver before v1.37 crashes (kubernetes/kubernetes#139032).
// Here they work in all releases. Request: CREATE of an object that the policy
// [JSONPatch{op: "add", path: "/spec/x", value: [Object.spec.x{}]}] mutates with --release=1.36.
func jsonValue(v ref.Val) (*structpb.Value, error) {
	switch v := v.(type) {
	case patchVal:
		if err := checkUntyped(v); err != nil {
			return nil, err
		}
		members, err := v.native()
		if err != nil {
			return nil, err
		}
		return structpb.NewValue(members)
	case typedMap, typedList: // which have no JSON
	case traits.Lister:
		list := &structpb.ListValue{}
		for e := range library.Elements(v) {
			element, err := jsonValue(e)
			if err != nil {
				return nil, err
			}
			list.Values = append(list.Values, element)
		}
		return structpb.NewListValue(list), nil
	case traits.Mapper:
		members := map[string]*structpb.Value{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, err := key.ConvertToNative(reflect.TypeFor[string]())
			if err != nil {
				return nil, err
			}
			if members[name.(string)], err = jsonValue(v.Get(key)); err != nil {
				return nil, err
			}
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: members}), nil
	case *types.Optional:
		if v.HasValue() {
			return jsonValue(v.GetValue())
		}
	}
	out, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return nil, err
	}
	value, ok := out.(*structpb.Value)
	if !ok {
		return nil, fmt.Errorf("unsupported type %v", v.Type())
	}
	return value, nil
}

// checkUntyped returns the error of protobuf for a map or a list with a Go type within v.
func checkUntyped(v ref.Val) error {
	switch v := v.(type) {
	case typedMap:
		return fmt.Errorf("proto: invalid type: %v", v.typ)
	case typedList:
		return fmt.Errorf("proto: invalid type: %v", v.typ)
	case patchVal:
		for _, name := range slices.Sorted(maps.Keys(v.fields)) {
			if err := checkUntyped(v.fields[name]); err != nil {
				return err
			}
		}
	case traits.Lister:
		for e := range library.Elements(v) {
			if err := checkUntyped(e); err != nil {
				return err
			}
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			if err := checkUntyped(v.Get(it.Next())); err != nil {
				return err
			}
		}
	}
	return nil
}
