package cel

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/kubefake/kubefake/internal/cel/library"
)

// A program evaluates an expression and measures the cost. It is safe for concurrent
// use.
type program struct {
	cel.Program
	size int // greater than the IDs of all nodes; 0 if cel-go tracks the cost
}

// newProgram returns the program of a checked expression.
func newProgram(env *cel.Env, checked *cel.Ast) (*program, error) {
	if canMeter() {
		return newMeteredProgram(env, checked)
	}
	return newTrackedProgram(env, checked)
}

// newMeteredProgram returns a program whose cost a meter measures.
func newMeteredProgram(env *cel.Env, checked *cel.Ast) (*program, error) {
	tree := checked.NativeRep()
	p := &planner{
		nodes:        map[int64]ast.Expr{},
		conditionals: map[interpreter.Attribute]*conditional{},
		functions:    env.Functions(),
	}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) { p.nodes[e.ID()] = e }))
	out, err := env.Program(checked, cel.CustomDecorator(p.decorate))
	if err != nil {
		return nil, err
	}
	return &program{out, int(ast.MaxID(tree)) + 1}, nil
}

// eval evaluates the program and returns the result and the cost. The evaluation
// stops with an error soon after done is closed.
func (p *program) eval(done <-chan struct{}, vars interpreter.Activation) (result ref.Val, cost uint64, err error) {
	if p.size == 0 {
		return p.evalTracked(done, vars)
	}
	m := newMeter(done, vars, p.size)
	defer func() {
		cost = m.cost
		m.release()
	}()
	result, _, err = p.Eval(m)
	return result, 0, err
}

// A planner decorates the nodes of a program with the steps of the meter. It
// optimizes the program too, because cel-go would do so before, which determines the
// costs, and cannot optimize decorated nodes.
type planner struct {
	nodes        map[int64]ast.Expr
	conditionals map[interpreter.Attribute]*conditional
	functions    map[string]*decls.FunctionDecl
}

// A conditional has the IDs of the parts of a conditional attribute (c ? t : f).
type conditional struct{ condition, truthy, falsy int64 }

// decorate implements [interpreter.InterpretableDecorator].
func (p *planner) decorate(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	switch i.(type) {
	case *planNode, *constantNode, *attributeNode, *constructorNode:
		return i, nil
	}
	i, err := p.optimize(i)
	if err != nil {
		return nil, err
	}
	switch i := i.(type) {
	case interpreter.InterpretableAttribute:
		return p.attribute(i), nil
	case interpreter.InterpretableConst:
		return &constantNode{i}, nil
	case interpreter.InterpretableConstructor:
		return &constructorNode{i, constructorStep(ids(i.InitVals()), constructorCost(i.Type()))}, nil
	}
	return &planNode{i, p.step(i)}, nil
}

// ids returns the IDs of nodes. Their type depends on the version of cel-go.
func ids[T interpreter.Interpretable](nodes []T) []int64 {
	out := make([]int64, len(nodes))
	for i, n := range nodes {
		out[i] = n.ID()
	}
	return out
}

func constructorCost(t ref.Type) uint64 {
	switch t {
	case types.ListType:
		return common.ListCreateBaseCost
	case types.MapType:
		return common.MapCreateBaseCost
	}
	return common.StructCreateBaseCost
}

// step returns the step of a node that is not an attribute, a constant or a
// constructor.
func (p *planner) step(i interpreter.Interpretable) step {
	if call, ok := i.(interpreter.InterpretableCall); ok {
		return callStep(ids(call.Args()), costOf(call.Function(), call.OverloadID()))
	}
	switch e := p.nodes[i.ID()]; {
	case e == nil:
	case e.Kind() == ast.ComprehensionKind:
		return dropEach(e.AsComprehension().IterRange().ID())
	case e.Kind() == ast.CallKind && (e.AsCall().FunctionName() == operators.LogicalAnd || e.AsCall().FunctionName() == operators.LogicalOr):
		var terms []int64
		for _, arg := range e.AsCall().Args() {
			terms = append(terms, arg.ID())
		}
		return dropEach(terms...)
	}
	return pushOnly
}

func (p *planner) attribute(i interpreter.InterpretableAttribute) *attributeNode {
	out := &attributeNode{InterpretableAttribute: i, conditional: p.conditionals[i.Attr()]}
	switch e := p.nodes[i.ID()]; {
	case e == nil:
	case e.Kind() == ast.SelectKind:
		out.isPresenceTest = e.AsSelect().IsTestOnly()
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Conditional && out.conditional == nil:
		args := e.AsCall().Args()
		out.conditional = &conditional{args[0].ID(), args[1].ID(), args[2].ID()}
		p.conditionals[i.Attr()] = out.conditional
	}
	return out
}

// A planNode is a node with a step.
type planNode struct {
	interpreter.Interpretable
	step step
}

// Eval implements [interpreter.Interpretable].
func (n *planNode) Eval(vars interpreter.Activation) ref.Val {
	v := n.Interpretable.Eval(vars)
	if m := meterOf(vars); m != nil {
		cost := n.step(m, v)
		m.push(n.ID(), v, cost)
	}
	return v
}

// A constantNode is a constant.
type constantNode struct{ interpreter.InterpretableConst }

// Eval implements [interpreter.Interpretable].
func (n *constantNode) Eval(vars interpreter.Activation) ref.Val {
	v := n.Value()
	if m := meterOf(vars); m != nil {
		m.push(n.ID(), v, 0)
	}
	return v
}

// A constructorNode constructs a list, a map or an object.
type constructorNode struct {
	interpreter.InterpretableConstructor
	step step
}

// Eval implements [interpreter.Interpretable].
func (n *constructorNode) Eval(vars interpreter.Activation) ref.Val {
	v := n.InterpretableConstructor.Eval(vars)
	if m := meterOf(vars); m != nil {
		cost := n.step(m, v)
		m.push(n.ID(), v, cost)
	}
	return v
}

// An attributeNode is a variable or another value, with qualifiers that select a part
// of it.
type attributeNode struct {
	interpreter.InterpretableAttribute
	conditional    *conditional // nil if it is none
	isPresenceTest bool
}

// Eval implements [interpreter.Interpretable].
func (n *attributeNode) Eval(vars interpreter.Activation) ref.Val {
	v := n.InterpretableAttribute.Eval(vars)
	if m := meterOf(vars); m != nil {
		cost := m.attribute(n.ID(), n.conditional, n.isPresenceTest)
		m.push(n.ID(), v, cost)
	}
	return v
}

// AddQualifier implements [interpreter.InterpretableAttribute].
func (n *attributeNode) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	at := qualifierStep{id: q.ID, adapter: n.Adapter()}
	switch q := q.(type) {
	case interpreter.ConstantQualifier:
		_, err := n.InterpretableAttribute.AddQualifier(&constantQualifier{q, at})
		return n, n.qualified(q, err)
	case *attributeNode: // evaluated as a qualifier, not by Eval
		at.attribute = q
		_, err := n.InterpretableAttribute.AddQualifier(&attributeQualifier{q.InterpretableAttribute, at})
		return n, n.qualified(q, err)
	case interpreter.Attribute:
		_, err := n.InterpretableAttribute.AddQualifier(&attributeQualifier{q, at})
		return n, n.qualified(q, err)
	}
	_, err := n.InterpretableAttribute.AddQualifier(&otherQualifier{q, at})
	return n, n.qualified(q, err)
}

// qualified notes that a conditional has a qualifier, which applies to both branches
// and gives them its ID.
func (n *attributeNode) qualified(q interpreter.Qualifier, err error) error {
	if n.conditional != nil {
		n.conditional.truthy, n.conditional.falsy = q.ID(), q.ID()
	}
	return err
}

// A qualifierStep measures a qualifier.
type qualifierStep struct {
	id        func() int64
	adapter   types.Adapter
	attribute *attributeNode // the qualifier if it is one
}

// qualify measures a Qualify of q.
func (s qualifierStep) qualify(q interpreter.Qualifier, vars interpreter.Activation, obj any) (any, error) {
	out, err := q.Qualify(vars, obj)
	if m := meterOf(vars); m != nil {
		s.push(m, s.value(out, err))
	}
	return out, err
}

// qualifyIfPresent measures a QualifyIfPresent of q.
func (s qualifierStep) qualifyIfPresent(q interpreter.Qualifier, vars interpreter.Activation, obj any, presenceOnly bool) (any, bool, error) {
	out, present, err := q.QualifyIfPresent(vars, obj, presenceOnly)
	m := meterOf(vars)
	if m == nil || !present && !presenceOnly {
		return out, present, err
	}
	var v ref.Val
	switch {
	case err != nil || out != nil:
		v = s.value(out, err)
	case presenceOnly:
		v = types.Bool(present)
	}
	s.push(m, v)
	return out, present, err
}

func (s qualifierStep) value(out any, err error) ref.Val {
	if err != nil {
		return types.LabelErrNode(s.id(), types.WrapErr(err))
	}
	return s.adapter.NativeToValue(out)
}

func (s qualifierStep) push(m *meter, v ref.Val) {
	id, cost := s.id(), uint64(1)
	if s.attribute != nil {
		cost = m.attribute(id, s.attribute.conditional, false)
	}
	m.push(id, v, cost)
}

// A constantQualifier selects a constant field or index.
type constantQualifier struct {
	interpreter.ConstantQualifier
	step qualifierStep
}

// Qualify implements [interpreter.Qualifier].
func (q *constantQualifier) Qualify(vars interpreter.Activation, obj any) (any, error) {
	return q.step.qualify(q.ConstantQualifier, vars, obj)
}

// QualifyIfPresent implements [interpreter.Qualifier].
func (q *constantQualifier) QualifyIfPresent(vars interpreter.Activation, obj any, presenceOnly bool) (any, bool, error) {
	return q.step.qualifyIfPresent(q.ConstantQualifier, vars, obj, presenceOnly)
}

// An attributeQualifier selects a computed field or index.
type attributeQualifier struct {
	interpreter.Attribute
	step qualifierStep
}

// Qualify implements [interpreter.Qualifier].
func (q *attributeQualifier) Qualify(vars interpreter.Activation, obj any) (any, error) {
	return q.step.qualify(q.Attribute, vars, obj)
}

// QualifyIfPresent implements [interpreter.Qualifier].
func (q *attributeQualifier) QualifyIfPresent(vars interpreter.Activation, obj any, presenceOnly bool) (any, bool, error) {
	return q.step.qualifyIfPresent(q.Attribute, vars, obj, presenceOnly)
}

// An otherQualifier is a qualifier that is neither constant nor an attribute.
type otherQualifier struct {
	interpreter.Qualifier
	step qualifierStep
}

// Qualify implements [interpreter.Qualifier].
func (q *otherQualifier) Qualify(vars interpreter.Activation, obj any) (any, error) {
	return q.step.qualify(q.Qualifier, vars, obj)
}

// QualifyIfPresent implements [interpreter.Qualifier].
func (q *otherQualifier) QualifyIfPresent(vars interpreter.Activation, obj any, presenceOnly bool) (any, bool, error) {
	return q.step.qualifyIfPresent(q.Qualifier, vars, obj, presenceOnly)
}

// optimize evaluates constants, and compiles constant regular expressions, as cel-go
// does with the option OptOptimize. Calls whose cost can be far above the limit check
// it before they start.
func (p *planner) optimize(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	switch i := i.(type) {
	case interpreter.InterpretableConstructor:
		isConst := i.Type() == types.ListType || i.Type() == types.MapType
		for _, n := range i.InitVals() {
			isConst = isConst && isConstant(n)
		}
		if isConst {
			return interpreter.NewConstValue(i.ID(), i.Eval(interpreter.EmptyActivation())), nil
		}
	case interpreter.InterpretableCall:
		args := i.Args()
		switch {
		case i.OverloadID() == overloads.InList && isConstant(args[1]):
			return memberOf(i, args[0], args[1].(interpreter.InterpretableConst).Value().(traits.Lister)), nil
		case overloads.IsTypeConversionFunction(i.Function()) && len(args) == 1 && isConstant(args[0]):
			v := i.Eval(interpreter.EmptyActivation())
			if err, failed := v.(*types.Err); failed {
				return nil, err
			}
			return interpreter.NewConstValue(i.ID(), v), nil
		case isExpensive(i.Function(), i.OverloadID()):
			return p.expensiveCall(i)
		}
	}
	return i, nil
}

func isConstant(i interpreter.Interpretable) bool {
	_, ok := i.(interpreter.InterpretableConst)
	return ok
}

// memberOf returns a node that looks up the value of arg in a constant list, if that
// has only scalars. Otherwise it returns the call.
func memberOf(call interpreter.InterpretableCall, arg interpreter.Interpretable, list traits.Lister) interpreter.Interpretable {
	if list.Size() == types.IntZero {
		return interpreter.NewConstValue(call.ID(), types.False)
	}
	set := map[ref.Val]bool{}
	for v := range library.Elements(list) {
		if !types.IsPrimitiveType(v) || v.Type() == types.BytesType {
			return call
		}
		set[v] = true
		if v.Type() == types.StringType || v.Type() == types.BoolType {
			continue
		}
		for _, numeric := range []*types.Type{types.IntType, types.UintType, types.DoubleType} {
			// An int or a uint equals the nearest double, a double only the int or uint
			// that it is.
			if n := v.ConvertToType(numeric); !types.IsError(n) && (v.Type() != types.DoubleType || n.Equal(v) == types.True) {
				set[n] = true
			}
		}
	}
	return &membership{call.ID(), arg, set}
}

// A membership reports whether a value is in a set of constants.
type membership struct {
	id  int64
	arg interpreter.Interpretable
	set map[ref.Val]bool
}

// ID implements [interpreter.Interpretable].
func (n *membership) ID() int64 { return n.id }

// Eval implements [interpreter.Interpretable].
func (n *membership) Eval(vars interpreter.Activation) ref.Val {
	v := n.arg.Eval(vars)
	if types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(n.set[v])
}

// isExpensive reports whether a call may take long, and whether its cost can be known
// before: the cost depends on the arguments only, and exceeds their size by far.
func isExpensive(function, overload string) bool {
	switch function {
	case overloads.Matches, "find", "findAll", "distinct", "sort", "@sortByAssociatedKeys", "lists.range", "replace":
		return true
	}
	return strings.HasPrefix(overload, "list_sets_")
}

// expensiveCall returns a node for a call that evaluates its arguments, charges its
// cost, and then calls the function. cel-go charges the cost afterwards, so that a
// call far above the limit takes minutes or all memory.
func (p *planner) expensiveCall(call interpreter.InterpretableCall) (interpreter.Interpretable, error) {
	do, err := p.implementation(call)
	if err != nil || do == nil {
		return call, err
	}
	return &expensiveCall{call, interpretables(call.Args()), costOf(call.Function(), call.OverloadID()), do}, nil
}

// interpretables returns nodes. Their type depends on the version of cel-go.
func interpretables[T interpreter.Interpretable](nodes []T) []interpreter.Interpretable {
	out := make([]interpreter.Interpretable, len(nodes))
	for i, n := range nodes {
		out[i] = n
	}
	return out
}

// implementation returns the function of a call, nil if it is not known.
func (p *planner) implementation(call interpreter.InterpretableCall) (functions.FunctionOp, error) {
	if args := call.Args(); len(args) > 1 && isConstant(args[1]) {
		pattern, isText := args[1].(interpreter.InterpretableConst).Value().(types.String)
		if match := library.RegexFunction(call.Function()); match != nil && isText {
			re, err := regexp.Compile(string(pattern))
			if err != nil {
				return nil, err
			}
			return func(args ...ref.Val) ref.Val { return match(re, args) }, nil
		}
	}
	bindings, err := p.functions[call.Function()].Bindings()
	if err != nil {
		return nil, err
	}
	name := call.OverloadID()
	for range 2 {
		for _, b := range bindings {
			if b.Operator != name {
				continue
			}
			do := bound(b, len(call.Args()))
			if call.Function() == "replace" && do != nil {
				do = limitedReplace(do)
			}
			return do, nil
		}
		name = call.Function() // chooses an overload by the arguments
	}
	return nil, nil
}

// maxReplaced is the length of the longest result of replace in bytes.
const maxReplaced = 16 << 20

// limitedReplace returns replace with a limit for its result, whose length may be the
// product of the lengths of its arguments.
//
// Differs from kube-apiserver: results of replace in CEL: kube-apiserver makes a string
// of any length, and may run out of memory. Here a result of more than 16 MiB is an error
// of the expression. Request: POST of a custom resource with a rule
// self.a.replace("", self.b).
func limitedReplace(do functions.FunctionOp) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		s, _ := args[0].(types.String)
		old, _ := args[1].(types.String)
		by, _ := args[2].(types.String)
		n := strings.Count(string(s), string(old))
		if len(args) > 3 {
			if limit, ok := args[3].(types.Int); ok && limit >= 0 {
				n = min(n, int(limit))
			}
		}
		if len(s)+n*(len(by)-len(old)) > maxReplaced {
			return types.NewErr("the result of replace has more than %d bytes", maxReplaced)
		}
		return do(args...)
	}
}

// bound returns the function of a binding for n arguments, nil if it has none.
func bound(b *functions.Overload, n int) functions.FunctionOp {
	do := b.Function
	switch {
	case b.NonStrict:
		return nil
	case n == 1 && b.Unary != nil:
		do = func(args ...ref.Val) ref.Val { return b.Unary(args[0]) }
	case n == 2 && b.Binary != nil:
		do = func(args ...ref.Val) ref.Val { return b.Binary(args[0], args[1]) }
	}
	if do == nil || b.OperandTrait == 0 {
		return do
	}
	return func(args ...ref.Val) ref.Val {
		if !args[0].Type().HasTrait(b.OperandTrait) {
			return types.NewErr("no such overload: %s", b.Operator)
		}
		return do(args...)
	}
}

// An expensiveCall is a call that charges its cost before it starts.
type expensiveCall struct {
	interpreter.InterpretableCall
	args []interpreter.Interpretable
	cost costFunc
	do   functions.FunctionOp
}

// Eval implements [interpreter.Interpretable].
func (c *expensiveCall) Eval(vars interpreter.Activation) ref.Val {
	values := make([]ref.Val, len(c.args))
	for i, arg := range c.args {
		values[i] = arg.Eval(vars)
		if types.IsUnknownOrError(values[i]) {
			return values[i]
		}
	}
	if m := meterOf(vars); m != nil {
		cost := c.cost(values, nil)
		m.charge(cost)
		m.cost -= cost // the step after the call charges it
	}
	return types.LabelErrNode(c.ID(), c.do(values...))
}
