package cel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// An Environment is that of expressions with one variable: those of the configuration
// files of authentication and authorization. It is safe for concurrent use.
type Environment struct {
	name string
	env  func() (*cel.Env, error)
	// wanted returns the error of an expression of another type than result.
	wanted func(result, got *types.Type) error
}

// NewClaims returns the environment of expressions with the variable claims, the claims
// of a token.
func NewClaims(v Version) *Environment {
	claims := types.NewMapType(types.StringType, types.AnyType)
	return &Environment{"claims", sync.OnceValues(func() (*cel.Env, error) {
		return base(v).Extend(cel.Variable("claims", claims))
	}), mustEvaluateTo}
}

// NewUserInfo returns the environment of expressions with the variable user, a UserInfo.
func NewUserInfo(v Version) *Environment {
	return &Environment{"user", sync.OnceValues(func() (*cel.Env, error) {
		user, declare := newDeclType(objectSchema("kubernetes.UserInfo", fields{
			"username": text, "uid": text, "groups": texts, "extra": textsMap,
		}), false).declare("")
		return base(v).Extend(declare, cel.Variable("user", user))
	}), mustEvaluateTo}
}

// NewAccessReview returns the environment of expressions with the variable request, the
// spec of a SubjectAccessReview. selectors is whether it has selectors.
func NewAccessReview(v Version, selectors bool) *Environment {
	return &Environment{"request", sync.OnceValues(func() (*cel.Env, error) {
		request, declare := newDeclType(accessReviewSchema(selectors), false).declare("")
		return base(v).Extend(declare, cel.Variable("request", request))
	}), func(result, got *types.Type) error { return fmt.Errorf("must evaluate to %v but got %v", result, got) }}
}

func mustEvaluateTo(result, _ *types.Type) error { return fmt.Errorf("must evaluate to %v", result) }

// A Condition is a compiled expression of an Environment. It is safe for concurrent use.
type Condition struct {
	text    string
	name    string
	ast     *cel.Ast
	program *program
}

// Compile compiles an expression whose result must have the type result. Nil allows
// every type.
func (e *Environment) Compile(text string, result *types.Type) (*Condition, error) {
	env, err := e.env()
	if err != nil {
		return nil, fmt.Errorf("unexpected error loading CEL environment: %w", err)
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, errors.New("compilation failed: " + issues.String())
	}
	if got := compiled.OutputType(); result != nil && !got.IsExactType(result) {
		return nil, e.wanted(result, got)
	}
	program, err := newProgram(env, compiled)
	if err != nil {
		return nil, instantiationError(err)
	}
	return &Condition{text, e.name, compiled, program}, nil
}

// String returns the text of the expression.
func (c *Condition) String() string { return c.text }

// Eval evaluates the expression. value is that of the variable: a Claims value, or what
// cel-go adapts. The evaluation fails soon after ctx ends, and beyond the cost limit of
// one evaluation.
func (c *Condition) Eval(ctx context.Context, value any) (ref.Val, error) {
	result, _, err := c.program.eval(ctx.Done(), variable{c.name, value})
	return result, err
}

// Selects reports whether the expression selects a field of a variable: as in a.b or
// a.?b.
func (c *Condition) Selects(operand, field string) bool {
	isOperand := func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == operand }
	found := false
	ast.PreOrderVisit(c.ast.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			found = found || e.AsSelect().FieldName() == field && isOperand(e.AsSelect().Operand())
		case ast.CallKind:
			call := e.AsCall()
			if call.FunctionName() == operators.OptSelect && len(call.Args()) == 2 && isOperand(call.Args()[0]) {
				name := call.Args()[1]
				found = found || name.Kind() == ast.LiteralKind && name.AsLiteral().Equal(types.String(field)) == types.True
			}
		}
	}))
	return found
}

// A variable is the activation of an expression with one variable.
type variable struct {
	name  string
	value any
}

// ResolveName implements [interpreter.Activation].
func (v variable) ResolveName(name string) (any, bool) { return v.value, name == v.name }

// Parent implements [interpreter.Activation].
func (v variable) Parent() interpreter.Activation { return nil }

// Unescaped returns a value whose members expressions can also select by their escaped
// names: claims.a__dot__b is the claim "a.b".
func Unescaped(value map[string]any) ref.Val {
	return unescaped(types.DefaultTypeAdapter.NativeToValue(value))
}

func unescaped(v ref.Val) ref.Val {
	switch v := v.(type) {
	case traits.Mapper:
		return unescapedMap{v}
	case traits.Lister:
		return unescapedList{v}
	}
	return v
}

// An unescapedMap is a map that finds members by their escaped names.
type unescapedMap struct{ traits.Mapper }

// Find implements [traits.Mapper].
func (m unescapedMap) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		if plain, ok := unescape(string(name)); ok {
			key = types.String(plain)
		}
	}
	v, ok := m.Mapper.Find(key)
	return unescaped(v), ok
}

// Get implements [traits.Indexer].
func (m unescapedMap) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains implements [traits.Container].
func (m unescapedMap) Contains(key ref.Val) ref.Val {
	_, ok := m.Find(key)
	return types.Bool(ok)
}

// An unescapedList is a list whose items are unescaped.
type unescapedList struct{ traits.Lister }

// Get implements [traits.Indexer].
func (l unescapedList) Get(index ref.Val) ref.Val { return unescaped(l.Lister.Get(index)) }
