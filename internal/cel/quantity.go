package cel

import (
	"math"
	"math/big"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/wire"
)

var quantityType = types.NewObjectType("kubernetes.Quantity")

// quantityVal is a resource quantity.
type quantityVal struct {
	foreign[wire.Number]
	// computed is whether the quantity is a sum or a difference. In
	// kube-apiserver such a one is of another Go type, and nothing can be compared
	// with it by ==, while it can be with others.
	computed bool
}

func newQuantity(n wire.Number, computed bool) ref.Val {
	return quantityVal{foreign[wire.Number]{quantityType, n}, computed}
}

// Equal compares quantities by their value.
func (v quantityVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(quantityVal)
	if !ok || o.computed {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.value.Compare(o.value) == 0)
}

// quantityFunctions are quantity, isQuantity, arithmetic, comparisons and
// conversions.
func quantityFunctions() []function {
	compared := func(name, overload string, result *types.Type, judge func(int) ref.Val) function {
		return method(name, overload, takes(quantityType, quantityType), result,
			binary(func(a, b quantityVal) ref.Val { return judge(a.value.Compare(b.value)) }))
	}
	arithmetic := func(name string, do func(a, b wire.Number) wire.Number) function {
		return function{name, []cel.FunctionOpt{
			cel.MemberOverload("quantity_"+name, takes(quantityType, quantityType), quantityType,
				binary(func(a, b quantityVal) ref.Val { return newQuantity(do(a.value, b.value), true) })),
			cel.MemberOverload("quantity_"+name+"_int", takes(quantityType, types.IntType), quantityType,
				binary(func(a quantityVal, b types.Int) ref.Val {
					return newQuantity(do(a.value, wire.Number{Unscaled: big.NewInt(int64(b)), Small: true}), true)
				})),
		}}
	}
	is := func(order int) func(int) ref.Val { return func(o int) ref.Val { return types.Bool(o == order) } }
	return []function{
		global("quantity", "string_to_quantity", takes(types.StringType), quantityType, unary(func(s types.String) ref.Val {
			n, err := wire.ParseQuantity(string(s))
			if err != nil {
				return types.WrapErr(err)
			}
			return newQuantity(n, false)
		})),
		global("isQuantity", "is_quantity_string", takes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val {
			_, err := wire.ParseQuantity(string(s))
			return types.Bool(err == nil)
		})),
		global("sign", "quantity_sign", takes(quantityType), types.IntType,
			unary(func(q quantityVal) ref.Val { return types.Int(q.value.Unscaled.Sign()) })),
		compared("isGreaterThan", "quantity_is_greater_than", types.BoolType, is(1)),
		compared("isLessThan", "quantity_is_less_than", types.BoolType, is(-1)),
		compared("compareTo", "quantity_compare_to", types.IntType, func(o int) ref.Val { return types.Int(o) }),
		method("asApproximateFloat", "quantity_get_float", takes(quantityType), types.DoubleType, unary(func(q quantityVal) ref.Val {
			f, _ := new(big.Float).SetInt(q.value.Unscaled).Float64()
			return types.Double(f * math.Pow10(int(q.value.Scale)))
		})),
		method("asInteger", "quantity_get_int", takes(quantityType), types.IntType, unary(func(q quantityVal) ref.Val {
			i, ok := q.value.Int64()
			if !ok {
				return types.NewErr("cannot convert value to integer")
			}
			return types.Int(i)
		})),
		method("isInteger", "quantity_is_integer", takes(quantityType), types.BoolType, unary(func(q quantityVal) ref.Val {
			_, ok := q.value.Int64()
			return types.Bool(ok)
		})),
		arithmetic("add", wire.Number.Add),
		arithmetic("sub", func(a, b wire.Number) wire.Number { return a.Add(b.Neg()) }),
	}
}
