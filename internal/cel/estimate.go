package cel

import (
	"math"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"

	"github.com/kubefake/kubefake/internal/release/behavior"
)

// estimateCost returns the estimated cost of an expression. Estimates of kube-apiserver
// v1.32 do not know the sizes of the elements of lists and maps that an expression makes,
// and of the values of optionals and dyn. Without a size, a cost has no limit.
func estimateCost(env *cel.Env, checked *cel.Ast, v Version, c checker.CostEstimator) (checker.CostEstimate, error) {
	if v.has(behavior.CELElementSizes) { // new expressions of a release have the version of the release before
		return env.EstimateCost(checked, c)
	}
	e := plainEstimator{
		costs:   c,
		checked: checked.NativeRep(),
		ranges:  map[string][]ast.Expr{},
		paths:   map[int64][]string{},
		sizes:   map[int64]checker.SizeEstimate{},
	}
	return e.cost(e.checked.Expr()), nil
}

// A plainEstimator is the estimator of kube-apiserver v1.32. It knows the sizes of
// literals and fields, and of the results of calls whose estimate has one.
type plainEstimator struct {
	costs   checker.CostEstimator
	checked *ast.AST
	// ranges has what the variables of comprehensions iterate over, the innermost last.
	ranges map[string][]ast.Expr
	// paths has the paths of values within variables, sizes the sizes of results, both by
	// the IDs of expressions.
	paths map[int64][]string
	sizes map[int64]checker.SizeEstimate
}

func (p *plainEstimator) cost(e ast.Expr) checker.CostEstimate {
	switch e.Kind() {
	case ast.LiteralKind:
		return checker.FixedCostEstimate(common.ConstCost)
	case ast.IdentKind:
		p.paths[e.ID()] = p.variablePath(e.AsIdent())
		return checker.FixedCostEstimate(common.SelectAndIdentCost)
	case ast.SelectKind:
		return p.selectCost(e)
	case ast.CallKind:
		return p.callCost(e)
	case ast.ListKind:
		return p.sum(e.AsList().Elements()...).Add(checker.FixedCostEstimate(common.ListCreateBaseCost))
	case ast.MapKind:
		cost := checker.FixedCostEstimate(common.MapCreateBaseCost)
		for _, entry := range e.AsMap().Entries() {
			cost = cost.Add(p.sum(entry.AsMapEntry().Key(), entry.AsMapEntry().Value()))
		}
		return cost
	case ast.StructKind:
		cost := checker.FixedCostEstimate(common.StructCreateBaseCost)
		for _, field := range e.AsStruct().Fields() {
			cost = cost.Add(p.cost(field.AsStructField().Value()))
		}
		return cost
	case ast.ComprehensionKind:
		return p.comprehensionCost(e)
	}
	return checker.CostEstimate{}
}

// sum returns the cost of all expressions.
func (p *plainEstimator) sum(all ...ast.Expr) (sum checker.CostEstimate) {
	for _, e := range all {
		sum = sum.Add(p.cost(e))
	}
	return sum
}

// variablePath returns the path of a variable. That of a comprehension is below the path of
// its range.
func (p *plainEstimator) variablePath(name string) []string {
	ranges := p.ranges[name]
	if len(ranges) == 0 {
		return []string{name}
	}
	iterated := ranges[len(ranges)-1]
	switch p.checked.GetType(iterated.ID()).Kind() {
	case types.ListKind:
		return p.below(iterated, "@items")
	case types.MapKind:
		return p.below(iterated, "@keys")
	}
	return nil
}

// below returns the path of a part of a value.
func (p *plainEstimator) below(e ast.Expr, part string) []string {
	path := p.paths[e.ID()]
	return append(path[:len(path):len(path)], part)
}

func (p *plainEstimator) selectCost(e ast.Expr) checker.CostEstimate {
	s := e.AsSelect()
	cost := p.cost(s.Operand())
	if s.IsTestOnly() {
		return cost
	}
	p.paths[e.ID()] = p.below(s.Operand(), s.FieldName())
	switch p.checked.GetType(s.Operand().ID()).Kind() {
	case types.MapKind, types.StructKind, types.TypeParamKind:
		return cost.Add(checker.FixedCostEstimate(common.SelectAndIdentCost))
	}
	return cost
}

func (p *plainEstimator) comprehensionCost(e ast.Expr) checker.CostEstimate {
	c := e.AsComprehension()
	cost := p.sum(c.IterRange(), c.AccuInit())
	p.ranges[c.IterVar()] = append(p.ranges[c.IterVar()], c.IterRange())
	loop := p.sum(c.LoopCondition(), c.LoopStep())
	p.ranges[c.IterVar()] = p.ranges[c.IterVar()][:len(p.ranges[c.IterVar()])-1]
	cost = cost.Add(p.cost(c.Result()))
	times := p.size(p.node(c.IterRange()))
	p.sizes[e.ID()] = times
	return cost.Add(times.MultiplyByCost(loop))
}

// A plainCall is a call whose overload is one of several.
type plainCall struct {
	function, overload string
	target             *checker.AstNode // nil if the function is no method
	args               []checker.AstNode
	costs              []checker.CostEstimate // of args
}

func (p *plainEstimator) callCost(e ast.Expr) checker.CostEstimate {
	c := plainCall{function: e.AsCall().FunctionName()}
	for _, arg := range e.AsCall().Args() {
		c.costs = append(c.costs, p.cost(arg))
		c.args = append(c.args, p.node(arg))
	}
	all := p.checked.GetOverloadIDs(e.ID())
	if len(all) == 0 {
		return checker.CostEstimate{}
	}
	var cost checker.CostEstimate
	if e.AsCall().IsMemberFunction() {
		cost = p.cost(e.AsCall().Target())
		var target checker.AstNode = p.node(e.AsCall().Target())
		c.target = &target
	}
	own := checker.CostEstimate{Min: math.MaxUint64}
	for _, c.overload = range all {
		estimate := p.overloadCost(c)
		own = own.Union(estimate.CostEstimate)
		if size := estimate.ResultSize; size != nil {
			if other, ok := p.sizes[e.ID()]; ok {
				*size = size.Union(other)
			}
			p.sizes[e.ID()] = *size
		}
		switch c.overload {
		case overloads.IndexList:
			p.paths[e.ID()] = p.below(e.AsCall().Args()[0], "@items")
		case overloads.IndexMap:
			p.paths[e.ID()] = p.below(e.AsCall().Args()[0], "@values")
		}
	}
	return cost.Add(own)
}

// overloadCost returns the cost of a call of one overload with the costs of its arguments.
func (p *plainEstimator) overloadCost(c plainCall) checker.CallEstimate {
	switch c.overload {
	case overloads.LogicalOr, overloads.LogicalAnd:
		// The second operand may not be evaluated.
		return checker.CallEstimate{CostEstimate: checker.CostEstimate{Min: c.costs[0].Min, Max: c.costs[0].Add(c.costs[1]).Max}}
	case overloads.Conditional:
		size := p.size(c.args[1]).Union(p.size(c.args[2]))
		return checker.CallEstimate{CostEstimate: c.costs[0].Add(c.costs[1].Union(c.costs[2])), ResultSize: &size}
	}
	estimate := p.ownCost(c)
	for _, cost := range c.costs {
		estimate.CostEstimate = estimate.Add(cost)
	}
	return estimate
}

// ownCost returns the cost of a call without those of its arguments.
func (p *plainEstimator) ownCost(c plainCall) checker.CallEstimate {
	size := func(i int) checker.SizeEstimate { return p.size(c.args[i]) }
	traversal := func(s checker.SizeEstimate) checker.CostEstimate { return s.MultiplyByCostFactor(perString) }
	estimate := func(cost checker.CostEstimate) checker.CallEstimate { return checker.CallEstimate{CostEstimate: cost} }
	one := checker.FixedCostEstimate(1)
	switch c.overload {
	case "list_sets_contains_list", "list_sets_intersects_list":
		return estimate(size(0).Multiply(size(1)).MultiplyByCostFactor(1).Add(one))
	case "list_sets_equivalent_list":
		return estimate(size(0).Multiply(size(1)).MultiplyByCostFactor(2).Add(one))
	}
	if e := p.costs.EstimateCallCost(c.function, c.overload, c.target, c.args); e != nil {
		return *e
	}
	switch c.overload {
	case overloads.ExtFormatString:
		return estimate(traversal(p.size(*c.target)))
	case overloads.StringToBytes:
		s := size(0)
		return checker.CallEstimate{CostEstimate: traversal(s), ResultSize: &checker.SizeEstimate{Min: s.Min, Max: s.Max * 4}}
	case overloads.BytesToString:
		s := size(0)
		return checker.CallEstimate{CostEstimate: traversal(s), ResultSize: &checker.SizeEstimate{Min: s.Min / 4, Max: s.Max}}
	case overloads.ExtQuoteString:
		s := size(0)
		return checker.CallEstimate{CostEstimate: traversal(s), ResultSize: &checker.SizeEstimate{Min: s.Min + 2, Max: s.Max*2 + 2}}
	case overloads.StartsWithString, overloads.EndsWithString:
		return estimate(traversal(size(0)))
	case overloads.InList:
		return estimate(size(1).MultiplyByCostFactor(1))
	case overloads.MatchesString:
		text := traversal(p.size(*c.target).Add(checker.FixedSizeEstimate(1)))
		return estimate(text.Multiply(size(0).MultiplyByCostFactor(perPattern)))
	case overloads.ContainsString:
		return estimate(traversal(p.size(*c.target)).Multiply(traversal(size(0))))
	case overloads.AddString, overloads.AddBytes, overloads.AddList:
		sum := size(0).Add(size(1))
		if c.overload == overloads.AddList {
			return checker.CallEstimate{CostEstimate: one, ResultSize: &sum}
		}
		return checker.CallEstimate{CostEstimate: traversal(sum), ResultSize: &sum}
	case overloads.LessString, overloads.GreaterString, overloads.LessEqualsString, overloads.GreaterEqualsString,
		overloads.LessBytes, overloads.GreaterBytes, overloads.LessEqualsBytes, overloads.GreaterEqualsBytes,
		overloads.Equals, overloads.NotEquals:
		a, b := size(0), size(1)
		compared := checker.SizeEstimate{Max: min(a.Max, b.Max)}
		if a.Min > 0 && b.Min > 0 {
			compared.Min = 1
		}
		return estimate(traversal(compared))
	}
	return estimate(one)
}

// node returns the node of an expression.
func (p *plainEstimator) node(e ast.Expr) checker.AstNode {
	n := plainNode{expr: e, typ: p.checked.GetType(e.ID()), path: p.paths[e.ID()]}
	if len(n.path) > 0 && (n.path[0] == parser.AccumulatorName || n.path[0] == parser.HiddenAccumulatorName) {
		n.path = nil
	}
	if size, ok := p.sizes[e.ID()]; ok {
		n.size = &size
	} else {
		n.size = literalSize(e)
	}
	return n
}

// literalSize returns the size of a literal, nil for other expressions.
func literalSize(e ast.Expr) *checker.SizeEstimate {
	n := 1
	switch e.Kind() {
	case ast.LiteralKind:
		switch v := e.AsLiteral().(type) {
		case types.String:
			n = utf8.RuneCountInString(string(v))
		case types.Bytes:
			n = len(v)
		}
	case ast.ListKind:
		n = e.AsList().Size()
	case ast.MapKind:
		n = e.AsMap().Size()
	default:
		return nil
	}
	size := checker.FixedSizeEstimate(uint64(n))
	return &size
}

// size returns the size of a value.
func (p *plainEstimator) size(n checker.AstNode) checker.SizeEstimate {
	if size := n.ComputedSize(); size != nil {
		return *size
	}
	if size := p.costs.EstimateSize(n); size != nil {
		return *size
	}
	switch n.Type().Kind() {
	case types.BoolKind, types.DoubleKind, types.DurationKind, types.IntKind, types.TimestampKind, types.UintKind:
		return checker.FixedSizeEstimate(1)
	}
	return checker.UnknownSizeEstimate()
}

// A plainNode is an expression with its size, nil if it is not known.
type plainNode struct {
	expr ast.Expr
	path []string
	typ  *types.Type
	size *checker.SizeEstimate
}

func (n plainNode) Path() []string                      { return n.path }
func (n plainNode) Type() *types.Type                   { return n.typ }
func (n plainNode) Expr() ast.Expr                      { return n.expr }
func (n plainNode) ComputedSize() *checker.SizeEstimate { return n.size }
