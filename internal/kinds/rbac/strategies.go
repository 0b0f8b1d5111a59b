// Package rbac has the strategies of the rbac.authorization.k8s.io group: Roles and their bindings.
package rbac

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"clusterrolebindings.rbac.authorization.k8s.io": clusterRoleBindingStrategy,
		"clusterroles.rbac.authorization.k8s.io":        clusterRoleStrategy,
		"rolebindings.rbac.authorization.k8s.io":        roleBindingStrategy,
		"roles.rbac.authorization.k8s.io":               roleStrategy,
	}
}
