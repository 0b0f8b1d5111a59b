package cel

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// costs tells cel-go what calls of the libraries' functions cost, and estimates
// it beforehand. The estimates decide which definitions are valid, so they have
// to be those of kube-apiserver to the unit, oddities included.
type costs struct {
	// sizes tells how large a part of the variable can be to which a path leads;
	// nil if nothing is known about sizes.
	sizes func(path []string) (size uint64, known bool)
}

const (
	// checkCost is that of asking an authorizer. Two questions fit in a budget.
	checkCost = 350_000
	// perString is the cost of looking at a byte, perPattern that of a byte of a
	// regular expression for each unit that the string costs.
	perString  = common.StringTraversalCostFactor
	perPattern = common.RegexStringLengthCostFactor
	// anyFormat is the size of a format's expression in estimates, and longName
	// that of its name.
	anyFormat = 128
	longName  = 64
)

// A price is how the cost of a function is reckoned.
type price int

const (
	unpriced price = iota
	nominal        // one unit
	asking
	parsing       // a look at the first argument or the receiver
	parsingTwice  // two
	makingString  // as parsing; the result is as long
	selecting     // parsing of a selector
	listing       // a look at each element
	joining       //
	replacing     //
	splitting     //
	finding       // a search with a regular expression
	formatting    // a check by a named format
	containing    // of an address in a range
	containingAll // of a range in a range
	equality
)

var prices = priced(map[price][]string{
	nominal: {
		"serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored",
		"masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast",
		"format.named",
		"sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch",
		"getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery",
	},
	asking:        {"check"},
	parsing:       {"ip", "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"},
	parsingTwice:  {"ip.isCanonical"},
	makingString:  {"url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"},
	selecting:     {"fieldSelector", "labelSelector"},
	listing:       {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"},
	joining:       {"join"},
	replacing:     {"replace"},
	splitting:     {"split"},
	finding:       {"find", "findAll"},
	formatting:    {"validate"},
	containing:    {"containsIP"},
	containingAll: {"containsCIDR"},
	equality:      {"_==_"},
})

func priced(functions map[price][]string) map[string]price {
	prices := map[string]price{}
	for p, names := range functions {
		for _, name := range names {
			prices[name] = p
		}
	}
	return prices
}

// priceOf is the price of an overload of a function.
func priceOf(function, overload string) price {
	if overload == "cidr_ip" {
		return nominal
	}
	return prices[function]
}

// CallCost is the actual cost of a call, nil if cel-go knows it.
func (c costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	cost, ok := actualCost(priceOf(function, overload), overload, args, result)
	if !ok {
		return nil
	}
	return &cost
}

func actualCost(p price, overload string, args []ref.Val, result ref.Val) (cost uint64, ok bool) {
	switch p {
	case unpriced:
		return 0, false
	case nominal:
		return 1, true
	case asking:
		return checkCost, true
	}
	if len(args) == 0 {
		return 0, p == listing
	}
	switch p {
	case parsing, makingString:
		return scaled(sizeOf(args[0]), perString), true
	case parsingTwice, replacing, splitting:
		return scaled(sizeOf(args[0]), 2*perString), true
	case joining:
		return scaled(sizeOf(result), 2*perString), true
	case listing:
		return traversal(args[0]), true
	}
	if len(args) < 2 {
		return 0, false
	}
	switch p {
	case selecting:
		n := sizeOf(args[1])
		return selectorCost(checker.SizeEstimate{Min: n, Max: n}).Max, true
	case finding:
		return patternCost(sizeOf(args[0]), sizeOf(args[1])), true
	case formatting:
		f, ok := args[0].(formatVal)
		if !ok {
			return 0, false
		}
		return patternCost(sizeOf(args[1]), uint64(f.value.size)), true
	case containing, containingAll:
		cost := scaled(2*sizeOf(args[0]), perString)
		if p == containingAll {
			cost += scaled(sizeOf(args[0]), perString) + 1
		}
		if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
			cost += scaled(sizeOf(args[1]), perString)
		}
		return cost, true
	case equality:
		switch args[0].(type) {
		case quantityVal, ipVal, cidrVal, formatVal, urlVal, semverVal,
			authorizerVal, pathCheckVal, groupCheckVal, resourceCheckVal, decisionVal:
			return 1, true
		}
	}
	return 0, false
}

// patternCost is the cost of a regular expression on a string. Even the empty
// string costs something.
func patternCost(text, pattern uint64) uint64 {
	return scaled(1+text, perString) * scaled(pattern, perPattern)
}

func scaled(n uint64, factor float64) uint64 { return uint64(math.Ceil(float64(n) * factor)) }

func sizeOf(v ref.Val) uint64 {
	if v, ok := v.(traits.Sizer); ok {
		return uint64(v.Size().(types.Int))
	}
	return 1
}

// traversal is the cost of looking at all that is in a value.
func traversal(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(float64(len(v)) * perString)
	case types.Bytes:
		return uint64(float64(len(v)) * perString)
	case traits.Lister:
		cost := uint64(0)
		for e := range elements(v) {
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

// selectorCost is the cost of a selector of some length: a list, the parsing, and
// a requirement for every two characters.
func selectorCost(length checker.SizeEstimate) checker.CostEstimate {
	list := checker.FixedCostEstimate(common.ListCreateBaseCost)
	requirements := length.MultiplyByCostFactor(0.5).MultiplyByCostFactor(common.ListCreateBaseCost + common.StructCreateBaseCost)
	return list.Add(length.MultiplyByCostFactor(perString)).Add(requirements)
}

// EstimateCallCost is the estimated cost of a call, nil if cel-go knows it.
func (c costs) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	p := priceOf(function, overload)
	switch p {
	case unpriced:
		return nil
	case nominal:
		return fixed(1)
	case asking:
		return fixed(checkCost)
	case equality:
		return c.equality(args)
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
	look := size.MultiplyByCostFactor(perString)
	switch p {
	case parsing:
		return &checker.CallEstimate{CostEstimate: look}
	case parsingTwice:
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perString)}
	case makingString:
		if target == nil && len(args) == 1 {
			return &checker.CallEstimate{CostEstimate: look, ResultSize: &size}
		}
	case selecting:
		return &checker.CallEstimate{CostEstimate: selectorCost(size)}
	case formatting:
		return &checker.CallEstimate{CostEstimate: look.MultiplyByCostFactor(anyFormat * perPattern)}
	case containing, containingAll:
		address := checker.SizeEstimate{Min: 4, Max: 16}
		cost := address.Add(address).MultiplyByCostFactor(perString)
		if p == containingAll {
			cost = cost.Add(address.MultiplyByCostFactor(perString)).Add(checker.FixedCostEstimate(1))
		}
		if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
			cost = cost.Add(look)
		}
		return &checker.CallEstimate{CostEstimate: cost}
	}
	return nil
}

func fixed(cost uint64) *checker.CallEstimate {
	return &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(cost)}
}

// methodCost estimates the functions whose receiver makes the cost.
func (c costs) methodCost(p price, target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	size := c.size(target)
	switch p {
	case listing:
		element := listElement(target)
		if element == nil { // a string has indexOf and lastIndexOf too
			return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perString)}
		}
		cost := checker.FixedCostEstimate(1)
		if kind := element.Type().Kind(); kind == types.StringKind || kind == types.BytesKind {
			cost = cost.Add(c.size(element).MultiplyByCostFactor(perString))
		}
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCost(cost)}
	case makingString:
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perString), ResultSize: &size}
	case replacing:
		if len(args) < 2 {
			return nil
		}
		result := replaced(size, c.size(args[0]), c.size(args[1]))
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perString), ResultSize: &result}
	case splitting:
		parts := checker.SizeEstimate{Max: size.Max}
		if len(args) > 1 {
			if limit, ok := literal(args[1]); ok {
				parts.Max = uint64(limit)
			}
		}
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perString), ResultSize: &parts}
	case joining:
		var result checker.SizeEstimate
		if element := listElement(target); element != nil {
			result = size.Multiply(c.size(element))
		}
		if len(args) > 0 {
			gaps := checker.SizeEstimate{Min: max(size.Min, 1) - 1, Max: max(size.Max, 1) - 1}
			result = result.Add(c.size(args[0]).Multiply(gaps))
		}
		return &checker.CallEstimate{CostEstimate: result.MultiplyByCostFactor(perString), ResultSize: &result}
	case finding:
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

// replaced estimates the size of a string in which one thing was replaced by
// another: the longest comes of replacing the smallest by the largest as often
// as it fits, the shortest of the opposite. Nothing is found between any two
// characters.
func replaced(size, old, by checker.SizeEstimate) checker.SizeEstimate {
	var times, kept checker.SizeEstimate
	switch {
	case old.Min == 0:
		times.Max, kept.Max = above(size.Max), size.Max
	case by.Max <= old.Min:
		kept.Max = size.Max
	default:
		times.Max = uint64(math.Ceil(float64(size.Max) / float64(old.Min)))
	}
	switch {
	case old.Max == 0:
		times.Min, kept.Min = above(size.Min), size.Min
	case old.Max <= by.Min:
		kept.Min = size.Min
	default:
		times.Min = uint64(math.Ceil(float64(size.Min) / float64(old.Max)))
	}
	return times.Multiply(by).Add(kept)
}

// above is the next number, or the last.
func above(n uint64) uint64 {
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

// equality estimates comparisons of the libraries' own types.
func (c costs) equality(args []checker.AstNode) *checker.CallEstimate {
	if len(args) != 2 || args[0].Type().Equal(args[1].Type()) != types.True {
		return nil
	}
	typ := args[0].Type()
	if name := typ.TypeName(); name == ipType.TypeName() || name == cidrType.TypeName() {
		return fixed(1) // the checker copies opaque types
	}
	switch typ {
	case quantityType, semverType, authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType:
		return fixed(1)
	case formatType:
		cost := checker.CostEstimate{Min: 1, Max: longName}
		return &checker.CallEstimate{CostEstimate: cost.MultiplyByCostFactor(perString)}
	case urlType:
		cost := checker.CostEstimate{Min: 1, Max: 1}
		if size := args[1].ComputedSize(); size != nil {
			cost.Max = size.Max
		}
		return &checker.CallEstimate{CostEstimate: cost.MultiplyByCostFactor(perString)}
	}
	return nil
}

// size estimates the size of a value.
func (c costs) size(node checker.AstNode) checker.SizeEstimate {
	if size := node.ComputedSize(); size != nil {
		return *size
	}
	if size := c.EstimateSize(node); size != nil {
		return *size
	}
	return checker.UnknownSizeEstimate()
}

// EstimateSize is how large a value can be by the schema, nil if that is
// unknown.
func (c costs) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if c.sizes == nil || len(path) == 0 {
		return nil
	}
	size, known := c.sizes(path[1:]) // what comes first is the variable
	if !known {
		return nil
	}
	return &checker.SizeEstimate{Max: size}
}

// listElement stands for any element of a list, nil if it is no list.
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

// anyElement is a node that is in no expression.
type anyElement struct {
	path []string
	typ  *types.Type
}

func (e anyElement) Path() []string                      { return e.path }
func (e anyElement) Type() *types.Type                   { return e.typ }
func (e anyElement) Expr() ast.Expr                      { return nil }
func (e anyElement) ComputedSize() *checker.SizeEstimate { return nil }
