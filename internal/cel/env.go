package cel

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
)

// The limits on costs.
const (
	// perCallLimit limits the actual cost of one evaluation of an expression.
	perCallLimit = 1_000_000
	// Budget limits the actual cost of all rules of one object, or of all
	// expressions of one policy binding.
	Budget = 10_000_000
	// MatchBudget limits the actual cost of the match conditions of one webhook or
	// one policy binding.
	MatchBudget = 2_500_000
	// maxRuleCost limits the estimated cost of one expression in a definition.
	maxRuleCost = 10_000_000
	// maxSchemaCost limits the sum of the estimated costs in one schema.
	maxSchemaCost = 100_000_000
)

// base returns the environment that all others extend.
var base = sync.OnceValue(func() *cel.Env {
	env, err := cel.NewEnv(cel.Lib(baseLibrary{}))
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: tests build it
	}
	return env
})

// baseLibrary has the options of the base environment.
type baseLibrary struct{}

func (baseLibrary) CompileOptions() []cel.EnvOption {
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
		options = append(options, functionOptions(library)...)
	}
	return options
}

// ProgramOptions returns nothing: newProgram optimizes programs and measures their
// costs.
func (baseLibrary) ProgramOptions() []cel.ProgramOption { return nil }

// A function is a function of a library with its overloads.
type function struct {
	name      string
	overloads []cel.FunctionOpt
}

// functionOptions returns environment options that declare functions.
func functionOptions(functions []function) []cel.EnvOption {
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

// argTypes lists the types of the arguments, the receiver of a method first.
func argTypes(args ...*types.Type) []*types.Type { return args }
