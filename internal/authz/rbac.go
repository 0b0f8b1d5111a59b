package authz

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// A Policy holds roles and bindings.
type Policy interface {
	// Bindings returns the RoleBindings of a namespace, or the ClusterRoleBindings for "".
	Bindings(namespace string) *Bindings

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

// An RBAC is the mode RBAC: it allows what the roles and bindings of a policy permit.
type RBAC struct{ Policy Policy }

// Authorize implements [Mode].
func (a RBAC) Authorize(_ context.Context, u *authn.User, at *Attributes) Decision {
	var errs []error
	for binding, subject := range a.bindings(u, at.Namespace) {
		rules, err := a.Policy.Rules(binding.RoleRef, binding.Metadata.Namespace)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for i := range rules {
			if rules[i].Permits(at) {
				return Decision{Allowed: true, Reason: binding.reason(subject)}
			}
		}
	}
	if len(errs) > 0 {
		return Decision{Reason: "RBAC: " + status.Aggregate(errs)}
	}
	return Decision{}
}

// Rules implements [Mode]. The errors are those of bindings to missing roles.
func (a RBAC) Rules(u *authn.User, namespace string) (rules []Rule, errs []error) {
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
			for b, s := range a.Policy.Bindings(scope).of(u) {
				if !yield(b, s) {
					return
				}
			}
		}
	}
}
