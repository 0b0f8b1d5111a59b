package dynamic

import (
	"context"
	"errors"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// An expression is a CEL expression, or the error of its compilation.
type expression struct {
	text    string
	program *cel.Program
	err     error
}

func compile(p *cel.Policy, text string, variables cel.OptionalVariables, results ...*types.Type) expression {
	program, err := p.Compile(strings.TrimSpace(text), variables, results...)
	return expression{text, program, err}
}

// run evaluates the expression.
//
// Errors: cel.ErrBudget, after which the evaluation must end; errors of the
// expression.
func (x expression) run(e *cel.Evaluation) (ref.Val, error) {
	if x.err != nil {
		return nil, x.err
	}
	return e.Run(x.program)
}

// conditions are the matchConditions of a webhook or a policy, which handles a
// request only if all are true.
type conditions struct {
	policy *cel.Policy
	list   []expression
	// ignoreErrors makes a condition that fails false: failurePolicy Ignore.
	ignoreErrors bool
}

func compileConditions(list any, variables cel.OptionalVariables, ignoreErrors bool) *conditions {
	c := &conditions{policy: cel.NewPolicy(0, false), ignoreErrors: ignoreErrors}
	for m := range object.Each(list) {
		c.list = append(c.list, compile(c.policy, object.String(m, "expression"), variables, cel.Bool))
	}
	return c
}

// match reports whether all conditions are true. It returns the errors of others
// only if none is false.
func (c *conditions) match(ctx context.Context, inputs func() cel.Inputs) (bool, error) {
	if len(c.list) == 0 {
		return true, nil
	}
	evaluation := c.policy.Evaluate(ctx, inputs(), cel.MatchBudget)
	var errs []error
	matches := true
	for _, condition := range c.list {
		v, err := condition.run(evaluation)
		switch {
		case errors.Is(err, cel.ErrBudget):
			return false, c.ignore(err)
		case err != nil:
			errs = append(errs, err)
		case v == types.False:
			matches = false
		}
	}
	if !matches || len(errs) == 0 {
		return matches, nil
	}
	return false, c.ignore(errors.New(status.Aggregate(errs)))
}

func (c *conditions) ignore(err error) error {
	if c.ignoreErrors {
		return nil
	}
	return err
}

// inputs returns the variables of expressions for a request in the version of a
// target.
func (r *request) inputs(t target, v versioned) cel.Inputs {
	codec := r.codec(t)
	return cel.Inputs{
		Object: codec.ToUnstructured(v.object), OldObject: codec.ToUnstructured(v.old), Request: r.admissionRequest(t), Authorizer: r.server.Authorizer(),
		RequestResource: library.AuthorizerAttributes{Group: r.Type.Group, Resource: r.Type.Name, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name},
	}
}
