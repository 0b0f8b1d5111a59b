package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// mutations are what a mutating policy makes of an object, one after the other.
type mutations struct {
	policy *cel.Policy
	list   []mutation
}

// A mutation is an expression of JSON patches, or of what is merged into the
// object.
type mutation struct {
	expression
	merges bool
}

func compileMutations(spec map[string]any, sees cel.OptionalVariables) *mutations {
	out := &mutations{policy: define(spec, sees, true)}
	sees.PatchTypes = true
	for m := range object.Each(spec["mutations"]) {
		if m["patchType"] == "ApplyConfiguration" {
			out.list = append(out.list, mutation{compile(out.policy, object.String(m, "applyConfiguration", "expression"), sees, cel.Patch), true})
		} else {
			out.list = append(out.list, mutation{compile(out.policy, object.String(m, "jsonPatch", "expression"), sees, cel.JSONPatches), false})
		}
	}
	return out
}

// An invocation is that of a mutating policy, as a binding uses it, with one
// parameter.
type invocation struct {
	*policy
	*binding
	target
	param map[string]any
}

// key tells invocations of two rounds apart.
func (i *invocation) key() any {
	return [4]string{i.policy.name, i.binding.name, object.String(i.param, "metadata", "namespace"), object.String(i.param, "metadata", "name")}
}

// A refusal is that of mutating policies. What several of them have to say is
// told together.
type refusal struct {
	messages []string
	reason   string // of the first
}

func (f *refusal) add(p *policy, b *binding, err error, reason string) {
	if p.ignore {
		return
	}
	by := fmt.Sprintf("policy %q", p.name)
	if b != nil {
		by = fmt.Sprintf("policy '%s' with binding '%s'", p.name, b.name)
	}
	if len(f.messages) == 0 {
		f.reason = reason
	}
	f.messages = append(f.messages, fmt.Sprintf("%s denied request: %s", by, err))
}

func (f *refusal) status(r *Attributes) error {
	if len(f.messages) == 0 {
		return nil
	}
	st := status.Forbidden(r.GroupResource(), r.displayName(), "")
	st.Message = f.messages[0]
	if f.reason != "" {
		st.Reason = f.reason
	}
	for _, message := range f.messages {
		st.Details.Causes = append(st.Details.Causes, status.Cause{Message: message})
	}
	return st
}

// mutateByPolicies has mutating policies change the object of a request. Which of
// them do is found out before the first one does.
func mutateByPolicies(ctx context.Context, policies []*bound, r *Attributes, s Server, again *reinvocation) error {
	var refused refusal
	var invocations []*invocation
	for _, p := range policies {
		t, ok := p.criteria.matches(r, s)
		if !ok {
			continue
		}
		if err := p.known(s); err != nil {
			refused.add(p.policy, nil, fmt.Errorf("failed to configure policy: %w", err), "")
			continue
		}
		for _, b := range p.bindings {
			if b.criteria != nil {
				if _, ok := b.criteria.matches(r, s); !ok {
					continue
				}
			}
			params, err := p.collect(b.params, r.Namespace, s)
			if err != nil {
				refused.add(p.policy, b, fmt.Errorf("failed to configure binding: %w", err), "")
				continue
			}
			for _, param := range params {
				invocations = append(invocations, &invocation{p.policy, b, t, param})
			}
		}
	}
	if len(invocations) > 0 {
		again.begin(r.Object)
		defer func() { again.last = r.Object }()
	}
	for _, i := range invocations {
		if err := i.invoke(ctx, r, s, &refused, again); err != nil {
			return err
		}
	}
	return refused.status(r)
}

// invoke asks one policy. Its error is for what ends the request at once.
func (i *invocation) invoke(ctx context.Context, r *Attributes, s Server, refused *refusal, again *reinvocation) error {
	objects, err := r.in(ctx, i.target)
	if err != nil {
		return status.Internal(err.Error())
	}
	in := r.inputs(i.target, objects, s)
	in.Params = i.param
	holds, err := i.conditions().hold(func() cel.Inputs { return in })
	if err != nil {
		refused.add(i.policy, i.binding, err, status.ReasonInvalid)
		return nil
	}
	if !holds || !again.isDue(i.key()) {
		return nil
	}
	in.Namespace = r.namespace(s)
	mutations := i.mutations()
	for _, m := range mutations.list {
		if in.Object == nil {
			break // nothing to change in a deletion
		}
		obj, err := m.apply(mutations.policy, in, i.target, r, s)
		var st *status.Status
		switch {
		case errors.As(err, &st):
			return st
		case err != nil:
			refused.add(i.policy, i.binding, err, status.ReasonInvalid)
		default:
			in.Object = obj
		}
	}
	if !validation.Equal(in.Object, objects.object) {
		again.changed()
		if err := r.replace(ctx, i.target, in.Object); err != nil {
			return status.Internal(fmt.Sprintf("failed to convert object: %v", err))
		}
	}
	if i.reinvoked {
		again.invoked(i.key())
	}
	return nil
}

// apply is what a mutation makes of the object.
func (m *mutation) apply(p *cel.Policy, in cel.Inputs, t target, r *Attributes, s Server) (map[string]any, error) {
	in.Object = r.codec(t).ToUnstructured(in.Object)
	v, err := m.run(p.Evaluate(in, cel.Budget))
	if err != nil {
		return nil, err
	}
	value, err := cel.Generic(v)
	if err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	var obj map[string]any
	if m.merges {
		obj, err = merged(value, v, in.Object, t, s)
	} else {
		obj, err = patched(value, in.Object, t, r)
	}
	if err != nil {
		return nil, err
	}
	return t.completed(obj), nil
}

// merged is an object with what an apply configuration says.
func merged(value any, v ref.Val, obj map[string]any, t target, s Server) (map[string]any, error) {
	applied, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", v.Type())
	}
	applied["kind"], applied["apiVersion"] = obj["kind"], obj["apiVersion"]
	merged, err := s.Merge(t.Type, obj, applied)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	return merged, nil
}

// patched is an object that a JSON patch was applied to. One of which a test
// fails changes nothing.
func patched(value any, obj map[string]any, t target, r *Attributes) (map[string]any, error) {
	operations, _ := value.([]any)
	for o := range object.Each(operations) {
		for _, name := range []string{"op", "path"} {
			if o[name] == nil {
				o[name] = ""
			}
		}
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	codec := r.codec(t)
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
