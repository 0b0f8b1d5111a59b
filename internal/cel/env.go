package cel

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
)

// The limits on costs.
const (
	// CallBudget is how much one evaluation of an expression may cost.
	CallBudget = 1_000_000
	// Budget is how much all rules of one object may cost, or all expressions of
	// one policy binding.
	Budget = 10_000_000
	// MatchBudget is how much the match conditions of one webhook or one policy
	// binding may cost.
	MatchBudget = 2_500_000
	// ruleLimit is the greatest estimate of an expression in a definition.
	ruleLimit = 10_000_000
	// schemaLimit is the greatest sum of the estimates in one schema.
	schemaLimit = 100_000_000
)

// base is the environment that all others extend.
var base = sync.OnceValue(func() *cel.Env {
	env, err := cel.NewEnv(cel.Lib(standard{}))
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: a test makes it
	}
	return env
})

// standard is what every environment has.
type standard struct{}

func (standard) CompileOptions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
			cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
		),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.TwoVarComprehensions(),
		ext.Lists(ext.ListsVersion(3)),
		cel.Types(ipType, cidrType),
	}
	for _, library := range [][]function{
		listFunctions(), regexFunctions(), urlFunctions(), quantityFunctions(), ipFunctions(),
		cidrFunctions(), formatFunctions(), semverFunctions(), authorizerFunctions(),
	} {
		options = append(options, declared(library)...)
	}
	return options
}

func (standard) ProgramOptions() []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(CallBudget),
		cel.CostTracking(costs{}),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.OptimizeRegex(precompiledFind(), precompiledFindAll()),
	}
}

// A function is one function of a library with its overloads.
type function struct {
	name      string
	overloads []cel.FunctionOpt
}

// declared are the functions as options of an environment.
func declared(functions []function) []cel.EnvOption {
	options := make([]cel.EnvOption, len(functions))
	for i, f := range functions {
		options[i] = cel.Function(f.name, f.overloads...)
	}
	return options
}

// global declares a function that is called as f(x).
func global(name, overload string, args []*types.Type, result *types.Type, do cel.OverloadOpt) function {
	return function{name, []cel.FunctionOpt{cel.Overload(overload, args, result, do)}}
}

// method declares a function that is called as x.f().
func method(name, overload string, args []*types.Type, result *types.Type, do cel.OverloadOpt) function {
	return function{name, []cel.FunctionOpt{cel.MemberOverload(overload, args, result, do)}}
}

// takes lists the types of arguments, the receiver of a method first.
func takes(args ...*types.Type) []*types.Type { return args }
