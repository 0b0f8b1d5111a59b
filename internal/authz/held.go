package authz

import (
	"slices"

	"github.com/kubefake/kubefake/internal/authn"
)

// A HeldRole is a role that a binding grants to a user.
type HeldRole struct {
	RoleRef
	// Namespace is that of the binding; "" for a ClusterRoleBinding.
	Namespace string
	Rules     []Rule
}

// HeldRoles returns the roles that bindings grant to a user by name, or as a service account: those
// of the cluster, and those of namespaces. Roles of the groups of the user are not in it. A binding
// to a role that does not exist grants nothing.
func HeldRoles(p Policy, user string, namespaces ...string) (out []HeldRole) {
	for _, namespace := range slices.Concat([]string{""}, namespaces) {
		for b := range p.Bindings(namespace).of(&authn.User{Name: user}) {
			rules, err := p.Rules(b.RoleRef, namespace)
			if err == nil {
				out = append(out, HeldRole{b.RoleRef, namespace, rules})
			}
		}
	}
	return out
}
