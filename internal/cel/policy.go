package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/wire"
)

// The result types of the expressions of policies.
var (
	Bool   = types.BoolType
	String = types.StringType
	Null   = types.NullType
	// anyType allows every type. It is the result type of variables.
	anyType = types.AnyType
	// JSONPatches is the type of a list of JSON patch operations, Patch that of an
	// apply configuration.
	JSONPatches = types.NewListType(jsonPatchType)
	Patch       = patchType
)

// ErrBudget is returned if an evaluation exceeds the cost budget.
var ErrBudget = errors.New(outOfBudget)

// OptionalVariables are the variables and types that an expression of a policy can
// use beside object, oldObject, request, namespaceObject and, in a policy with
// variables, variables.
type OptionalVariables struct {
	Params     bool
	Authorizer bool
	// PatchTypes is whether the expression can create patches.
	PatchTypes bool
}

// A Policy compiles the expressions of an admission policy or of match conditions,
// which have no variables. It is safe for concurrent use once every expression is
// compiled.
type Policy struct {
	// variables has the defined variables, types their types. Both are nil if the
	// policy has no variables.
	variables map[string]*Program
	types     map[string]*types.Type
	envs      map[OptionalVariables]*cel.Env
	version   Version
	inputs    *inputTypes // of a Policy of NewTypeChecker
}

// NewPolicy returns a Policy whose expressions are compatible with a version.
// variables is whether Define may be called.
func NewPolicy(v Version, variables bool) *Policy {
	p := &Policy{version: v, envs: map[OptionalVariables]*cel.Env{}}
	if variables {
		p.variables, p.types = map[string]*Program{}, map[string]*types.Type{}
	}
	return p
}

// Version returns the version with which the expressions are compatible.
func (p *Policy) Version() Version { return p.version }

// A Program is a compiled expression of a policy.
type Program struct {
	text    string
	program *program
	typ     *types.Type
	err     error
	counter *coverage.Counter // of a variable; nil if its results are not counted
}

// Define compiles a variable, which expressions compiled later can use. If it does
// not compile, Define returns the error and evaluating the variable fails.
func (p *Policy) Define(name, text string, vars OptionalVariables) error {
	program, err := p.Compile(text, vars, anyType)
	if err != nil {
		program = &Program{text: text, typ: types.DynType, err: err}
	}
	p.variables[name] = program
	p.types[name] = variableType(program.typ)
	return err
}

// Count makes a counter count the results of a variable. Nil counts nothing.
func (p *Policy) Count(variable string, c *coverage.Counter) { p.variables[variable].counter = c }

// variableType returns the declared type of a variable whose expression has type t:
// dyn for a type that schemas do not have.
func variableType(t *types.Type) *types.Type {
	switch t.Kind() {
	case types.BoolKind, types.BytesKind, types.DoubleKind, types.DurationKind, types.IntKind, types.NullTypeKind,
		types.StringKind, types.TimestampKind, types.UintKind, types.AnyKind:
		return t
	case types.ListKind:
		return types.NewListType(variableType(t.Parameters()[0]))
	case types.MapKind:
		return types.NewMapType(variableType(t.Parameters()[0]), variableType(t.Parameters()[1]))
	}
	return types.DynType
}

// Check compiles an expression and returns the error.
func (p *Policy) Check(text string, vars OptionalVariables, results ...*types.Type) error {
	_, err := p.Compile(text, vars, results...)
	return err
}

// errUntyped is the error of an expression a part of which has no type.
var errUntyped = &InternalError{"unexpected compilation error: missing type conversion to proto: "}

// Compile compiles an expression whose result must have one of the given types.
func (p *Policy) Compile(text string, vars OptionalVariables, results ...*types.Type) (*Program, error) {
	env, err := p.env(vars)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, errors.New("compilation failed: " + issues.String())
	}
	if err := checkResultType(ast.OutputType(), results); err != nil {
		return nil, err
	}
	for _, typ := range ast.NativeRep().TypeMap() {
		if typ == nil { // of a field that a JSON patch does not have
			return nil, errUntyped
		}
	}
	program, err := newProgram(env, ast)
	if err != nil {
		return nil, instantiationError(err)
	}
	return &Program{text: text, program: program, typ: ast.OutputType()}, nil
}

func checkResultType(typ *types.Type, results []*types.Type) error {
	for _, result := range results {
		if result == anyType || typ.IsExactType(result) {
			return nil
		}
	}
	if len(results) == 1 {
		return fmt.Errorf("must evaluate to %v but got %v", results[0], typ)
	}
	return fmt.Errorf("must evaluate to one of %v but got %v", results, typ)
}

// env returns the environment of expressions with the given variables.
func (p *Policy) env(vars OptionalVariables) (*cel.Env, error) {
	if env, ok := p.envs[vars]; ok {
		return env, nil
	}
	env, err := p.baseEnv(vars)
	if err == nil && p.variables != nil {
		const name = "kubernetes.variables"
		declared := declaration{map[string]map[string]*types.Type{name: p.types}}
		env, err = env.Extend(declared.envOption, cel.Variable("variables", types.NewObjectType(name)))
	}
	if err == nil {
		p.envs[vars] = env
	}
	return env, err
}

// baseEnv returns the environment without variables.
func (p *Policy) baseEnv(vars OptionalVariables) (*cel.Env, error) {
	if p.inputs != nil {
		return newPolicyEnv(p.version, vars, *p.inputs)
	}
	return sharedEnv(p.version, vars)
}

// sharedEnvs has the environments of policies without variables, by sharedEnvKey.
var sharedEnvs sync.Map

type sharedEnvKey struct {
	Version
	OptionalVariables
}

func sharedEnv(v Version, vars OptionalVariables) (*cel.Env, error) {
	env, _ := sharedEnvs.LoadOrStore(sharedEnvKey{v, vars}, sync.OnceValues(func() (*cel.Env, error) {
		return newPolicyEnv(v, vars, inputTypes{object: types.DynType, params: types.DynType, requestResource: true})
	}))
	return env.(func() (*cel.Env, error))()
}

// inputTypes are the types of the variables object, oldObject and params.
type inputTypes struct {
	object, params *types.Type
	declarations   []cel.EnvOption // of the types
	// requestResource is whether authorizer.requestResource is declared.
	requestResource bool
}

// newPolicyEnv returns an environment of policies without variables.
func newPolicyEnv(v Version, vars OptionalVariables, in inputTypes) (*cel.Env, error) {
	request, declareRequest := newDeclType(requestSchema(), false).declare("")
	namespace, declareNamespace := newDeclType(namespaceSchema(), false).declare("")
	options := append(slices.Clone(in.declarations), withAdapter, declareRequest, declareNamespace,
		cel.Variable("object", in.object),
		cel.Variable("oldObject", in.object),
		cel.Variable("request", request),
		cel.Variable("namespaceObject", namespace),
	)
	if vars.Params {
		options = append(options, cel.Variable("params", in.params))
	}
	if vars.Authorizer {
		options = append(options, cel.Variable("authorizer", library.AuthorizerType))
		if in.requestResource {
			options = append(options, cel.Variable("authorizer.requestResource", library.ResourceCheckType))
		}
	}
	if vars.PatchTypes {
		options = append(options, withPatchTypes)
		options = append(options, library.JSONPatch()...)
	}
	return base(v).Extend(options...)
}

// Inputs are the values of the variables of a policy's expressions. A nil map is null.
type Inputs struct {
	Object, OldObject, Params, Request, Namespace map[string]any
	// Types are those of built-in objects, if expressions read them as values of Go types, as they
	// do since v1.37.
	Types InputTypes
	// Authorizer is nil if expressions have no authorizer. RequestResource are the
	// attributes of authorizer.requestResource.
	Authorizer      library.Authorizer
	RequestResource library.AuthorizerAttributes
}

// InputTypes are the Go types of Inputs. The zero type reads an input as what its JSON decodes to.
type InputTypes struct {
	Object             wire.GoType // and that of OldObject
	Params             wire.GoType
	Request, Namespace wire.GoType
}

// An Evaluation evaluates expressions of a policy on the same inputs. A variable is
// evaluated once, when it is first used. An Evaluation is not safe for concurrent use.
type Evaluation struct {
	done   <-chan struct{}
	policy *Policy
	in     Inputs
	values map[string]ref.Val
	// spent is the cost of variables evaluated by the current expression.
	spent     uint64
	remaining int64
}

// Evaluate returns an Evaluation with a cost budget. Expressions fail soon after ctx
// ends.
func (p *Policy) Evaluate(ctx context.Context, in Inputs, budget int64) *Evaluation {
	return &Evaluation{done: ctx.Done(), policy: p, in: in, values: map[string]ref.Val{}, remaining: budget}
}

// Remaining returns the remaining budget, which is negative after ErrBudget.
func (e *Evaluation) Remaining() int64 { return e.remaining }

// Run evaluates an expression.
//
// Errors: ErrBudget, after which no expression may be evaluated; other errors are
// those of the expression.
func (e *Evaluation) Run(p *Program) (ref.Val, error) {
	result, cost, err := p.program.eval(e.done, e)
	cost += e.spent
	e.spent = 0
	if cost > uint64(max(e.remaining, 0)) {
		e.remaining = -1
		return nil, ErrBudget
	}
	e.remaining -= int64(cost)
	if err != nil {
		return nil, fmt.Errorf("expression '%v' resulted in error: %v", p.text, err)
	}
	return result, nil
}

// ResolveName implements [interpreter.Activation].
func (e *Evaluation) ResolveName(name string) (any, bool) {
	switch name {
	case "object":
		return input(e.in.Object, e.in.Types.Object), true
	case "oldObject":
		return input(e.in.OldObject, e.in.Types.Object), true
	case "params":
		return input(e.in.Params, e.in.Types.Params), true
	case "request":
		return input(e.in.Request, e.in.Types.Request), true
	case "namespaceObject":
		return input(e.in.Namespace, e.in.Types.Namespace), true
	case "variables":
		return variablesVal{library.NewVal(types.MapType, e)}, e.policy.variables != nil
	}
	if e.in.Authorizer == nil {
		return nil, false
	}
	switch name {
	case "authorizer":
		return library.NewAuthorizer(e.in.Authorizer), true
	case "authorizer.requestResource":
		return library.NewResourceCheck(e.in.Authorizer, e.in.RequestResource), true
	}
	return nil, false
}

// Parent implements [interpreter.Activation].
func (e *Evaluation) Parent() interpreter.Activation { return nil }

// input returns the value of a variable: null for a nil map.
func input(m map[string]any, t wire.GoType) any {
	switch {
	case m == nil:
		return nil
	case t.IsStruct():
		return typedValue(m, t)
	}
	return m
}

// variable returns the value of a variable.
func (e *Evaluation) variable(name string) (ref.Val, bool) {
	if v, ok := e.values[name]; ok {
		return v, true
	}
	p, ok := e.policy.variables[name]
	if !ok {
		return nil, false
	}
	v := e.evaluate(name, p)
	p.counter.Add(v, nil)
	e.values[name] = v
	return v, true
}

func (e *Evaluation) evaluate(name string, p *Program) ref.Val {
	if p.err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", name, p.err)
	}
	v, cost, err := p.program.eval(e.done, e)
	e.spent += cost
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", name, err)
	}
	return v
}

// variablesVal is the value of the variable variables, a map of the values of the
// policy's variables.
type variablesVal struct{ library.Val[*Evaluation] }

var _ traits.Mapper = variablesVal{}

// Find returns the value of a variable, or false if there is none of that name.
func (v variablesVal) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	return v.Native.variable(string(name))
}

// Get returns the value of a variable, or an error if there is none of that name.
func (v variablesVal) Get(key ref.Val) ref.Val {
	if found, ok := v.Find(key); ok {
		return found
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains reports whether there is a variable of that name.
func (v variablesVal) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	return types.Bool(ok && v.Native.policy.variables[string(name)] != nil)
}

// Iterator returns an iterator over the names of the variables.
func (v variablesVal) Iterator() traits.Iterator {
	var names []string
	for name := range v.Native.policy.variables {
		names = append(names, name)
	}
	return types.NewStringList(types.DefaultTypeAdapter, names).Iterator()
}

// Size returns the number of variables.
func (v variablesVal) Size() ref.Val { return types.Int(len(v.Native.policy.variables)) }
