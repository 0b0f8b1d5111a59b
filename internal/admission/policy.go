package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// A policy is an admission policy of either kind.
type policy struct {
	name       string
	criteria   criteria
	params     *resource.Kind // nil if it has none
	ignore     bool           // its failures are passed over
	reinvoked  bool
	conditions func() *conditions
	rules      func() *rules // of a validating policy
	mutations  func() *mutations
}

// A bound policy is one with its bindings.
type bound struct {
	*policy
	bindings []*binding
}

// A binding is one use of a policy.
type binding struct {
	name, policy string
	criteria     *criteria // nil if it is for all that the policy is for
	params       *paramRef
	actions      []string
}

// A paramRef says which objects parametrize a policy.
type paramRef struct {
	name, namespace string
	selector        map[string]any // nil for the one of the name
	deny            bool           // if there is none
}

func policyOf(obj map[string]any) *policy {
	spec := object.Map(obj, "spec")
	p := &policy{
		name:      object.String(obj, "metadata", "name"),
		criteria:  criteriaOf(object.Map(spec, "matchConstraints"), "resourceRules"),
		ignore:    spec["failurePolicy"] == "Ignore",
		reinvoked: spec["reinvocationPolicy"] == "IfNeeded",
	}
	sees := cel.OptionalVariables{Authorizer: true}
	if kind := object.Map(spec, "paramKind"); kind != nil {
		sees.Params = true
		gv, _ := resource.ParseGroupVersion(object.String(kind, "apiVersion")) // validation lets no other form in
		p.params = &resource.Kind{GroupVersion: gv, Kind: object.String(kind, "kind")}
	}
	p.conditions = sync.OnceValue(func() *conditions { return compileConditions(spec["matchConditions"], sees, p.ignore) })
	p.rules = sync.OnceValue(func() *rules { return compileRules(spec, sees) })
	p.mutations = sync.OnceValue(func() *mutations { return compileMutations(spec, sees) })
	return p
}

func bindingOf(obj map[string]any) *binding {
	spec := object.Map(obj, "spec")
	b := &binding{
		name:    object.String(obj, "metadata", "name"),
		policy:  object.String(spec, "policyName"),
		actions: object.Strings(spec, "validationActions"),
	}
	if match := object.Map(spec, "matchResources"); match != nil {
		c := criteriaOf(match, "resourceRules")
		b.criteria = &c
	}
	if ref := object.Map(spec, "paramRef"); ref != nil {
		b.params = &paramRef{
			name: object.String(ref, "name"), namespace: object.String(ref, "namespace"),
			selector: object.Map(ref, "selector"), deny: ref["parameterNotFoundAction"] == "Deny",
		}
	}
	return b
}

// define compiles the variables of a policy.
func define(spec map[string]any, sees cel.OptionalVariables, always bool) *cel.Policy {
	variables := object.List(spec, "variables")
	p := cel.NewPolicy(always || len(variables) > 0)
	for v := range object.Each(variables) {
		// One that does not compile fails when it is used.
		_ = p.Define(object.String(v, "name"), strings.TrimSpace(object.String(v, "expression")), sees)
	}
	return p
}

// errNoParams is for a binding that wants parameters and finds none.
var errNoParams = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")

// known tells what is wrong with the kind of a policy's parameters.
func (p *policy) known(s Server) error {
	if p.params != nil && s.Type(*p.params) == nil {
		return fmt.Errorf("failed to find resource referenced by paramKind: '%s/%s, Kind=%s'", p.params.Group, p.params.Version, p.params.Kind)
	}
	return nil
}

// collect finds the parameters with which a policy is asked, once with each; with
// nil where it has none.
func (p *policy) collect(ref *paramRef, namespace string, s Server) ([]map[string]any, error) {
	if p.params == nil || ref == nil {
		return []map[string]any{nil}, nil
	}
	if s.Type(*p.params).Namespaced {
		if ref.namespace != "" {
			namespace = ref.namespace
		}
		if namespace == "" {
			return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
		}
	} else {
		if ref.namespace != "" {
			return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
		}
		namespace = ""
	}
	var found []map[string]any
	if ref.selector == nil {
		if obj := s.Get(*p.params, namespace, ref.name); obj != nil {
			found = append(found, obj)
		}
	} else {
		selected := labels(map[string]any{"selector": ref.selector}, "selector")
		for _, obj := range s.List(*p.params, namespace) {
			if selected.Matches(labelsOf(obj)) {
				found = append(found, obj)
			}
		}
	}
	if len(found) == 0 && ref.deny {
		return nil, errNoParams
	}
	return found, nil
}

// namespace is what expressions call namespaceObject.
func (r *Attributes) namespace(s Server) map[string]any {
	if r.Namespace == "" || r.isNamespace() {
		return nil
	}
	return s.Get(namespaceKind, "", r.Namespace)
}

// rules are what a validating policy wants to hold.
type rules struct {
	policy *cel.Policy
	list   []check
	audits []expression
}

// A check is one of the rules.
type check struct {
	expression
	told   expression // its messageExpression; without a text there is none
	text   string     // its message
	reason string
}

func compileRules(spec map[string]any, sees cel.OptionalVariables) *rules {
	out := &rules{policy: define(spec, sees, false)}
	for v := range object.Each(spec["validations"]) {
		c := check{
			expression: compile(out.policy, object.String(v, "expression"), sees, cel.Bool),
			text:       strings.TrimSpace(object.String(v, "message")),
			reason:     object.String(v, "reason"),
		}
		if text := object.String(v, "messageExpression"); text != "" {
			c.told = compile(out.policy, text, cel.OptionalVariables{Params: sees.Params}, cel.String)
		}
		if c.reason == "" {
			c.reason = status.ReasonInvalid
		}
		out.list = append(out.list, c)
	}
	for a := range object.Each(spec["auditAnnotations"]) {
		out.audits = append(out.audits, compile(out.policy, object.String(a, "valueExpression"), sees, cel.String, cel.Null))
	}
	return out
}

// A finding is what a policy has against a request.
type finding struct {
	message, reason string
	// config tells that the policy could not be asked: it denies whatever the
	// binding's actions are.
	config bool
}

// evaluate asks a policy about a request, as one to a target.
func (p *policy) evaluate(in cel.Inputs) []finding {
	failed := func(err error) []finding {
		if p.ignore {
			return nil
		}
		return []finding{{message: err.Error(), reason: status.ReasonInvalid}}
	}
	holds, err := p.conditions().hold(func() cel.Inputs {
		unplaced := in
		unplaced.Namespace = nil // match conditions do not see it
		return unplaced
	})
	if err != nil {
		return failed(err)
	}
	if !holds {
		return nil
	}
	rules := p.rules()
	evaluation := rules.policy.Evaluate(in, cel.Budget)
	results := make([]error, len(rules.list)) // nil where a rule holds
	for i, c := range rules.list {
		v, err := c.run(evaluation)
		switch {
		case errors.Is(err, cel.ErrBudget):
			return failed(err)
		case err != nil:
			results[i] = err
		case v != types.True:
			results[i] = errBroken
		}
	}
	messages, messagesErr := rules.messages(in, evaluation.Remaining())
	var all []finding
	for i, c := range rules.list {
		switch err := results[i]; {
		case err != nil && err != errBroken:
			all = append(all, failed(err)...)
		case messagesErr != nil:
			all = append(all, failed(fmt.Errorf("failed messageExpression: %w", messagesErr))...)
		case err == errBroken:
			all = append(all, finding{message: c.message(messages[i]), reason: c.reason})
		}
	}
	for _, err := range rules.auditErrors(in) {
		for _, f := range failed(err) {
			f.config = true
			all = append(all, f)
		}
	}
	return all
}

var errBroken = errors.New("the rule does not hold")

// messages are what the rules' messageExpressions give, "" for none. They cannot
// ask the authorizer.
func (u *rules) messages(in cel.Inputs, budget int64) ([]string, error) {
	in.Authorizer = nil
	evaluation := u.policy.Evaluate(in, budget)
	out := make([]string, len(u.list))
	for i, c := range u.list {
		if c.told.text == "" {
			continue
		}
		v, err := c.told.run(evaluation)
		if errors.Is(err, cel.ErrBudget) {
			return nil, err
		}
		if text, ok := v.(types.String); ok && err == nil {
			out[i] = strings.TrimSpace(string(text))
		}
	}
	return out, nil
}

// longestMessage is how long what a messageExpression gives can be, in bytes.
const longestMessage = 5 << 10

// message is what a client is told of a rule that does not hold.
func (c *check) message(told string) string {
	switch {
	case told != "" && len(told) <= longestMessage && !strings.Contains(told, "\n"):
		return told
	case c.text != "":
		return c.text
	}
	return "failed expression: " + strings.TrimSpace(c.expression.text)
}

// auditErrors are the failures of what is to be noted in the audit log, which
// this server has not.
func (u *rules) auditErrors(in cel.Inputs) (errs []error) {
	if len(u.audits) == 0 {
		return nil
	}
	in.Authorizer = nil
	evaluation := u.policy.Evaluate(in, cel.Budget)
	for _, a := range u.audits {
		if _, err := a.run(evaluation); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// validateByPolicies asks validating policies. All are asked; the first denial
// is told of.
func validateByPolicies(policies []*bound, ctx context.Context, r *Attributes, s Server) error {
	var denied error
	for _, p := range policies {
		t, ok := p.criteria.matches(r, s)
		if !ok {
			continue
		}
		deny := func(b *binding, message, reason string) {
			if denied == nil {
				denied = policyDenial(r, p.policy, b, message, reason)
			}
		}
		if err := p.known(s); err != nil {
			if !p.ignore {
				deny(nil, "failed to configure policy: "+err.Error(), status.ReasonInvalid)
			}
			continue
		}
		for _, b := range p.bindings {
			findings, err := p.judge(ctx, b, t, r, s)
			if err != nil && !p.ignore {
				deny(b, "failed to configure binding: "+err.Error(), status.ReasonInvalid)
			}
			for _, f := range findings {
				if f.config {
					deny(b, f.message, f.reason)
					continue
				}
				for _, action := range b.actions {
					switch action {
					case "Deny":
						deny(b, f.message, f.reason)
					case "Warn":
						r.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", p.name, b.name, f.message))
					}
				}
			}
		}
	}
	return denied
}

// judge asks a policy, as a binding uses it, with each of its parameters. The
// error is for a binding that cannot be used.
func (p *policy) judge(ctx context.Context, b *binding, t target, r *Attributes, s Server) (all []finding, err error) {
	if b.criteria != nil {
		if _, ok := b.criteria.matches(r, s); !ok {
			return nil, nil
		}
	}
	params, err := p.collect(b.params, r.Namespace, s)
	if err != nil || len(params) == 0 {
		return nil, err
	}
	objects, err := r.in(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("failed to convert object version: %w", err)
	}
	in := r.inputs(t, objects, s)
	in.Namespace = r.namespace(s)
	for _, param := range params {
		in.Params = param
		all = append(all, p.evaluate(in)...)
	}
	return all, nil
}

// policyDenial is the answer to a request that a policy denies.
func policyDenial(r *Attributes, p *policy, b *binding, message, reason string) error {
	by := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", p.name)
	if b != nil {
		by += fmt.Sprintf(" with binding '%s'", b.name)
	}
	message = by + " denied request: " + message
	st := status.Forbidden(r.GroupResource(), r.displayName(), message)
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
