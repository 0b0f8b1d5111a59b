package cel

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// An expression is a text that was compiled.
type expression struct {
	ast     *cel.Ast
	program cel.Program
	// cost is the most that an evaluation can cost.
	cost uint64
}

// compile compiles a text that has to give a value of the type.
func compile(env *cel.Env, text string, result *types.Type, c costs) (expression, *compileError) {
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return expression{}, &compileError{step: compilation, why: issues.String()}
	}
	if ast.OutputType() != result {
		return expression{}, &compileError{wanted: result}
	}
	program, err := env.Program(ast, cel.CostLimit(CallBudget), cel.CostTracking(c))
	if err != nil {
		return expression{}, &compileError{step: instantiation, why: err.Error()}
	}
	estimate, err := env.EstimateCost(ast, c)
	if err != nil {
		return expression{}, &compileError{step: estimation, why: err.Error()}
	}
	return expression{ast, program, estimate.Max}, nil
}

// refersTo reports whether the expression refers to a variable.
func (e expression) refersTo(name string) bool {
	for _, reference := range e.ast.NativeRep().ReferenceMap() {
		if reference.Name == name {
			return true
		}
	}
	return false
}

// The steps of compiling that can fail.
const (
	compilation   = "compilation"
	instantiation = "instantiation"
	estimation    = "cost estimation"
)

// A compileError says why a text does not compile.
type compileError struct {
	// step is what failed, and why it did; "" if the text gives values of another
	// type than wanted.
	step, why string
	wanted    *types.Type
}

// ofRule is the error's text where the expression is a rule.
func (e *compileError) ofRule() error {
	switch {
	case e.wanted != nil:
		return fmt.Errorf("cel expression must evaluate to a %v", e.wanted)
	case e.step == instantiation:
		return fmt.Errorf("program instantiation failed: %s", e.why)
	}
	return fmt.Errorf("%s failed: %s", e.step, e.why)
}

// ofMessage is the error's text where the expression makes a rule's message.
func (e *compileError) ofMessage() error {
	if e.wanted != nil {
		return fmt.Errorf("messageExpression must evaluate to a %v", e.wanted)
	}
	return fmt.Errorf("messageExpression %s failed: %s", e.step, e.why)
}
