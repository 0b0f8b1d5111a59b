package admission

import (
	"context"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// A Configuration is an object that configures admission, as it is stored. Two
// of the same ID are the same.
type Configuration struct {
	ID     any
	Object map[string]any
}

// A Snapshot is what is configured at one moment. It is immutable; a nil one is
// of nothing, and costs nothing.
type Snapshot struct {
	mutating, validating                 []*hook
	mutatingPolicies, validatingPolicies []*bound
	compiled                             map[any]any // what was made of a Configuration
}

// New makes a Snapshot of what is configured, sorted by name. What was made of a
// configuration for an earlier Snapshot, which can be nil, is used again.
func New(all []Configuration, earlier *Snapshot) *Snapshot {
	if len(all) == 0 {
		return nil
	}
	s := &Snapshot{compiled: map[any]any{}}
	var mutatingPolicies, validatingPolicies []*policy
	mutatingBindings, validatingBindings := map[string][]*binding{}, map[string][]*binding{}
	for _, c := range all {
		switch c.Object["kind"] {
		case "MutatingWebhookConfiguration":
			s.mutating = append(s.mutating, made(s, earlier, c, hooksOf)...)
		case "ValidatingWebhookConfiguration":
			s.validating = append(s.validating, made(s, earlier, c, hooksOf)...)
		case "MutatingAdmissionPolicy":
			mutatingPolicies = append(mutatingPolicies, made(s, earlier, c, policyOf))
		case "ValidatingAdmissionPolicy":
			validatingPolicies = append(validatingPolicies, made(s, earlier, c, policyOf))
		case "MutatingAdmissionPolicyBinding":
			b := made(s, earlier, c, bindingOf)
			mutatingBindings[b.policy] = append(mutatingBindings[b.policy], b)
		case "ValidatingAdmissionPolicyBinding":
			b := made(s, earlier, c, bindingOf)
			validatingBindings[b.policy] = append(validatingBindings[b.policy], b)
		}
	}
	s.mutatingPolicies = bind(mutatingPolicies, mutatingBindings)
	s.validatingPolicies = bind(validatingPolicies, validatingBindings)
	return s
}

// made is what is made of a configuration, now or earlier.
func made[T any](s, earlier *Snapshot, c Configuration, make func(map[string]any) T) T {
	if earlier != nil {
		if was, ok := earlier.compiled[c.ID].(T); ok {
			s.compiled[c.ID] = was
			return was
		}
	}
	out := make(c.Object)
	s.compiled[c.ID] = out
	return out
}

// bind brings together policies and their bindings. A policy without any is for
// nothing.
func bind(policies []*policy, bindings map[string][]*binding) (all []*bound) {
	for _, p := range policies {
		if b := bindings[p.name]; len(b) > 0 {
			all = append(all, &bound{p, b})
		}
	}
	return all
}

// unjudged are the resources that policies are not asked about: they might
// forbid what it takes to change them.
var unjudged = []string{"tokenreviews", "selfsubjectreviews", "subjectaccessreviews", "selfsubjectaccessreviews", "localsubjectaccessreviews", "selfsubjectrulesreviews"}

// hasPolicies reports whether policies are asked about a request.
func hasPolicies(r *Attributes) bool {
	return r.Type.Group != "authentication.k8s.io" && r.Type.Group != "authorization.k8s.io" || !slices.Contains(unjudged, r.Type.Name)
}

// Mutate has policies and webhooks change the object of a request, after the
// server's own plugins have. If that changes the object for one that wants to see
// the outcome, there is a second round.
//
// Errors: *status.Status; those of plugins.
func (s *Snapshot) Mutate(ctx context.Context, r *Attributes, server Server, plugins func(*Attributes) error) error {
	if s == nil || r.isConfiguration() || len(s.mutating)+len(s.mutatingPolicies) == 0 {
		return plugins(r)
	}
	var policies, webhooks reinvocation
	for {
		if r.Object != nil {
			r.Object = object.Copy(r.Object) // what was seen in the first round stays
		}
		if err := plugins(r); err != nil {
			return err
		}
		if hasPolicies(r) {
			if err := mutateByPolicies(ctx, s.mutatingPolicies, r, server, &policies); err != nil {
				return err
			}
		}
		if err := mutate(ctx, s.mutating, r, server, &webhooks); err != nil {
			return err
		}
		if policies.again || !policies.needed && !webhooks.needed {
			return nil
		}
		policies.again, webhooks.again = true, true
	}
}

// Validate has policies and webhooks judge a request whose object is valid.
//
// Errors: *status.Status.
func (s *Snapshot) Validate(ctx context.Context, r *Attributes, server Server) error {
	if s == nil || r.isConfiguration() {
		return nil
	}
	if hasPolicies(r) {
		if err := validateByPolicies(s.validatingPolicies, ctx, r, server); err != nil {
			return err
		}
	}
	return validate(ctx, s.validating, r, server)
}
