package library

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A function is a function of a library with its overloads.
type function struct {
	name      string
	overloads []cel.FunctionOpt
}

// functionOptions returns environment options that declare functions.
func functionOptions(functions []function) []cel.EnvOption {
	options := make([]cel.EnvOption, len(functions))
	for i, f := range functions {
		options[i] = cel.Function(f.name, f.overloads...)
	}
	return options
}

// global declares a function that is called as f(x).
func global(name, overload string, args []*types.Type, result *types.Type, do cel.OverloadOpt) function {
	return function{name, []cel.FunctionOpt{cel.Overload(overload, args, result, do)}}
}

// method declares a function that is called as x.f().
func method(name, overload string, args []*types.Type, result *types.Type, do cel.OverloadOpt) function {
	return function{name, []cel.FunctionOpt{cel.MemberOverload(overload, args, result, do)}}
}

// argTypes lists the types of the arguments, the receiver of a method first.
func argTypes(args ...*types.Type) []*types.Type { return args }

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
