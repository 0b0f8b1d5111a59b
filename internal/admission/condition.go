package admission

import (
	"errors"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// An expression is compiled, or is known not to compile.
type expression struct {
	text    string
	program *cel.Program
	err     error
}

func compile(p *cel.Policy, text string, sees cel.OptionalVariables, results ...*types.Type) expression {
	program, err := p.Compile(strings.TrimSpace(text), sees, results...)
	return expression{text, program, err}
}

// run evaluates the expression.
//
// Errors: cel.ErrBudget, after which nothing is to be evaluated any more; any
// other is the expression's own.
func (x expression) run(e *cel.Evaluation) (ref.Val, error) {
	if x.err != nil {
		return nil, x.err
	}
	return e.Run(x.program)
}

// conditions are match conditions: a webhook or a policy is for the requests for
// which all hold.
type conditions struct {
	policy *cel.Policy
	list   []expression
	// ignore has a condition that fails to tell not hold.
	ignore bool
}

func compileConditions(list any, sees cel.OptionalVariables, ignore bool) *conditions {
	c := &conditions{policy: cel.NewPolicy(false), ignore: ignore}
	for m := range object.Each(list) {
		c.list = append(c.list, compile(c.policy, object.String(m, "expression"), sees, cel.Bool))
	}
	return c
}

// hold reports whether all conditions do. One that does not decides, whatever
// becomes of others.
func (c *conditions) hold(inputs func() cel.Inputs) (bool, error) {
	if len(c.list) == 0 {
		return true, nil
	}
	evaluation := c.policy.Evaluate(inputs(), cel.MatchBudget)
	var failures []error
	holds := true
	for _, condition := range c.list {
		v, err := condition.run(evaluation)
		switch {
		case errors.Is(err, cel.ErrBudget):
			return false, c.failure(err)
		case err != nil:
			failures = append(failures, err)
		case v == types.False:
			holds = false
		}
	}
	if !holds || len(failures) == 0 {
		return holds, nil
	}
	return false, c.failure(errors.New(status.Aggregate(failures)))
}

func (c *conditions) failure(err error) error {
	if c.ignore {
		return nil
	}
	return err
}

// inputs are what expressions see of a request, as one to a target.
func (r *Attributes) inputs(t target, p pair, s Server) cel.Inputs {
	return cel.Inputs{
		Object: r.codec(t).ToUnstructured(p.object), OldObject: r.codec(t).ToUnstructured(p.old), Request: r.review(t), Authorizer: s.Authorizer(),
		RequestResource: cel.AuthorizerAttributes{Group: r.Type.Group, Resource: r.Type.Name, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name},
	}
}
