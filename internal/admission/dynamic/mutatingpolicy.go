package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/common/types/ref"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// mutations are the expressions of a MutatingAdmissionPolicy, applied in order.
type mutations struct {
	policy *cel.Policy
	list   []mutation
}

// A mutation is an expression of a JSON patch or of an apply configuration.
type mutation struct {
	expression
	isApply bool
}

func compileMutations(spec map[string]any, variables cel.OptionalVariables, count counters) *mutations {
	out := &mutations{policy: compileVariables(spec, variables, true, count)}
	variables.PatchTypes = true
	for m := range object.Each(spec["mutations"]) {
		field, result := "jsonPatch", cel.JSONPatches
		isApply := m["patchType"] == "ApplyConfiguration"
		if isApply {
			field, result = "applyConfiguration", cel.Patch
		}
		at := fmt.Sprintf("spec.mutations[%d].%s.expression", len(out.list), field)
		x := compile(out.policy, object.String(m, field, "expression"), variables, result).counted(count, coverage.Mutation, at)
		out.list = append(out.list, mutation{x, isApply})
	}
	return out
}

// An invocation is one evaluation of a policy: with one binding, one parameter
// and one version of the resource.
type invocation struct {
	*policy
	*binding
	target
	param map[string]any
}

// key identifies the invocation in both rounds.
func (i *invocation) key() any {
	return [4]string{i.policy.name, i.binding.name, object.String(i.param, "metadata", "namespace"), object.String(i.param, "metadata", "name")}
}

// denials are the denials of mutating policies. The client gets all of them.
type denials struct {
	messages []string
	reason   string // of the first denial
}

// add adds a denial, unless the policy ignores errors. b is nil for an error of
// the policy itself.
func (d *denials) add(p *policy, b *binding, err error, reason string) {
	if p.ignoreErrors {
		return
	}
	by := fmt.Sprintf("policy %q", p.name)
	if b != nil {
		by = fmt.Sprintf("policy '%s' with binding '%s'", p.name, b.name)
	}
	if len(d.messages) == 0 {
		d.reason = reason
	}
	d.messages = append(d.messages, fmt.Sprintf("%s denied request: %s", by, err))
}

// status returns the answer to the client; nil if there are no denials.
func (d *denials) status(r *request) error {
	if len(d.messages) == 0 {
		return nil
	}
	st := status.Forbidden(r.GroupResource(), r.DisplayName(), "")
	st.Message = d.messages[0]
	if d.reason != "" {
		st.Reason = d.reason
	}
	for _, message := range d.messages {
		st.Details.Causes = append(st.Details.Causes, status.Cause{Message: message})
	}
	return st
}

// A view is the object of a request in one version, as the policies that match this version
// have changed it.
type view struct {
	target
	versioned
	isWritten bool // a mutation succeeded, even if it changed nothing
	// typed is set if matchConditions have read the objects. Since then mutations read them as
	// values of their Go types, too.
	typed bool
}

// views are the views of the versions that policies match. As in kube-apiserver, policies do
// not see what those of another version change, and the request has the object of the view
// that was used last.
type views struct {
	request *request
	all     map[resource.Kind]*view
	last    *view // of the last mutation; nil before
}

// of returns the view of a target.
func (v *views) of(ctx context.Context, t target) (*view, error) {
	if known := v.all[t.kind]; known != nil {
		return known, nil
	}
	objects, err := v.request.in(ctx, t)
	if err != nil {
		return nil, err
	}
	out := &view{target: t, versioned: objects}
	v.all[t.kind] = out
	return out, nil
}

// mutateByPolicies lets mutating policies change the object of a request. It
// selects all of them before the first one changes the object.
func mutateByPolicies(ctx context.Context, policies []*boundPolicy, r *request, round *reinvocation) error {
	var denied denials
	invocations := selectInvocations(policies, r, &denied)
	if len(invocations) > 0 {
		round.begin(r.Object)
		defer func() { round.last = r.Object }()
	}
	views := &views{request: r, all: map[resource.Kind]*view{}}
	for _, i := range invocations {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := i.run(ctx, views, &denied, round); err != nil {
			return err
		}
	}
	if v := views.last; v != nil && v.isWritten {
		round.changed()
		if err := r.replace(ctx, v.target, v.object); err != nil {
			return status.Internal(fmt.Sprintf("failed to convert object: %v", err))
		}
	}
	return denied.status(r)
}

func selectInvocations(policies []*boundPolicy, r *request, denied *denials) (all []*invocation) {
	for _, p := range policies {
		t, ok := p.criteria.match(r)
		if !ok {
			continue
		}
		if err := p.checkParamKind(r.server); err != nil {
			denied.add(p.policy, nil, fmt.Errorf("failed to configure policy: %w", err), "")
			continue
		}
		for _, b := range p.bindings {
			if !b.match(r) {
				continue
			}
			params, err := p.params(b.params, r)
			if err != nil {
				denied.add(p.policy, b, fmt.Errorf("failed to configure binding: %w", err), "")
				continue
			}
			for _, param := range params {
				all = append(all, &invocation{p.policy, b, t, param})
			}
		}
	}
	return all
}

// run evaluates the policy and changes the object in the version that the policy matches.
// Errors of the policy are added to denied. An error that is returned ends the request.
func (i *invocation) run(ctx context.Context, views *views, denied *denials, round *reinvocation) error {
	r := views.request
	v, err := views.of(ctx, i.target)
	if err != nil {
		return status.Internal(err.Error())
	}
	in := r.inputs(i.target, v.versioned)
	i.setParams(&in, i.param, r)
	v.typed = v.typed || len(i.conditions().list) > 0
	matches, err := i.conditions().match(ctx, func() cel.Inputs { return in })
	if err != nil {
		denied.add(i.policy, i.binding, err, status.ReasonInvalid)
		return nil
	}
	if !matches || !round.isDue(i.key()) {
		return nil
	}
	if !v.typed {
		in.Types.Object = wire.GoType{}
	}
	in.Namespace = r.namespace().SharedMembers()
	before, mutations := v.object, i.mutations()
	for _, m := range mutations.list {
		if v.object == nil {
			break // a deletion has no object to change
		}
		views.last = v
		in.Object = v.object
		obj, err := m.apply(ctx, mutations.policy, in, i.target, r)
		var st *status.Status
		switch {
		case errors.As(err, &st):
			return st
		case err != nil:
			denied.add(i.policy, i.binding, err, status.ReasonInvalid)
		default:
			v.object, v.isWritten = obj, true
		}
	}
	if !validation.Equal(v.object, before) {
		round.changed()
	}
	if i.reinvoke {
		round.add(i.key())
	}
	return nil
}

// apply returns in.Object after the mutation.
func (m *mutation) apply(ctx context.Context, p *cel.Policy, in cel.Inputs, t target, r *request) (map[string]any, error) {
	in.Object = r.codec(t).ToUnstructured(in.Object)
	v, err := m.run(p.Evaluate(ctx, in, cel.Budget))
	if err != nil {
		return nil, err
	}
	var obj map[string]any
	if m.isApply {
		obj, err = applyConfiguration(v, in.Object, t, r.server)
	} else {
		obj, err = applyJSONPatch(v, in.Object, r.codec(t))
	}
	if err != nil {
		return nil, err
	}
	return t.setDefaults(obj), nil
}

func applyConfiguration(v ref.Val, obj map[string]any, t target, s Server) (map[string]any, error) {
	applied, err := cel.ApplyConfiguration(v)
	if err != nil {
		return nil, err
	}
	applied["kind"], applied["apiVersion"] = obj["kind"], obj["apiVersion"]
	if !object.All(applied, isFinite) {
		return nil, errors.New("error applying patch: the ApplyConfiguration expression has a number that JSON does not have")
	}
	return s.Merge(t.Type, obj, applied)
}

// isFinite reports whether v is no infinity and not NaN.
func isFinite(_ string, v any) bool {
	f, ok := v.(float64)
	return !ok || !math.IsInf(f, 0) && !math.IsNaN(f)
}

// applyJSONPatch returns obj itself if a test operation of the patch fails.
func applyJSONPatch(v ref.Val, obj map[string]any, codec resource.Codec) (map[string]any, error) {
	operations, err := cel.JSONPatch(v)
	var text []byte
	if err == nil {
		text, err = json.Marshal(operations)
	}
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	doc, err := patch.JSON(codec.Append(nil, obj), text)
	switch {
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return obj, nil
	case err != nil:
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	out, err := codec.DecodeStrict(doc)
	if err != nil {
		return nil, status.Internal(err.Error())
	}
	return out, nil
}
