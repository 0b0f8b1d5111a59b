package cel

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/kubefake/kubefake/internal/cel/library"
)

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
