package cel

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/kubefake/kubefake/internal/cel/library"
)

// costs is the cost estimator for the functions of the libraries. Estimates decide
// which definitions are valid, so they equal those of kube-apiserver exactly.
type costs struct {
	// sizes returns the maximal size of the value at a path within what the first element names: a
	// variable, a type, or an element of the result of a function, "@items". It is nil if no size
	// is known.
	sizes func(in string, path []string) (size uint64, known bool)
	// version is that of the expression.
	version Version
}

const (
	// checkCost is the cost of an authorization check. perCallLimit allows two.
	checkCost = 350_000
	// perString is the cost of traversing a byte of a string, perPattern the cost of
	// a byte of a regular expression per cost unit of the string.
	perString  = common.StringTraversalCostFactor
	perPattern = common.RegexStringLengthCostFactor
	// maxFormatPattern is the estimated size of a format's regular expression,
	// maxFormatName that of its name.
	maxFormatPattern = 128
	maxFormatName    = 64
)

// A costClass is a formula for the cost of a function.
type costClass int

const (
	costUnknown costClass = iota
	costNominal           // 1
	costAuthorize
	costParse        // a traversal of the receiver or first argument
	costParseTwice   // two traversals
	costTransform    // costParse; the result has the size of the argument
	costSelector     // parses a selector
	costListElements // a traversal of each element
	costJoin
	costReplace
	costSplit
	costRegex        // matches a regular expression
	costFormat       // validates a named format
	costContainsIP   // address in CIDR
	costContainsCIDR // CIDR in CIDR
	costEqual
)

// costClasses has the cost class of each function.
var costClasses = costClassesByName(map[costClass][]string{
	costNominal: {
		"serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored",
		"masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast",
		"format.named",
		"sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch",
		"getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery",
	},
	costAuthorize:    {"check"},
	costParse:        {"ip", "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"},
	costParseTwice:   {"ip.isCanonical"},
	costTransform:    {"url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"},
	costSelector:     {"fieldSelector", "labelSelector"},
	costListElements: {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"},
	costJoin:         {"join"},
	costReplace:      {"replace"},
	costSplit:        {"split"},
	costRegex:        {"find", "findAll"},
	costFormat:       {"validate"},
	costContainsIP:   {"containsIP"},
	costContainsCIDR: {"containsCIDR"},
	costEqual:        {"_==_"},
})

func costClassesByName(functions map[costClass][]string) map[string]costClass {
	costClasses := map[string]costClass{}
	for p, names := range functions {
		for _, name := range names {
			costClasses[name] = p
		}
	}
	return costClasses
}

// costClassOf returns the cost class of an overload of a function.
func costClassOf(function, overload string) costClass {
	if overload == "cidr_ip" {
		return costNominal
	}
	return costClasses[function]
}

// A costFunc returns the cost of a call. It must not keep args.
type costFunc func(args []ref.Val, result ref.Val) uint64

// costOf returns the cost of calls of a function. overload is "" if it is chosen by
// the arguments.
func costOf(function, overload string) costFunc {
	if cost := listCost(function, overload); cost != nil {
		return cost
	}
	class, standard := costClassOf(function, overload), standardCost(overload)
	if class == costUnknown {
		return standard
	}
	return func(args []ref.Val, result ref.Val) uint64 {
		if cost, ok := actualCost(class, overload, args, result); ok {
			return cost
		}
		return standard(args, result)
	}
}

// standardCost returns the cost of an overload of the standard library, 1 for others.
func standardCost(overload string) costFunc {
	traverse := func(n uint64) uint64 { return scaled(n, perString) }
	switch overload {
	case overloads.StartsWithString, overloads.EndsWithString, overloads.StringToBytes, overloads.BytesToString,
		overloads.ExtQuoteString, overloads.ExtFormatString:
		return func(args []ref.Val, _ ref.Val) uint64 { return traverse(valueSize(args[0])) }
	case overloads.InList:
		return func(args []ref.Val, _ ref.Val) uint64 { return valueSize(args[1]) }
	case overloads.LessString, overloads.GreaterString, overloads.LessEqualsString, overloads.GreaterEqualsString,
		overloads.LessBytes, overloads.GreaterBytes, overloads.LessEqualsBytes, overloads.GreaterEqualsBytes,
		overloads.Equals, overloads.NotEquals:
		return func(args []ref.Val, _ ref.Val) uint64 {
			return traverse(min(valueSize(args[0]), valueSize(args[1])))
		}
	case overloads.AddString, overloads.AddBytes:
		return func(args []ref.Val, _ ref.Val) uint64 { return traverse(valueSize(args[0]) + valueSize(args[1])) }
	case overloads.MatchesString:
		return func(args []ref.Val, _ ref.Val) uint64 { return regexCost(valueSize(args[0]), valueSize(args[1])) }
	case overloads.ContainsString:
		return func(args []ref.Val, _ ref.Val) uint64 {
			return traverse(valueSize(args[0])) * traverse(valueSize(args[1]))
		}
	}
	return func([]ref.Val, ref.Val) uint64 { return 1 }
}

// listCost returns the cost of an overload of the list and set extensions of cel-go;
// nil for others.
func listCost(function, overload string) costFunc {
	allocating := func(factor float64, size uint64) uint64 {
		return uint64(float64(size)*factor) + 1 + common.ListCreateBaseCost
	}
	selfCompare := func(list ref.Val) uint64 {
		l, ok := list.(traits.Lister)
		size := valueSize(list)
		if !ok || size == 0 {
			return allocating(2, 0)
		}
		factor := 2.0
		if t := l.Get(types.IntZero).Type(); t == types.StringType || t == types.BytesType {
			factor += perString
		}
		return allocating(factor, size*size)
	}
	switch overload {
	case "list_slice", "list_reverse":
		return func(_ []ref.Val, result ref.Val) uint64 { return allocating(1, valueSize(result)) }
	case "lists_range":
		return func(args []ref.Val, _ ref.Val) uint64 {
			n, _ := args[0].(types.Int)
			return allocating(1, uint64(max(n, 0)))
		}
	case "list_flatten", "list_flatten_int":
		return func(args []ref.Val, _ ref.Val) uint64 {
			depth := 1.0
			if len(args) == 2 {
				n, _ := args[1].(types.Int)
				depth = float64(n)
			}
			return allocating(depth, valueSize(args[0]))
		}
	case "list_distinct":
		return func(args []ref.Val, _ ref.Val) uint64 { return selfCompare(args[0]) }
	case "list_sets_contains_list", "list_sets_intersects_list":
		return func(args []ref.Val, _ ref.Val) uint64 { return 1 + valueSize(args[0])*valueSize(args[1]) }
	case "list_sets_equivalent_list":
		return func(args []ref.Val, _ ref.Val) uint64 { return 1 + valueSize(args[0])*valueSize(args[1])*2 }
	case "":
		return nil // chosen by the arguments
	}
	switch function {
	case "sort":
		return func(args []ref.Val, _ ref.Val) uint64 { return selfCompare(args[0]) }
	case "@sortByAssociatedKeys":
		return func(args []ref.Val, _ ref.Val) uint64 { return selfCompare(args[1]) }
	}
	return nil
}

// valueSize returns the size of a value with a size, also of one in an optional, and 1
// for others.
func valueSize(v ref.Val) uint64 {
	if opt, ok := v.(*types.Optional); ok && opt.HasValue() {
		return valueSize(opt.GetValue())
	}
	return sizeOf(v)
}

func actualCost(p costClass, overload string, args []ref.Val, result ref.Val) (cost uint64, ok bool) {
	switch p {
	case costUnknown:
		return 0, false
	case costNominal:
		return 1, true
	case costAuthorize:
		return checkCost, true
	}
	if len(args) == 0 {
		return 0, p == costListElements
	}
	switch p {
	case costParse, costTransform:
		return scaled(sizeOf(args[0]), perString), true
	case costParseTwice, costReplace, costSplit:
		return scaled(sizeOf(args[0]), 2*perString), true
	case costJoin:
		return scaled(sizeOf(result), 2*perString), true
	case costListElements:
		return traversal(args[0]), true
	}
	if len(args) < 2 {
		return 0, false
	}
	switch p {
	case costSelector:
		n := sizeOf(args[1])
		return selectorCost(checker.SizeEstimate{Min: n, Max: n}).Max, true
	case costRegex:
		return regexCost(sizeOf(args[0]), sizeOf(args[1])), true
	case costFormat:
		pattern, ok := library.FormatSize(args[0])
		if !ok {
			return 0, false
		}
		return regexCost(sizeOf(args[1]), pattern), true
	case costContainsIP, costContainsCIDR:
		cost := scaled(2*sizeOf(args[0]), perString)
		if p == costContainsCIDR {
			cost += scaled(sizeOf(args[0]), perString) + 1
		}
		if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
			cost += scaled(sizeOf(args[1]), perString)
		}
		return cost, true
	case costEqual:
		if typ, ok := args[0].Type().(*types.Type); ok && library.IsType(typ) {
			return 1, true
		}
	}
	return 0, false
}

// regexCost returns the cost of matching a regular expression. The empty string has
// a cost too.
func regexCost(text, pattern uint64) uint64 {
	return scaled(1+text, perString) * scaled(pattern, perPattern)
}

func scaled(n uint64, factor float64) uint64 { return uint64(math.Ceil(float64(n) * factor)) }

func sizeOf(v ref.Val) uint64 {
	if v, ok := v.(traits.Sizer); ok {
		return uint64(v.Size().(types.Int))
	}
	return 1
}

// traversal returns the cost of traversing a value.
func traversal(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(float64(len(v)) * perString)
	case types.Bytes:
		return uint64(float64(len(v)) * perString)
	case traits.Lister:
		cost := uint64(0)
		for e := range library.Elements(v) {
			cost += traversal(e)
		}
		return cost
	case traits.Mapper:
		cost := uint64(0)
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			cost += traversal(key) + traversal(v.Get(key))
		}
		return cost
	}
	return 1
}

// selectorCost returns the cost of a selector of the given length: of parsing it, and
// of a list with a requirement for every two characters.
func selectorCost(length checker.SizeEstimate) checker.CostEstimate {
	list := checker.FixedCostEstimate(common.ListCreateBaseCost)
	requirements := length.MultiplyByCostFactor(0.5).MultiplyByCostFactor(common.ListCreateBaseCost + common.StructCreateBaseCost)
	return list.Add(length.MultiplyByCostFactor(perString)).Add(requirements)
}

// EstimateCallCost implements [checker.CostEstimator]. It returns nil if cel-go
// defines the cost.
func (c costs) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	p := costClassOf(function, overload)
	switch p {
	case costUnknown:
		return nil
	case costNominal:
		return fixed(1)
	case costAuthorize:
		return fixed(checkCost)
	case costEqual:
		return c.equalityCost(args)
	}
	if target != nil {
		if e := c.methodCost(p, *target, args); e != nil {
			return e
		}
	}
	if len(args) == 0 {
		return nil
	}
	size := c.size(args[0])
	traverse := size.MultiplyByCostFactor(perString)
	switch p {
	case costParse:
		return &checker.CallEstimate{CostEstimate: traverse}
	case costParseTwice:
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perString)}
	case costTransform:
		if target == nil && len(args) == 1 {
			return &checker.CallEstimate{CostEstimate: traverse, ResultSize: &size}
		}
	case costSelector:
		return &checker.CallEstimate{CostEstimate: selectorCost(size)}
	case costFormat:
		return &checker.CallEstimate{CostEstimate: traverse.MultiplyByCostFactor(maxFormatPattern * perPattern)}
	case costContainsIP, costContainsCIDR:
		address := checker.SizeEstimate{Min: 4, Max: 16}
		cost := address.Add(address).MultiplyByCostFactor(perString)
		if p == costContainsCIDR {
			cost = cost.Add(address.MultiplyByCostFactor(perString)).Add(checker.FixedCostEstimate(1))
		}
		if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
			cost = cost.Add(traverse)
		}
		return &checker.CallEstimate{CostEstimate: cost}
	}
	return nil
}

func fixed(cost uint64) *checker.CallEstimate {
	return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(cost)}
}

// methodCost estimates methods whose cost depends on the receiver.
func (c costs) methodCost(p costClass, target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	size := c.size(target)
	switch p {
	case costListElements:
		element := listElement(target)
		if element == nil { // a string has indexOf and lastIndexOf too
			return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perString)}
		}
		cost := checker.FixedCostEstimate(1)
		if kind := element.Type().Kind(); kind == types.StringKind || kind == types.BytesKind {
			cost = cost.Add(c.size(element).MultiplyByCostFactor(perString))
		}
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCost(cost)}
	case costTransform:
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perString), ResultSize: &size}
	case costReplace:
		if len(args) < 2 {
			return nil
		}
		result := replacedSize(size, c.size(args[0]), c.size(args[1]))
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perString), ResultSize: &result}
	case costSplit:
		parts := checker.SizeEstimate{Max: size.Max}
		if len(args) > 1 {
			if limit, ok := literal(args[1]); ok {
				parts.Max = uint64(limit)
			}
		}
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perString), ResultSize: &parts}
	case costJoin:
		var result checker.SizeEstimate
		if element := listElement(target); element != nil {
			result = size.Multiply(c.size(element))
		}
		if len(args) > 0 {
			gaps := checker.SizeEstimate{Min: max(size.Min, 1) - 1, Max: max(size.Max, 1) - 1}
			result = result.Add(c.size(args[0]).Multiply(gaps))
		}
		return &checker.CallEstimate{CostEstimate: result.MultiplyByCostFactor(perString), ResultSize: &result}
	case costRegex:
		if len(args) < 1 {
			return nil
		}
		text := size.Add(checker.FixedSizeEstimate(1)).MultiplyByCostFactor(perString)
		pattern := c.size(args[0]).MultiplyByCostFactor(perPattern)
		return &checker.CallEstimate{CostEstimate: text.Multiply(pattern), ResultSize: &checker.SizeEstimate{Max: size.Max}}
	}
	return nil
}

func literal(node checker.AstNode) (int64, bool) {
	v := node.Expr().AsLiteral()
	if v == nil {
		return 0, false
	}
	i, ok := v.Value().(int64)
	return i, ok
}

// replacedSize estimates the size of a string after replacing old by by. The result
// is longest if the shortest old string is replaced by the longest one as often as it
// fits, and shortest in the opposite case. An empty old string matches between any
// two characters.
func replacedSize(size, old, by checker.SizeEstimate) checker.SizeEstimate {
	var times, kept checker.SizeEstimate
	switch {
	case old.Min == 0:
		times.Max, kept.Max = saturatingInc(size.Max), size.Max
	case by.Max <= old.Min:
		kept.Max = size.Max
	default:
		times.Max = uint64(math.Ceil(float64(size.Max) / float64(old.Min)))
	}
	switch {
	case old.Max == 0:
		times.Min, kept.Min = saturatingInc(size.Min), size.Min
	case old.Max <= by.Min:
		kept.Min = size.Min
	default:
		times.Min = uint64(math.Ceil(float64(size.Min) / float64(old.Max)))
	}
	return times.Multiply(by).Add(kept)
}

// saturatingInc returns n+1, or math.MaxUint64 if that overflows.
func saturatingInc(n uint64) uint64 {
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

// equalityCost estimates comparisons of the types of the libraries.
func (c costs) equalityCost(args []checker.AstNode) *checker.CallEstimate {
	if len(args) != 2 || args[0].Type().Equal(args[1].Type()) != types.True {
		return nil
	}
	switch typ := args[0].Type(); typ {
	case library.FormatType:
		cost := checker.CostEstimate{Min: 1, Max: maxFormatName}
		return &checker.CallEstimate{CostEstimate: cost.MultiplyByCostFactor(perString)}
	case library.URLType:
		cost := checker.CostEstimate{Min: 1, Max: 1}
		if size := args[1].ComputedSize(); size != nil {
			cost.Max = size.Max
		}
		return &checker.CallEstimate{CostEstimate: cost.MultiplyByCostFactor(perString)}
	default:
		if library.IsType(typ) {
			return fixed(1)
		}
	}
	return nil
}

// size returns the estimated size of a value.
func (c costs) size(node checker.AstNode) checker.SizeEstimate {
	if size := node.ComputedSize(); size != nil {
		return *size
	}
	if size := c.EstimateSize(node); size != nil {
		return *size
	}
	return checker.UnknownSizeEstimate()
}

// EstimateSize implements [checker.CostEstimator]. It returns the size by the schema,
// nil if it is not known.
func (c costs) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if c.sizes == nil || len(path) == 0 {
		return nil
	}
	size, known := c.sizes(path[0], path[1:])
	if !known {
		return nil
	}
	return &checker.SizeEstimate{Max: size}
}

// listElement returns a node for any element of a list, nil if it is not a list.
func listElement(list checker.AstNode) checker.AstNode {
	of := list.Type().Parameters()
	if len(of) == 0 {
		return nil
	}
	e := anyElement{typ: of[0]}
	if path := list.Path(); path != nil {
		e.path = append(path[:len(path):len(path)], "@items")
	}
	return e
}

// anyElement is a node without an expression.
type anyElement struct {
	path []string
	typ  *types.Type
}

func (e anyElement) Path() []string                      { return e.path }
func (e anyElement) Type() *types.Type                   { return e.typ }
func (e anyElement) Expr() ast.Expr                      { return nil }
func (e anyElement) ComputedSize() *checker.SizeEstimate { return nil }
