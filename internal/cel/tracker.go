package cel

import (
	"context"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// From v0.29 on, cel-go calls a method of nodes that its older versions do not have, so
// that a planner cannot decorate them. A module that requires such a version evaluates
// with the cost tracker of cel-go: the costs are those of its version, and the time of a
// comprehension grows with the square of its elements.

// canMeter reports whether the meter measures the programs of the linked version of
// cel-go.
var canMeter = sync.OnceValue(func() bool {
	env, err := cel.NewEnv(cel.Variable("numbers", cel.ListType(cel.IntType)))
	if err != nil {
		return false
	}
	checked, issues := env.Compile("numbers.map(x, [x, numbers[0]]).all(x, x[0] > 0 && x.size() < 3)")
	if issues.Err() != nil {
		return false
	}
	vars, err := cel.NewActivation(map[string]any{"numbers": []int64{1, 2}})
	if err != nil {
		return false
	}
	measured, err := newMeteredProgram(env, checked)
	if err != nil {
		return false
	}
	tracked, err := newTrackedProgram(env, checked)
	if err != nil {
		return false
	}
	_, want, trackErr := tracked.eval(nil, vars)
	_, cost, meterErr := measured.eval(nil, vars)
	return trackErr == nil && meterErr == nil && cost == want
})

// newTrackedProgram returns a program whose cost cel-go tracks.
func newTrackedProgram(env *cel.Env, checked *cel.Ast) (*program, error) {
	out, err := env.Program(checked,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(perCallLimit),
		cel.CostTracking(libraryCosts{}),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.InterruptCheckFrequency(interruptInterval),
	)
	if err != nil {
		return nil, err
	}
	return &program{Program: out}, nil
}

// evalTracked is eval for a program of newTrackedProgram.
func (p *program) evalTracked(done <-chan struct{}, vars interpreter.Activation) (result ref.Val, cost uint64, err error) {
	result, details, err := p.ContextEval(doneContext{context.Background(), done}, vars)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	return result, cost, err
}

// A doneContext is a context that ends when a channel is closed.
type doneContext struct {
	context.Context
	done <-chan struct{}
}

// Done implements [context.Context].
func (c doneContext) Done() <-chan struct{} { return c.done }

// Err implements [context.Context].
func (c doneContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// A libraryCosts calculates the costs of the libraries for cel-go's cost tracker.
type libraryCosts struct{}

// CallCost implements [interpreter.ActualCostEstimator]. It returns nil if cel-go
// defines the cost.
func (libraryCosts) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	cost, ok := actualCost(costClassOf(function, overload), overload, args, result)
	if !ok {
		return nil
	}
	return &cost
}
