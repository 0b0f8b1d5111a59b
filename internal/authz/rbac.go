package authz

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// A Policy holds roles and bindings.
type Policy interface {
	// Bindings returns the RoleBindings of a namespace, or the
	// ClusterRoleBindings for "", in the order of their names.
	Bindings(namespace string) iter.Seq[*Binding]

	// Rules returns the rules of the role that a binding in the namespace refers
	// to. It fails with a *MissingRoleError if the role does not exist, and with
	// another error if ref refers to neither a Role nor a ClusterRole.
	Rules(ref RoleRef, namespace string) ([]Rule, error)
}

// A MissingRoleError reports that the role of a binding does not exist.
type MissingRoleError struct{ Kind, Name string }

func (e *MissingRoleError) Error() string {
	return fmt.Sprintf("%s.rbac.authorization.k8s.io %q not found", strings.ToLower(e.Kind), e.Name)
}

// A Decision reports whether an action is allowed. Reason may be "".
type Decision struct {
	Allowed bool
	Reason  string
}

// An RBAC authorizes by the roles and bindings of a policy. With a nil Policy
// every user may do everything.
type RBAC struct {
	Policy Policy

	// Reason is that of denials without another one.
	Reason string
}

// DenyAll denies what the policy does not permit with the reason of the mode AlwaysDeny.
// A nil Policy permits nothing from then on.
func (a *RBAC) DenyAll() {
	if a.Policy == nil {
		a.Policy = nothing{}
	}
	a.Reason = "Everything is forbidden."
}

// nothing is a Policy without bindings.
type nothing struct{}

// Bindings implements [Policy].
func (nothing) Bindings(string) iter.Seq[*Binding] { return func(func(*Binding) bool) {} }

// Rules implements [Policy].
func (nothing) Rules(ref RoleRef, _ string) ([]Rule, error) {
	return nil, &MissingRoleError{Kind: ref.Kind, Name: ref.Name}
}

// Authorize decides whether the user may do at. Members of system:masters may do
// everything.
func (a RBAC) Authorize(u *authn.User, at *Attributes) Decision {
	if a.Policy == nil || u.InGroup(authn.MastersGroup) {
		return Decision{Allowed: true}
	}
	var errs []error
	for binding, subject := range a.bindings(u, at.Namespace) {
		rules, err := a.Policy.Rules(binding.RoleRef, binding.Metadata.Namespace)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if slices.ContainsFunc(rules, func(r Rule) bool { return r.Permits(at) }) {
			return Decision{Allowed: true, Reason: binding.reason(subject)}
		}
	}
	if len(errs) > 0 {
		return Decision{Reason: "RBAC: " + status.Aggregate(errs)}
	}
	return Decision{Reason: a.Reason}
}

// Check fails with 403 if the user may not do at.
func (a RBAC) Check(u *authn.User, at Attributes) error {
	if d := a.Authorize(u, &at); !d.Allowed {
		return Forbidden(u, at, d.Reason)
	}
	return nil
}

// everything are the rules of every user on a server without RBAC.
var everything = []Rule{
	{Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}},
	{Verbs: []string{all}, NonResourceURLs: []string{all}},
}

// Rules returns the rules that the user is granted in a namespace, or at cluster
// scope for "", and the errors of bindings to missing roles.
func (a RBAC) Rules(u *authn.User, namespace string) (rules []Rule, errs []error) {
	if a.Policy == nil {
		return everything, nil
	}
	for binding := range a.bindings(u, namespace) {
		granted, err := a.Policy.Rules(binding.RoleRef, binding.Metadata.Namespace)
		if err != nil {
			errs = append(errs, err)
		}
		rules = append(rules, granted...)
	}
	return rules, errs
}

// bindings returns the bindings that apply to the user in the namespace, each
// with its subject. ClusterRoleBindings come first.
func (a RBAC) bindings(u *authn.User, namespace string) iter.Seq2[*Binding, *Subject] {
	scopes := []string{"", namespace}
	if namespace == "" {
		scopes = scopes[:1]
	}
	return func(yield func(*Binding, *Subject) bool) {
		for _, scope := range scopes {
			for b := range a.Policy.Bindings(scope) {
				if s := b.subjectOf(u); s != nil && !yield(b, s) {
					return
				}
			}
		}
	}
}
