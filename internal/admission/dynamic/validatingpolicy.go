package dynamic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
)

// validations are the expressions of a ValidatingAdmissionPolicy.
type validations struct {
	policy           *cel.Policy
	list             []validationRule
	auditAnnotations []auditAnnotation
}

// An auditAnnotation is an expression for an annotation of the audit log.
type auditAnnotation struct {
	key string
	expression
}

// A validationRule is an expression that must be true.
type validationRule struct {
	expression
	messageExpression expression // its text is "" for none
	message           string
	reason            string
}

func compileValidations(spec map[string]any, variables cel.OptionalVariables, count counters) *validations {
	out := &validations{policy: compileVariables(spec, variables, false, count)}
	for m := range object.Each(spec["validations"]) {
		at := fmt.Sprintf("spec.validations[%d].", len(out.list))
		v := validationRule{
			expression: compile(out.policy, object.String(m, "expression"), variables, cel.Bool).counted(count, coverage.Validation, at+"expression"),
			message:    strings.TrimSpace(object.String(m, "message")),
			reason:     object.String(m, "reason"),
		}
		if text := object.String(m, "messageExpression"); text != "" {
			v.messageExpression = compile(out.policy, text, cel.OptionalVariables{Params: variables.Params}, cel.String).counted(count, coverage.Message, at+"messageExpression")
		}
		if v.reason == "" {
			v.reason = status.ReasonInvalid
		}
		out.list = append(out.list, v)
	}
	for m := range object.Each(spec["auditAnnotations"]) {
		at := fmt.Sprintf("spec.auditAnnotations[%d].valueExpression", len(out.auditAnnotations))
		value := compile(out.policy, object.String(m, "valueExpression"), variables, cel.String, cel.Null).counted(count, coverage.AuditAnnotation, at)
		out.auditAnnotations = append(out.auditAnnotations, auditAnnotation{object.String(m, "key"), value})
	}
	return out
}

// A violation is a validation that is not true, or that failed.
type violation struct {
	message, reason string
	index           int // of the validation
	// alwaysDeny denies the request whatever the validationActions are.
	alwaysDeny bool
}

var errNotTrue = errors.New("the validation is not true")

// evaluate returns the violations of a policy, and adds its annotations of the audit
// log.
func (p *policy) evaluate(ctx context.Context, in cel.Inputs, notes *auditNotes) []violation {
	failure := func(err error) []violation {
		if p.ignoreErrors {
			return nil
		}
		return []violation{{message: err.Error(), reason: status.ReasonInvalid}}
	}
	matches, err := p.conditions().match(ctx, func() cel.Inputs {
		in := in
		in.Namespace = nil // matchConditions have no namespaceObject
		return in
	})
	if err != nil {
		return failure(err)
	}
	if !matches {
		return nil
	}
	v := p.validations()
	evaluation := v.policy.Evaluate(ctx, in, cel.Budget)
	results := make([]error, len(v.list)) // nil for true
	for i, x := range v.list {
		value, err := x.run(evaluation)
		switch {
		case errors.Is(err, cel.ErrBudget):
			return failure(err)
		case err != nil:
			results[i] = err
		case value != types.True:
			results[i] = errNotTrue
		}
	}
	messages, messagesErr := v.evaluateMessages(ctx, in, evaluation.Remaining(), results)
	var all []violation
	for i, x := range v.list {
		var found []violation
		switch err := results[i]; {
		case err != nil && err != errNotTrue:
			found = failure(err)
		case messagesErr != nil:
			found = failure(fmt.Errorf("failed messageExpression: %w", messagesErr))
		case err == errNotTrue:
			found = []violation{{message: x.violationMessage(messages[i]), reason: x.reason}}
		}
		for _, v := range found {
			v.index = i
			all = append(all, v)
		}
	}
	for _, err := range v.annotate(ctx, in, notes) {
		for _, f := range failure(err) {
			f.alwaysDeny = true
			all = append(all, f)
		}
	}
	return all
}

// evaluateMessages returns the results of the messageExpressions; "" for none and for a
// result that is no valid message. They have no authorizer. The error is cel.ErrBudget. Only those
// of validations whose result is errNotTrue are counted: others have no effect.
func (v *validations) evaluateMessages(ctx context.Context, in cel.Inputs, budget int64, results []error) ([]string, error) {
	in.Authorizer = nil
	evaluation := v.policy.Evaluate(ctx, in, budget)
	out := make([]string, len(v.list))
	for i, x := range v.list {
		if x.messageExpression.text == "" {
			continue
		}
		value, err := x.messageExpression.value(evaluation)
		if results[i] == errNotTrue {
			x.messageExpression.counter.Add(value, err)
		}
		if errors.Is(err, cel.ErrBudget) {
			return nil, err
		}
		if text, ok := value.(types.String); ok && err == nil {
			if message, ok := cel.MessageText(string(text)); ok {
				out[i] = message
			}
		}
	}
	return out, nil
}

// violationMessage returns the message for the client. evaluated is the result
// of the messageExpression.
func (v *validationRule) violationMessage(evaluated string) string {
	switch {
	case evaluated != "":
		return evaluated
	case v.message != "":
		return v.message
	}
	return "failed expression: " + strings.TrimSpace(v.expression.text)
}

// auditNotes are the annotations of the audit log of one policy. Values of several
// bindings are joined.
type auditNotes struct {
	keys   []string
	values map[string][]string
}

// maxAnnotation is the maximum length of the value of an annotation in bytes.
const maxAnnotation = 10 << 10

func (n *auditNotes) add(key, value string) {
	if len(value) > maxAnnotation {
		value = value[:maxAnnotation]
	}
	if slices.Contains(n.values[key], value) {
		return
	}
	if n.values == nil {
		n.values = map[string][]string{}
	}
	if n.values[key] == nil {
		n.keys = append(n.keys, key)
	}
	n.values[key] = append(n.values[key], value)
}

// publish adds the annotations to a request.
func (n *auditNotes) publish(policy string, r *request) {
	for _, key := range n.keys {
		r.Annotate(policy+"/"+key, strings.Join(n.values[key], ", "))
	}
}

// annotate adds the auditAnnotations to notes and returns the errors of their
// expressions.
func (v *validations) annotate(ctx context.Context, in cel.Inputs, notes *auditNotes) (errs []error) {
	if len(v.auditAnnotations) == 0 {
		return nil
	}
	in.Authorizer = nil
	evaluation := v.policy.Evaluate(ctx, in, cel.Budget)
	for _, x := range v.auditAnnotations {
		value, err := x.run(evaluation)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if text, ok := value.(types.String); ok && strings.TrimSpace(string(text)) != "" {
			notes.add(x.key, strings.TrimSpace(string(text)))
		}
	}
	return errs
}

const (
	// failureKey is the key of the annotation of the action Audit.
	failureKey = "validation.policy.admission.k8s.io/validation_failure"
	// maxFailures is how many failures the annotation has.
	maxFailures = 50
)

// A failure is a violation in the annotation of the action Audit.
type failure struct {
	Message           string   `json:"message"`
	Policy            string   `json:"policy"`
	Binding           string   `json:"binding"`
	ExpressionIndex   int      `json:"expressionIndex"`
	ValidationActions []string `json:"validationActions"`
}

// annotateFailures adds the annotation of the action Audit. Before v1.37 it has the first failure only.
func (r *request) annotateFailures(failures []failure) {
	if len(failures) == 0 {
		return
	}
	most := maxFailures
	if !r.Access.Release().Has(behavior.AuditsAllFailures) {
		most = 1
	}
	r.annotateJSON(failureKey, failures[:min(len(failures), most)], false)
}

// validateByPolicies evaluates all policies and returns the first denial.
func validateByPolicies(ctx context.Context, policies []*boundPolicy, r *request) error {
	var denial error
	var failures []failure
	for _, p := range policies {
		t, ok := p.criteria.match(r)
		if !ok {
			continue
		}
		deny := func(b *binding, message, reason string) {
			if denial == nil {
				denial = policyDenial(r, p.policy, b, message, reason)
			}
		}
		if err := p.checkParamKind(r.server); err != nil {
			if !p.ignoreErrors {
				deny(nil, "failed to configure policy: "+err.Error(), status.ReasonInvalid)
			}
			continue
		}
		var notes auditNotes
		for _, b := range p.bindings {
			violations, err := p.evaluateBinding(ctx, b, t, r, &notes)
			if err != nil && !p.ignoreErrors {
				deny(b, "failed to configure binding: "+err.Error(), status.ReasonInvalid)
			}
			for _, v := range violations {
				if v.alwaysDeny {
					deny(b, v.message, v.reason)
					continue
				}
				for _, action := range b.actions {
					switch action {
					case "Deny":
						deny(b, v.message, v.reason)
					case "Audit":
						failures = append(failures, failure{v.message, p.name, b.name, v.index, b.actions})
					case "Warn":
						r.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", p.name, b.name, v.message))
					}
				}
			}
		}
		notes.publish(p.name, r)
	}
	r.annotateFailures(failures)
	return denial
}

// evaluateBinding evaluates the policy with each parameter of a binding. It
// fails if the binding cannot be applied.
func (p *policy) evaluateBinding(ctx context.Context, b *binding, t target, r *request, notes *auditNotes) (all []violation, err error) {
	if !b.match(r) {
		return nil, nil
	}
	params, err := p.params(b.params, r)
	if err != nil || len(params) == 0 {
		return nil, err
	}
	objects, err := r.in(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("failed to convert object version: %w", err)
	}
	in := r.inputs(t, objects)
	in.Namespace = r.namespace().SharedMembers()
	for _, param := range params {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.setParams(&in, param, r)
		all = append(all, p.evaluate(ctx, in, notes)...)
	}
	return all, nil
}

// policyDenial returns the answer to a request that a policy denies. b is nil
// for an error of the policy itself.
func policyDenial(r *request, p *policy, b *binding, message, reason string) error {
	by := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", p.name)
	if b != nil {
		by += fmt.Sprintf(" with binding '%s'", b.name)
	}
	message = by + " denied request: " + message
	st := status.Forbidden(r.GroupResource(), r.DisplayName(), message)
	st.Reason, st.Code = reason, http.StatusUnprocessableEntity
	switch reason {
	case status.ReasonForbidden:
		st.Code = http.StatusForbidden
	case status.ReasonRequestEntityTooLarge:
		st.Code = http.StatusRequestEntityTooLarge
	}
	st.Details.Causes = append(st.Details.Causes, status.Cause{Message: message})
	return st
}
