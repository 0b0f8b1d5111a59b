package cel

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// The types that expressions of policies give.
var (
	Bool   = types.BoolType
	String = types.StringType
	Null   = types.NullType
	// Any is what a variable gives.
	Any = types.AnyType
	// JSONPatches is what an expression of JSON patches gives, and Patch one of
	// an apply configuration.
	JSONPatches = types.NewListType(jsonPatchType)
	Patch       = patchType
)

// ErrBudget is for an evaluation that the budget does not suffice for.
var ErrBudget = errors.New(outOfBudget)

// Sees are the variables that an expression of a policy sees beside object,
// oldObject, request, namespaceObject and, in a policy with variables, variables.
type Sees struct {
	Params     bool
	Authorizer bool
	// Patches is whether the expression makes patches.
	Patches bool
}

// A Policy compiles the expressions of one admission policy, or of match
// conditions, which have no variables. It is not safe for concurrent use until
// all is compiled.
type Policy struct {
	// variables are those defined, nil if there can be none; types are theirs.
	variables map[string]*Program
	types     map[string]*types.Type
	envs      map[Sees]*cel.Env
}

// NewPolicy returns what compiles the expressions of a policy. variables is
// whether it can define any.
func NewPolicy(variables bool) *Policy {
	p := &Policy{envs: map[Sees]*cel.Env{}}
	if variables {
		p.variables, p.types = map[string]*Program{}, map[string]*types.Type{}
	}
	return p
}

// A Program is an expression of a policy.
type Program struct {
	text    string
	program cel.Program
	typ     *types.Type
	err     error
}

// Define compiles a variable, which expressions compiled later see. One that does
// not compile is seen too, and fails when it is used.
func (p *Policy) Define(name, text string, sees Sees) error {
	program, err := p.Compile(text, sees, Any)
	if err != nil {
		program = &Program{text: text, typ: types.DynType, err: err}
	}
	p.variables[name] = program
	p.types[name] = asMember(program.typ)
	return err
}

// asMember is the type of a variable as its users see it: what is not of a type
// that schemas have is dynamic.
func asMember(t *types.Type) *types.Type {
	switch t.Kind() {
	case types.BoolKind, types.BytesKind, types.DoubleKind, types.DurationKind, types.IntKind, types.NullTypeKind,
		types.StringKind, types.TimestampKind, types.UintKind, types.AnyKind:
		return t
	case types.ListKind:
		return types.NewListType(asMember(t.Parameters()[0]))
	case types.MapKind:
		return types.NewMapType(asMember(t.Parameters()[0]), asMember(t.Parameters()[1]))
	}
	return types.DynType
}

// Check says what is wrong with an expression that has to give one of some types.
func (p *Policy) Check(text string, sees Sees, results ...*types.Type) error {
	_, err := p.Compile(text, sees, results...)
	return err
}

// Compile compiles an expression that gives one of some types.
func (p *Policy) Compile(text string, sees Sees, results ...*types.Type) (*Program, error) {
	env, err := p.env(sees)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, errors.New("compilation failed: " + issues.String())
	}
	if err := gives(ast.OutputType(), results); err != nil {
		return nil, err
	}
	program, err := env.Program(ast)
	if err != nil {
		return nil, errors.New("program instantiation failed: " + err.Error())
	}
	return &Program{text: text, program: program, typ: ast.OutputType()}, nil
}

func gives(typ *types.Type, results []*types.Type) error {
	for _, result := range results {
		if result == Any || typ.IsExactType(result) {
			return nil
		}
	}
	if len(results) == 1 {
		return fmt.Errorf("must evaluate to %v but got %v", results[0], typ)
	}
	return fmt.Errorf("must evaluate to one of %v but got %v", results, typ)
}

// env is the environment of expressions that see some variables.
func (p *Policy) env(sees Sees) (*cel.Env, error) {
	if env, ok := p.envs[sees]; ok {
		return env, nil
	}
	env, err := sharedEnv(sees)
	if err == nil && p.variables != nil {
		const name = "kubernetes.variables"
		declared := declaration{map[string]map[string]*types.Type{name: p.types}}
		env, err = env.Extend(declared.known, cel.Variable("variables", types.NewObjectType(name)))
	}
	if err == nil {
		p.envs[sees] = env
	}
	return env, err
}

// sharedEnvs are environments without variables of a policy, by what they see.
var sharedEnvs sync.Map

func sharedEnv(sees Sees) (*cel.Env, error) {
	env, _ := sharedEnvs.LoadOrStore(sees, sync.OnceValues(func() (*cel.Env, error) {
		request, declareRequest := newType(requestSchema(), false).declare("")
		namespace, declareNamespace := newType(namespaceSchema(), false).declare("")
		options := []cel.EnvOption{
			declareRequest, declareNamespace,
			cel.Variable("object", types.DynType),
			cel.Variable("oldObject", types.DynType),
			cel.Variable("request", request),
			cel.Variable("namespaceObject", namespace),
		}
		if sees.Params {
			options = append(options, cel.Variable("params", types.DynType))
		}
		if sees.Authorizer {
			options = append(options, cel.Variable("authorizer", authorizerType), cel.Variable("authorizer.requestResource", resourceCheckType))
		}
		if sees.Patches {
			options = append(options, providePatches)
			options = append(options, declared(patchFunctions())...)
		}
		return base().Extend(options...)
	}))
	return env.(func() (*cel.Env, error))()
}

// Inputs are what the variables of a policy's expressions hold. What is nil is
// null to them.
type Inputs struct {
	Object, OldObject, Params, Request, Namespace map[string]any
	// Authorizer is nil where expressions cannot ask it. RequestResource is what
	// they ask about by authorizer.requestResource.
	Authorizer      Authorizer
	RequestResource Access
}

// An Evaluation evaluates expressions of a policy on the same inputs. Variables
// are evaluated when they are first used. It is for one goroutine.
type Evaluation struct {
	policy *Policy
	in     Inputs
	values map[string]ref.Val
	// spent is what variables have cost since the last expression.
	spent     uint64
	remaining int64
}

// Evaluate begins an evaluation with a budget.
func (p *Policy) Evaluate(in Inputs, budget int64) *Evaluation {
	return &Evaluation{policy: p, in: in, values: map[string]ref.Val{}, remaining: budget}
}

// Remaining is what is left of the budget.
func (e *Evaluation) Remaining() int64 { return e.remaining }

// Run evaluates an expression.
//
// Errors: ErrBudget, after which nothing is to be evaluated any more; any other
// is the expression's own.
func (e *Evaluation) Run(p *Program) (ref.Val, error) {
	result, details, err := p.program.Eval(e)
	cost := e.spent
	e.spent = 0
	if details == nil || details.ActualCost() == nil {
		e.remaining = -1
		return nil, fmt.Errorf("runtime cost could not be calculated for expression: %v, no further expression will be run", p.text)
	}
	if cost += *details.ActualCost(); cost > uint64(max(e.remaining, 0)) {
		e.remaining = -1
		return nil, ErrBudget
	}
	e.remaining -= int64(cost)
	if err != nil {
		return nil, fmt.Errorf("expression '%v' resulted in error: %v", p.text, err)
	}
	return result, nil
}

// ResolveName finds a variable.
func (e *Evaluation) ResolveName(name string) (any, bool) {
	switch name {
	case "object":
		return orNull(e.in.Object), true
	case "oldObject":
		return orNull(e.in.OldObject), true
	case "params":
		return orNull(e.in.Params), true
	case "request":
		return orNull(e.in.Request), true
	case "namespaceObject":
		return orNull(e.in.Namespace), true
	case "variables":
		return variablesVal{foreign[*Evaluation]{types.MapType, e}}, e.policy.variables != nil
	}
	if e.in.Authorizer == nil {
		return nil, false
	}
	switch name {
	case "authorizer":
		return AuthorizerVal(e.in.Authorizer), true
	case "authorizer.requestResource":
		return ResourceAuthorizerVal(e.in.Authorizer, e.in.RequestResource), true
	}
	return nil, false
}

// Parent is for variables around these, of which there are none.
func (e *Evaluation) Parent() interpreter.Activation { return nil }

func orNull(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// variable evaluates a variable once.
func (e *Evaluation) variable(name string) (ref.Val, bool) {
	if v, ok := e.values[name]; ok {
		return v, true
	}
	p, ok := e.policy.variables[name]
	if !ok {
		return nil, false
	}
	v := e.evaluate(name, p)
	e.values[name] = v
	return v, true
}

func (e *Evaluation) evaluate(name string, p *Program) ref.Val {
	if p.err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", name, p.err)
	}
	v, details, err := p.program.Eval(e)
	if details == nil || details.ActualCost() == nil {
		return types.NewErr("unable to calculate cost of variable %q", name)
	}
	e.spent += *details.ActualCost()
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", name, err)
	}
	return v
}

// variablesVal is what expressions call variables.
type variablesVal struct{ foreign[*Evaluation] }

var _ traits.Mapper = variablesVal{}

// Find evaluates a variable.
func (v variablesVal) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	return v.value.variable(string(name))
}

// Get evaluates a variable that there should be.
func (v variablesVal) Get(key ref.Val) ref.Val {
	if found, ok := v.Find(key); ok {
		return found
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains reports whether there is a variable.
func (v variablesVal) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	return types.Bool(ok && v.value.policy.variables[string(name)] != nil)
}

// Iterator walks the names of the variables.
func (v variablesVal) Iterator() traits.Iterator {
	var names []string
	for name := range v.value.policy.variables {
		names = append(names, name)
	}
	return types.NewStringList(types.DefaultTypeAdapter, names).Iterator()
}

// Size is how many variables there are.
func (v variablesVal) Size() ref.Val { return types.Int(len(v.value.policy.variables)) }
