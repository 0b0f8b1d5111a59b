package library

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// ordered has the types whose values can be compared, summable those whose values
// can be added, with the sum of an empty list. The names are those in overloads.
var (
	ordered = []struct {
		name string
		typ  *types.Type
	}{
		{"int", types.IntType}, {"uint", types.UintType}, {"double", types.DoubleType}, {"bool", types.BoolType},
		{"duration", types.DurationType}, {"timestamp", types.TimestampType}, {"string", types.StringType}, {"bytes", types.BytesType},
	}
	summable = []struct {
		name string
		typ  *types.Type
		zero ref.Val
	}{
		{"int", types.IntType, types.IntZero}, {"uint", types.UintType, types.Uint(0)},
		{"double", types.DoubleType, types.Double(0)}, {"duration", types.DurationType, types.Duration{}},
	}
)

// listFunctions returns the list library: isSorted, sum, min, max, indexOf and
// lastIndexOf.
func listFunctions() []function {
	sorted, sums, least, greatest := function{name: "isSorted"}, function{name: "sum"}, function{name: "min"}, function{name: "max"}
	for _, t := range ordered {
		list := argTypes(types.NewListType(t.typ))
		sorted.overloads = append(sorted.overloads, cel.MemberOverload("list_"+t.name+"_is_sorted_bool", list, types.BoolType, unary(isSorted)))
		least.overloads = append(least.overloads, cel.MemberOverload("list_"+t.name+"_min_"+t.name, list, t.typ, unary(extreme("min", types.IntNegOne))))
		greatest.overloads = append(greatest.overloads, cel.MemberOverload("list_"+t.name+"_max_"+t.name, list, t.typ, unary(extreme("max", types.IntOne))))
	}
	for _, t := range summable {
		sums.overloads = append(sums.overloads, cel.MemberOverload("list_"+t.name+"_sum_"+t.name, argTypes(types.NewListType(t.typ)), t.typ, unary(sum(t.zero))))
	}
	a := cel.TypeParamType("A")
	return []function{
		sorted, sums, least, greatest,
		method("indexOf", "list_a_index_of_int", argTypes(types.NewListType(a), a), types.IntType, binary(func(l traits.Lister, v ref.Val) ref.Val {
			size := l.Size().(types.Int)
			for i := types.Int(0); i < size; i++ {
				if l.Get(i).Equal(v) == types.True {
					return i
				}
			}
			return types.IntNegOne
		})),
		method("lastIndexOf", "list_a_last_index_of_int", argTypes(types.NewListType(a), a), types.IntType, binary(func(l traits.Lister, v ref.Val) ref.Val {
			for i := l.Size().(types.Int) - 1; i >= 0; i-- {
				if l.Get(i).Equal(v) == types.True {
					return i
				}
			}
			return types.IntNegOne
		})),
	}
}

// Elements returns an iterator over the elements of a list.
func Elements(l traits.Lister) func(yield func(ref.Val) bool) {
	return func(yield func(ref.Val) bool) {
		for it := l.Iterator(); it.HasNext() == types.True; {
			if !yield(it.Next()) {
				return
			}
		}
	}
}

func isSorted(l traits.Lister) ref.Val {
	var last traits.Comparer
	for v := range Elements(l) {
		next, ok := v.(traits.Comparer)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		if last != nil && last.Compare(v) == types.IntOne {
			return types.False
		}
		last = next
	}
	return types.True
}

func sum(zero ref.Val) func(traits.Lister) ref.Val {
	return func(l traits.Lister) ref.Val {
		total := zero
		for v := range Elements(l) {
			adder, ok := total.(traits.Adder)
			if !ok {
				return types.MaybeNoSuchOverloadErr(total) // the error of an overflow
			}
			total = adder.Add(v)
		}
		return total
	}
}

// extreme returns a function that finds the minimum or maximum of a list. An element
// replaces the result so far if comparing it with that gives better.
func extreme(name string, better ref.Val) func(traits.Lister) ref.Val {
	return func(l traits.Lister) ref.Val {
		var best ref.Val
		for v := range Elements(l) {
			next, ok := v.(traits.Comparer)
			if !ok {
				return types.MaybeNoSuchOverloadErr(v)
			}
			if best == nil || next.Compare(best) == better {
				best = v
			}
		}
		if best == nil {
			return types.NewErr("%s called on empty list", name)
		}
		return best
	}
}
