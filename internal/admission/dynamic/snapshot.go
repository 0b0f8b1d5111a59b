package dynamic

import (
	"context"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/kinds/admissionregistration"
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
	// Static says that it is in a file of the server and not in the store: it handles
	// requests to [Group] too, and is bound only to others in files.
	Static bool
}

// A Snapshot is the compiled configuration at one moment. It is immutable. A nil
// Snapshot has no webhooks and no policies.
type Snapshot struct {
	mutatingWebhooks, validatingWebhooks hooks[*webhook]
	mutatingPolicies, validatingPolicies hooks[*boundPolicy]
	compiled                             map[any]any // by ID of the Configuration
	profile                              *coverage.Profile
}

// A hooks is webhooks or policies: first those in files, then those in the store.
type hooks[T any] struct {
	all    []T
	static int // the number of those in files
}

func (h *hooks[T]) add(static bool, more ...T) {
	h.all = append(h.all, more...)
	if static {
		h.static = len(h.all)
	}
}

// of returns those that handle a request: all, or only those in files if the request
// is exempt.
func (h hooks[T]) of(exempt bool) []T {
	if exempt {
		return h.all[:h.static]
	}
	return h.all
}

// A bindingKey is the name of the policy of bindings in files, or in the store.
type bindingKey struct {
	static bool
	policy string
}

// New compiles configurations: first those in files, then those in the store, each sorted
// by name. It does not compile again what previous, which may be nil, has compiled for the same
// profile. The profile counts the results of expressions; nil counts none. New returns nil if there
// are no configurations.
func New(all []Configuration, previous *Snapshot, profile *coverage.Profile) *Snapshot {
	if len(all) == 0 {
		return nil
	}
	if previous != nil && previous.profile != profile {
		previous = nil
	}
	s := &Snapshot{compiled: map[any]any{}, profile: profile}
	var mutatingPolicies, validatingPolicies hooks[*policy]
	mutatingBindings, validatingBindings := map[bindingKey][]*binding{}, map[bindingKey][]*binding{}
	for _, c := range all {
		switch c.Object["kind"] {
		case "MutatingWebhookConfiguration":
			s.mutatingWebhooks.add(c.Static, compileOnce(s, previous, c, compileWebhooks)...)
		case "ValidatingWebhookConfiguration":
			s.validatingWebhooks.add(c.Static, compileOnce(s, previous, c, compileWebhooks)...)
		case "MutatingAdmissionPolicy":
			mutatingPolicies.add(c.Static, compileOnce(s, previous, c, compilePolicy))
		case "ValidatingAdmissionPolicy":
			validatingPolicies.add(c.Static, compileOnce(s, previous, c, compilePolicy))
		case "MutatingAdmissionPolicyBinding":
			b := compileOnce(s, previous, c, compileBinding)
			at := bindingKey{c.Static, b.policy}
			mutatingBindings[at] = append(mutatingBindings[at], b)
		case "ValidatingAdmissionPolicyBinding":
			b := compileOnce(s, previous, c, compileBinding)
			at := bindingKey{c.Static, b.policy}
			validatingBindings[at] = append(validatingBindings[at], b)
		}
	}
	s.mutatingPolicies = bind(mutatingPolicies, mutatingBindings)
	s.validatingPolicies = bind(validatingPolicies, validatingBindings)
	return s
}

// compileOnce compiles a configuration, or returns what previous has.
func compileOnce[T any](s, previous *Snapshot, c Configuration, compile func(map[string]any, *coverage.Profile) T) T {
	if previous != nil {
		if compiled, ok := previous.compiled[c.ID].(T); ok {
			s.compiled[c.ID] = compiled
			return compiled
		}
	}
	compiled := compile(c.Object, s.profile)
	s.compiled[c.ID] = compiled
	return compiled
}

// bind returns the policies that have bindings; others have no effect.
func bind(policies hooks[*policy], bindings map[bindingKey][]*binding) (all hooks[*boundPolicy]) {
	for i, p := range policies.all {
		static := i < policies.static
		if b := bindings[bindingKey{static, p.name}]; len(b) > 0 {
			all.add(static, &boundPolicy{p, b})
		}
	}
	return all
}

// isConfiguration reports whether the request is for webhooks, policies or bindings, which
// webhooks in the store do not handle.
func (r *request) isConfiguration() bool { return r.Type.Group == Group }

// isPolicy reports whether the request is for policies or bindings, which policies in the
// store do not handle. They handle configurations of webhooks.
func (r *request) isPolicy() bool {
	return r.isConfiguration() && strings.Contains(r.Type.Name, "admissionpolic")
}

// policiesFor returns the policies that handle the request.
func policiesFor(r *request, h hooks[*boundPolicy]) []*boundPolicy {
	if admissionregistration.IsExcluded(r.Type.Group, r.Type.Name) {
		return nil
	}
	return h.of(r.isPolicy())
}

// webhooksFor returns the webhooks that handle the request.
func webhooksFor(r *request, h hooks[*webhook]) []*webhook {
	if admissionregistration.IsExcluded(r.Type.Group, r.Type.Name) && r.Access.Release().Enabled(admissionregistration.ExclusionGate) {
		return nil
	}
	return h.of(r.isConfiguration())
}

// Mutate runs plugins, which may be nil, and then lets policies and webhooks
// change the object of a request. If that changes the object after a policy or
// webhook that asks for reinvocation, all run a second time.
//
// Only webhooks in files handle requests to [Group] itself, and only policies in files those
// to policies and bindings.
//
// Errors: *status.Status; those of plugins.
func (s *Snapshot) Mutate(ctx context.Context, a *admission.Attributes, server Server, plugins func(*admission.Attributes) error) error {
	if plugins == nil {
		plugins = func(*admission.Attributes) error { return nil }
	}
	r := &request{Attributes: a, server: server}
	if s == nil {
		return plugins(a)
	}
	mutatingPolicies, mutatingWebhooks := policiesFor(r, s.mutatingPolicies), webhooksFor(r, s.mutatingWebhooks)
	if len(mutatingPolicies)+len(mutatingWebhooks) == 0 {
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
		if err := mutateByPolicies(ctx, mutatingPolicies, r, &policies); err != nil {
			return err
		}
		if err := mutateByWebhooks(ctx, mutatingWebhooks, r, &webhooks); err != nil {
			return err
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
	r := &request{Attributes: a, server: server}
	if err := validateByPolicies(ctx, policiesFor(r, s.validatingPolicies), r); err != nil {
		return err
	}
	return validateByWebhooks(ctx, webhooksFor(r, s.validatingWebhooks), r)
}
