package dynamic

import (
	"context"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
)

// Group is the API group of the configurations.
const Group = "admissionregistration.k8s.io"

// A Configuration is a stored object of [Group]: a webhook configuration, a
// policy or a policy binding.
type Configuration struct {
	// ID identifies this version of the object. It is comparable.
	ID     any
	Object map[string]any
}

// A Snapshot is the compiled configuration at one moment. It is immutable. A nil
// Snapshot has no webhooks and no policies.
type Snapshot struct {
	mutatingWebhooks, validatingWebhooks []*webhook
	mutatingPolicies, validatingPolicies []*boundPolicy
	compiled                             map[any]any // by ID of the Configuration
}

// New compiles configurations, which are sorted by name. It does not compile
// again what previous, which may be nil, has compiled. It returns nil if there
// are no configurations.
func New(all []Configuration, previous *Snapshot) *Snapshot {
	if len(all) == 0 {
		return nil
	}
	s := &Snapshot{compiled: map[any]any{}}
	var mutatingPolicies, validatingPolicies []*policy
	mutatingBindings, validatingBindings := map[string][]*binding{}, map[string][]*binding{}
	for _, c := range all {
		switch c.Object["kind"] {
		case "MutatingWebhookConfiguration":
			s.mutatingWebhooks = append(s.mutatingWebhooks, compileOnce(s, previous, c, compileWebhooks)...)
		case "ValidatingWebhookConfiguration":
			s.validatingWebhooks = append(s.validatingWebhooks, compileOnce(s, previous, c, compileWebhooks)...)
		case "MutatingAdmissionPolicy":
			mutatingPolicies = append(mutatingPolicies, compileOnce(s, previous, c, compilePolicy))
		case "ValidatingAdmissionPolicy":
			validatingPolicies = append(validatingPolicies, compileOnce(s, previous, c, compilePolicy))
		case "MutatingAdmissionPolicyBinding":
			b := compileOnce(s, previous, c, compileBinding)
			mutatingBindings[b.policy] = append(mutatingBindings[b.policy], b)
		case "ValidatingAdmissionPolicyBinding":
			b := compileOnce(s, previous, c, compileBinding)
			validatingBindings[b.policy] = append(validatingBindings[b.policy], b)
		}
	}
	s.mutatingPolicies = bind(mutatingPolicies, mutatingBindings)
	s.validatingPolicies = bind(validatingPolicies, validatingBindings)
	return s
}

// compileOnce compiles a configuration, or returns what previous has.
func compileOnce[T any](s, previous *Snapshot, c Configuration, compile func(map[string]any) T) T {
	if previous != nil {
		if compiled, ok := previous.compiled[c.ID].(T); ok {
			s.compiled[c.ID] = compiled
			return compiled
		}
	}
	compiled := compile(c.Object)
	s.compiled[c.ID] = compiled
	return compiled
}

// bind returns the policies that have bindings; others have no effect.
func bind(policies []*policy, bindings map[string][]*binding) (all []*boundPolicy) {
	for _, p := range policies {
		if b := bindings[p.name]; len(b) > 0 {
			all = append(all, &boundPolicy{p, b})
		}
	}
	return all
}

// exemptReviews are the resources that policies do not handle, so that a policy
// cannot block the requests that are needed to change it.
var exemptReviews = []string{"tokenreviews", "selfsubjectreviews", "subjectaccessreviews", "selfsubjectaccessreviews", "localsubjectaccessreviews", "selfsubjectrulesreviews"}

// isExempt reports whether policies do not handle the request: it is for policies or their
// bindings, or for one of the exempt reviews. They handle configurations of webhooks.
func (r *request) isExempt() bool {
	switch r.Type.Group {
	case Group:
		return strings.Contains(r.Type.Name, "admissionpolic")
	case "authentication.k8s.io", "authorization.k8s.io":
		return slices.Contains(exemptReviews, r.Type.Name)
	}
	return false
}

// Mutate runs plugins, which may be nil, and then lets policies and webhooks
// change the object of a request. If that changes the object after a policy or
// webhook that asks for reinvocation, all run a second time.
//
// Webhooks do not handle requests to [Group] itself.
//
// Errors: *status.Status; those of plugins.
func (s *Snapshot) Mutate(ctx context.Context, a *admission.Attributes, server Server, plugins func(*admission.Attributes) error) error {
	if plugins == nil {
		plugins = func(*admission.Attributes) error { return nil }
	}
	r := &request{a, server}
	if s == nil || len(s.mutatingWebhooks)+len(s.mutatingPolicies) == 0 || a.Type.Group == Group && r.isExempt() {
		return plugins(a)
	}
	var policies, webhooks reinvocation
	for {
		if r.Object != nil {
			r.Object = object.Copy(r.Object) // keeps what the first round saw
		}
		if err := plugins(a); err != nil {
			return err
		}
		if !r.isExempt() {
			if err := mutateByPolicies(ctx, s.mutatingPolicies, r, &policies); err != nil {
				return err
			}
		}
		if r.Type.Group != Group {
			if err := mutateByWebhooks(ctx, s.mutatingWebhooks, r, &webhooks); err != nil {
				return err
			}
		}
		if policies.isSecond || !policies.isNeeded && !webhooks.isNeeded {
			return nil
		}
		policies.isSecond, webhooks.isSecond = true, true
	}
}

// Validate lets policies and webhooks check a request with a valid object.
//
// Errors: *status.Status.
func (s *Snapshot) Validate(ctx context.Context, a *admission.Attributes, server Server) error {
	if s == nil {
		return nil
	}
	r := &request{a, server}
	if !r.isExempt() {
		if err := validateByPolicies(ctx, s.validatingPolicies, r); err != nil {
			return err
		}
	}
	if r.Type.Group == Group {
		return nil
	}
	return validateByWebhooks(ctx, s.validatingWebhooks, r)
}
