package cel

import (
	"errors"

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
		return expression{}, &compileError{failed: "compilation failed: " + issues.String()}
	}
	if ast.OutputType() != result {
		return expression{}, &compileError{wanted: result}
	}
	program, err := env.Program(ast, cel.CostLimit(CallBudget), cel.CostTracking(c))
	if err != nil {
		return expression{}, &compileError{failed: "instantiation failed: " + err.Error()}
	}
	estimate, err := env.EstimateCost(ast, c)
	if err != nil {
		return expression{}, &compileError{failed: "cost estimation failed: " + err.Error()}
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

// A compileError says why a text does not compile.
type compileError struct {
	// failed is the step that failed, and why; "" if the text gives values of
	// another type than wanted.
	failed string
	wanted *types.Type
}

// as is the error's text, with what it is about.
func (e *compileError) as(failed, mistyped string) error {
	if e.wanted != nil {
		return errors.New(mistyped + "must evaluate to a " + e.wanted.String())
	}
	return errors.New(failed + e.failed)
}
