package cel

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/cel/library"
)

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

func (v *listVal) ConvertToType(to ref.Type) ref.Val {
	return library.ConvertToType(v, types.ListType, to)
}

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
	for e := range library.Elements(o) {
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
	for e := range library.Elements(o) {
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
	for e := range library.Elements(o) {
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
	for e := range library.Elements(o) {
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
	for e := range library.Elements(o) {
		e := e.Value()
		if i, ok := byKey[v.key(e)]; ok {
			l[i] = e
			continue
		}
		l = append(l, e)
	}
	return &mapListVal{v.with(l)}
}
