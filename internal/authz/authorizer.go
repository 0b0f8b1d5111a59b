package authz

import (
	"context"
	"errors"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// A Decision says whether an action is allowed. Without Allowed and Denied a mode has
// no opinion, and the next one decides; at the end this forbids the action. Reason may
// be "". Err is why a mode could not decide.
type Decision struct {
	Allowed, Denied bool
	Reason          string
	Err             error
}

// A NoRulesError is the error of [Mode.Rules] of a mode that cannot list its rules, such as
// a webhook.
type NoRulesError struct{ Mode string }

func (e NoRulesError) Error() string {
	return e.Mode + " authorizer does not support user rule resolution"
}

// A Mode is one of the modes of --authorization-mode. It is safe for concurrent use.
type Mode interface {
	// Authorize decides whether the user may do at. It fails soon after ctx ends.
	Authorize(ctx context.Context, u *authn.User, at *Attributes) Decision

	// Rules returns the rules that the user is granted in a namespace, or at cluster
	// scope for "", and why they may be incomplete.
	Rules(u *authn.User, namespace string) (rules []Rule, errs []error)
}

// An Authorizer decides who may do what. With the zero value every user may do
// everything.
type Authorizer struct {
	// Modes decide in their order. The first one with an opinion counts. Members of
	// system:masters may do everything, whatever the modes say.
	Modes []Mode

	// Policy has the roles and bindings that CheckEscalation checks, and Granted reads. It is
	// not nil if there are modes.
	Policy Policy
}

// AllowsAll reports whether the user may do everything.
func (a Authorizer) AllowsAll(u *authn.User) bool {
	return len(a.Modes) == 0 || u.InGroup(authn.MastersGroup)
}

// Authorize decides whether the user may do at.
func (a Authorizer) Authorize(ctx context.Context, u *authn.User, at *Attributes) Decision {
	if a.AllowsAll(u) {
		return Decision{Allowed: true}
	}
	return Decide(ctx, a.Modes, u, at)
}

// Decide returns the decision of modes, of which the first one with an opinion counts.
func Decide(ctx context.Context, modes []Mode, u *authn.User, at *Attributes) Decision {
	var reasons []string
	var errs []error
	for _, mode := range modes {
		d := mode.Authorize(ctx, u, at)
		if d.Allowed || d.Denied {
			return d
		}
		if d.Reason != "" {
			reasons = append(reasons, d.Reason)
		}
		if d.Err != nil {
			errs = append(errs, d.Err)
		}
	}
	out := Decision{Reason: strings.Join(reasons, "\n")}
	if len(errs) > 0 {
		out.Err = errors.New(status.Aggregate(errs))
	}
	return out
}

// Check fails with 403 if the user may not do at.
func (a Authorizer) Check(ctx context.Context, u *authn.User, at Attributes) error {
	if d := a.Authorize(ctx, u, &at); !d.Allowed {
		return Forbidden(u, at, d.Reason)
	}
	return nil
}

// Rules returns the rules that the user is granted in a namespace, or at cluster
// scope for "", and why they may be incomplete.
func (a Authorizer) Rules(u *authn.User, namespace string) (rules []Rule, errs []error) {
	if len(a.Modes) == 0 {
		return everything, nil
	}
	for _, mode := range a.Modes {
		granted, modeErrs := mode.Rules(u, namespace)
		rules, errs = append(rules, granted...), append(errs, modeErrs...)
	}
	return rules, errs
}

// AlwaysAllow is the mode that allows everything.
type AlwaysAllow struct{}

// everything are the rules of every user with AlwaysAllow.
var everything = []Rule{
	{Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}},
	{Verbs: []string{all}, NonResourceURLs: []string{all}},
}

// Authorize implements [Mode].
func (AlwaysAllow) Authorize(context.Context, *authn.User, *Attributes) Decision {
	return Decision{Allowed: true}
}

// Rules implements [Mode].
func (AlwaysAllow) Rules(*authn.User, string) ([]Rule, []error) { return everything, nil }

// AlwaysDeny is the mode that allows nothing. Modes after it may still allow.
type AlwaysDeny struct{}

// Authorize implements [Mode].
func (AlwaysDeny) Authorize(context.Context, *authn.User, *Attributes) Decision {
	return Decision{Reason: "Everything is forbidden."}
}

// Rules implements [Mode].
func (AlwaysDeny) Rules(*authn.User, string) ([]Rule, []error) { return nil, nil }
