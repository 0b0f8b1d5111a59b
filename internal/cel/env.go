package cel

import (
	"github.com/kubefake/kubefake/internal/once"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/release/behavior"
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

// A Version is the minor number of the release with which expressions must be
// compatible: they have the libraries of that release. The zero Version has all
// libraries. A kube-apiserver requires of new expressions that they are compatible with
// the release before its own, and accepts the libraries of its own release in stored ones.
type Version int

// has reports whether expressions have a behavior.
func (v Version) has(b behavior.Behavior) bool { return b.In(int(v)) }

// NewExpressions returns the Version of new expressions of a release, by its minor
// number.
func NewExpressions(minor int) Version {
	if v := Version(minor - 1); !v.has(newestLibrary) {
		return v
	}
	return 0
}

// newestLibrary is the newest behavior of expressions.
const newestLibrary = behavior.CELNameSizes

// base returns the environment that all others of the version extend.
func base(v Version) *cel.Env {
	if v.has(newestLibrary) {
		v = 0
	}
	return baseEnv(v)
}

var baseEnv = once.PerKey(func(v Version) *cel.Env {
	env, err := cel.NewEnv(cel.Lib(baseLibrary{v}))
	if err != nil {
		panic("cel: " + err.Error()) // unreachable: tests build it
	}
	return env
})

// baseLibrary has the options of the base environment.
//
// Differs from kube-apiserver: the version of cel-go: kube-apiserver v1.37 has v0.29, in which
// duration takes no integer, lists.range no negative number and orValue no value that is not optional,
// and sort and distinct of a missing list fail with an internal error. Here they work as in older
// releases, where the error names the missing key, unless another module requires v0.29. Request: POST of a definition with a rule
// duration(self.seconds) > duration("5s").
type baseLibrary struct{ Version }

func (v baseLibrary) CompileOptions() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(cel.OptionalTypesVersion(optionalTypes(v.Version))),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
			cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
		),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
	}
	if v.has(behavior.CELComprehensions) {
		options = append(options, ext.TwoVarComprehensions())
	}
	if v.has(behavior.CELLists) {
		options = append(options, ext.Lists(ext.ListsVersion(3)))
	}
	if v.has(behavior.CELSemver) {
		options = append(options, library.Semver(true)...)
	}
	return append(options, library.Options()...)
}

// optionalTypes returns the version of the library of optional types. The second one has the
// functions first and last. Kubernetes asks for no version, and has that of its cel-go.
func optionalTypes(v Version) uint32 {
	if v.has(behavior.CELOptionalFunctions) {
		return 2
	}
	return 1
}

// ProgramOptions returns nothing: newProgram optimizes programs and measures their
// costs.
func (baseLibrary) ProgramOptions() []cel.ProgramOption { return nil }
