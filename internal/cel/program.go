package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
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

// maxReplaced is the length of the longest result of replace in bytes.
const maxReplaced = 16 << 20
