package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// unary binds f, which has one parameter of type A.
func unary[A ref.Val](f func(A) ref.Val) cel.OverloadOpt {
	return cel.UnaryBinding(func(arg ref.Val) ref.Val {
		a, ok := arg.(A)
		if !ok {
			return types.MaybeNoSuchOverloadErr(arg)
		}
		return f(a)
	})
}

// binary binds f, which has parameters of types A and B.
func binary[A, B ref.Val](f func(A, B) ref.Val) cel.OverloadOpt {
	return cel.BinaryBinding(func(first, second ref.Val) ref.Val {
		a, ok := first.(A)
		if !ok {
			return types.MaybeNoSuchOverloadErr(first)
		}
		b, ok := second.(B)
		if !ok {
			return types.MaybeNoSuchOverloadErr(second)
		}
		return f(a, b)
	})
}

// ternary binds f, which has parameters of types A, B and C.
func ternary[A, B, C ref.Val](f func(A, B, C) ref.Val) cel.OverloadOpt {
	return cel.FunctionBinding(func(args ...ref.Val) ref.Val {
		if len(args) != 3 {
			return types.NoSuchOverloadErr()
		}
		a, okA := args[0].(A)
		b, okB := args[1].(B)
		c, okC := args[2].(C)
		if !okA || !okB || !okC {
			return types.NoSuchOverloadErr()
		}
		return f(a, b, c)
	})
}

// A libraryVal is a value of a type that a Kubernetes library defines.
type libraryVal[T any] struct {
	typ   *types.Type
	value T
}

// ConvertToNative returns the Go value if it is assignable to the type.
func (v libraryVal[T]) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeFor[T]().AssignableTo(to) {
		return v.value, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%v'", v.typ, to)
}

// ConvertToType converts to the value's own type and to the type type.
func (v libraryVal[T]) ConvertToType(to ref.Type) ref.Val {
	return convert(v, v.typ, to)
}

// convert converts a value to its own type and to the type type.
func convert(v ref.Val, own *types.Type, to ref.Type) ref.Val {
	switch to {
	case own:
		return v
	case types.TypeType:
		return own
	}
	return types.NewErr("type conversion error from '%s' to '%s'", own, to.TypeName())
}

// Equal returns an error: by default values cannot be compared.
func (v libraryVal[T]) Equal(other ref.Val) ref.Val { return types.MaybeNoSuchOverloadErr(other) }

// Type returns the value's type.
func (v libraryVal[T]) Type() ref.Type { return v.typ }

// Value returns the Go value.
func (v libraryVal[T]) Value() any { return v.value }
