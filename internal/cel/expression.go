package cel

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// An expression is a compiled expression.
type expression struct {
	ast     *cel.Ast
	program *program
	// cost is the maximal estimated cost of an evaluation.
	cost uint64
}

// compile compiles an expression whose result must have the given type.
func compile(env *cel.Env, text string, result *types.Type, c costs) (expression, *compileError) {
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return expression{}, &compileError{step: compilation, cause: issues.String()}
	}
	if ast.OutputType() != result {
		return expression{}, &compileError{wanted: result}
	}
	program, err := newProgram(env, ast)
	if err != nil {
		return expression{}, &compileError{step: instantiation, cause: err.Error()}
	}
	estimate, err := estimateCost(env, ast, c.version, c)
	if err != nil {
		return expression{}, &compileError{step: estimation, cause: err.Error()}
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

// The steps of a compilation.
const (
	compilation   = "compilation"
	instantiation = "instantiation"
	estimation    = "cost estimation"
)

// A compileError is the reason why an expression does not compile.
type compileError struct {
	// step is the step that failed, cause the reason. Both are "" if the result has
	// another type than wanted.
	step, cause string
	wanted      *types.Type
}

// ruleError returns the error for the expression of a rule.
func (e *compileError) ruleError() error {
	switch {
	case e.wanted != nil:
		return fmt.Errorf("cel expression must evaluate to a %v", e.wanted)
	case e.step == instantiation:
		return fmt.Errorf("program instantiation failed: %s", e.cause)
	}
	return fmt.Errorf("%s failed: %s", e.step, e.cause)
}

// messageExpressionError returns the error for a messageExpression.
func (e *compileError) messageExpressionError() error {
	if e.wanted != nil {
		return fmt.Errorf("messageExpression must evaluate to a %v", e.wanted)
	}
	return fmt.Errorf("messageExpression %s failed: %s", e.step, e.cause)
}
