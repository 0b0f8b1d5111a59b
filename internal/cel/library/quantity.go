package library

import (
	"math"
	"math/big"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/quantity"
)

// QuantityType is the type of resource quantities.
var QuantityType = types.NewObjectType("kubernetes.Quantity")

// quantityVal is the CEL value of a resource quantity.
type quantityVal struct {
	Val[quantity.Number]
	// computed is whether the quantity is a sum or a difference. Such a quantity has
	// another Go type in kube-apiserver and cannot be the right operand of ==.
	computed bool
}

func newQuantity(n quantity.Number, computed bool) ref.Val {
	return quantityVal{NewVal(QuantityType, n), computed}
}

// Equal compares the values of quantities.
func (v quantityVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(quantityVal)
	if !ok || o.computed {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.Native.Compare(o.Native) == 0)
}

// quantityFunctions returns the quantity library.
func quantityFunctions() []function {
	comparison := func(name, overload string, typ *types.Type, result func(int) ref.Val) function {
		return method(name, overload, argTypes(QuantityType, QuantityType), typ,
			binary(func(a, b quantityVal) ref.Val { return result(a.Native.Compare(b.Native)) }))
	}
	arithmetic := func(name string, do func(a, b quantity.Number) quantity.Number) function {
		return function{name, []cel.FunctionOpt{
			cel.MemberOverload("quantity_"+name, argTypes(QuantityType, QuantityType), QuantityType,
				binary(func(a, b quantityVal) ref.Val { return newQuantity(do(a.Native, b.Native), true) })),
			cel.MemberOverload("quantity_"+name+"_int", argTypes(QuantityType, types.IntType), QuantityType,
				binary(func(a quantityVal, b types.Int) ref.Val {
					return newQuantity(do(a.Native, quantity.Number{Unscaled: big.NewInt(int64(b)), Small: true}), true)
				})),
		}}
	}
	is := func(order int) func(int) ref.Val { return func(o int) ref.Val { return types.Bool(o == order) } }
	return []function{
		global("quantity", "string_to_quantity", argTypes(types.StringType), QuantityType, unary(func(s types.String) ref.Val {
			n, err := quantity.Parse(string(s))
			if err != nil {
				return types.WrapErr(err)
			}
			return newQuantity(n, false)
		})),
		global("isQuantity", "is_quantity_string", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := quantity.Parse(string(s))
			return types.Bool(err == nil)
		})),
		global("sign", "quantity_sign", argTypes(QuantityType), types.IntType,
			unary(func(q quantityVal) ref.Val { return types.Int(q.Native.Unscaled.Sign()) })),
		comparison("isGreaterThan", "quantity_is_greater_than", types.BoolType, is(1)),
		comparison("isLessThan", "quantity_is_less_than", types.BoolType, is(-1)),
		comparison("compareTo", "quantity_compare_to", types.IntType, func(o int) ref.Val { return types.Int(o) }),
		method("asApproximateFloat", "quantity_get_float", argTypes(QuantityType), types.DoubleType, unary(func(q quantityVal) ref.Val {
			f, _ := new(big.Float).SetInt(q.Native.Unscaled).Float64()
			return types.Double(f * math.Pow10(int(q.Native.Scale)))
		})),
		method("asInteger", "quantity_get_int", argTypes(QuantityType), types.IntType, unary(func(q quantityVal) ref.Val {
			i, ok := q.Native.Int64()
			if !ok {
				return types.NewErr("cannot convert value to integer")
			}
			return types.Int(i)
		})),
		method("isInteger", "quantity_is_integer", argTypes(QuantityType), types.BoolType, unary(func(q quantityVal) ref.Val {
			_, ok := q.Native.Int64()
			return types.Bool(ok)
		})),
		arithmetic("add", quantity.Number.Add),
		arithmetic("sub", func(a, b quantity.Number) quantity.Number { return a.Add(b.Neg()) }),
	}
}
