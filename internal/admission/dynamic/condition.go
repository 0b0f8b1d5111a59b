package dynamic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
)

// An expression is a CEL expression, or the error of its compilation.
type expression struct {
	text    string
	program *cel.Program
	err     error
	counter *coverage.Counter // nil if results are not counted
}

func compile(p *cel.Policy, text string, variables cel.OptionalVariables, results ...*types.Type) expression {
	program, err := p.Compile(strings.TrimSpace(text), variables, results...)
	return expression{text: text, program: program, err: err}
}

// counted returns the expression with a counter.
func (x expression) counted(c counters, of coverage.Type, path string) expression {
	x.counter = c.of(of, path, x.text)
	return x
}

// counters count the results of the expressions of a configuration.
type counters struct {
	profile    *coverage.Profile // nil if results are not counted
	kind, name string
}

// countersOf returns the counters of a configuration.
func countersOf(configuration map[string]any, p *coverage.Profile) counters {
	return counters{p, object.String(configuration, "kind"), object.String(configuration, "metadata", "name")}
}

// of returns the counter of an expression; nil if results are not counted.
func (c counters) of(t coverage.Type, path, text string) *coverage.Counter {
	return c.profile.Counter(coverage.Rule{Kind: c.kind, Name: c.name, Type: t, Path: path, Expression: strings.TrimSpace(text)})
}

// run evaluates the expression.
//
// Errors: cel.ErrBudget, after which the evaluation must end; errors of the
// expression.
func (x expression) run(e *cel.Evaluation) (ref.Val, error) {
	v, err := x.value(e)
	x.counter.Add(v, err)
	return v, err
}

// value is run without counting.
func (x expression) value(e *cel.Evaluation) (ref.Val, error) {
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

// compileConditions compiles the matchConditions in a map whose path ends with a dot.
func compileConditions(in map[string]any, path string, variables cel.OptionalVariables, ignoreErrors bool, count counters) *conditions {
	c := &conditions{policy: cel.NewPolicy(0, false), ignoreErrors: ignoreErrors}
	for m := range object.Each(in["matchConditions"]) {
		at := fmt.Sprintf("%smatchConditions[%d].expression", path, len(c.list))
		c.list = append(c.list, compile(c.policy, object.String(m, "expression"), variables, cel.Bool).counted(count, coverage.Condition, at))
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
		Types:  r.inputTypes(t),
		Object: codec.ToUnstructured(v.object), OldObject: codec.ToUnstructured(v.old.SharedMembers()), Request: r.admissionRequest(t), Authorizer: r.server.Authorizer(),
		RequestResource: library.AuthorizerAttributes{Group: r.Type.Group, Resource: r.Type.Name, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name},
	}
}

// inputTypes returns the Go types of the variables, apart from params.
func (r *request) inputTypes(t target) (types cel.InputTypes) {
	release := r.Access.Release()
	if !release.Has(behavior.TypedExpressions) {
		return types
	}
	if typ := r.codec(t).Wire(); typ != nil {
		types.Object = typ.GoType()
	}
	if typ, ok := wire.ForKindIn(release.Minor(), "admission.k8s.io", "v1", "AdmissionReview"); ok {
		types.Request = typ.GoType().Member("request")
	}
	if typ, ok := wire.ForKindIn(release.Minor(), "", "v1", "Namespace"); ok {
		types.Namespace = typ.GoType()
	}
	return types
}

// setParams sets a parameter of the policy.
func (p *policy) setParams(in *cel.Inputs, param map[string]any, r *request) {
	in.Params = param
	if release := r.Access.Release(); p.paramKind != nil && release.Has(behavior.TypedExpressions) {
		if typ, ok := wire.ForKindIn(release.Minor(), p.paramKind.Group, p.paramKind.Version, p.paramKind.Kind); ok {
			in.Types.Params = typ.GoType()
		}
	}
}
