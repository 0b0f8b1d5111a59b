package cel

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"

	"github.com/kubefake/kubefake/internal/cel/library"
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
	}
	return append(options, library.Options()...)
}

// ProgramOptions returns nothing: newProgram optimizes programs and measures their
// costs.
func (baseLibrary) ProgramOptions() []cel.ProgramOption { return nil }
