package library

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A Val is the part that the values of an object type or opaque type have in common: its
// CEL type and a Go value. A type of values embeds it, and defines Equal if its values
// can be compared.
type Val[T any] struct {
	typ *types.Type
	// Native is the Go value.
	Native T
}

// NewVal returns a Val of a CEL type.
func NewVal[T any](typ *types.Type, native T) Val[T] { return Val[T]{typ, native} }

// ConvertToNative returns the Go value if it is assignable to the type.
func (v Val[T]) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeFor[T]().AssignableTo(to) {
		return v.Native, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%v'", v.typ, to)
}

// ConvertToType converts to the value's own type and to the type type.
func (v Val[T]) ConvertToType(to ref.Type) ref.Val {
	return ConvertToType(v, v.typ, to)
}

// ConvertToType converts a value to its own type and to the type type. For other types it
// returns an error value.
func ConvertToType(v ref.Val, own *types.Type, to ref.Type) ref.Val {
	switch to {
	case own:
		return v
	case types.TypeType:
		return own
	}
	return types.NewErr("type conversion error from '%s' to '%s'", own, to.TypeName())
}

// Equal returns an error: by default values cannot be compared.
func (v Val[T]) Equal(other ref.Val) ref.Val { return types.MaybeNoSuchOverloadErr(other) }

// Type returns the value's type.
func (v Val[T]) Type() ref.Type { return v.typ }

// Value returns the Go value.
func (v Val[T]) Value() any { return v.Native }
