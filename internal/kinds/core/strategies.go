// Package core has the strategies of the core group. Pods, Nodes, Services and volumes
// have packages below it.
package core

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"componentstatuses":      {Cells: componentStatusCells}, // not stored
		"configmaps":             configMapStrategy,
		"limitranges":            limitRangeStrategy,
		"namespaces":             namespaceStrategy,
		"podtemplates":           podTemplateStrategy,
		"replicationcontrollers": replicationControllerStrategy,
		"resourcequotas":         resourceQuotaStrategy,
		"secrets":                secretStrategy,
		"serviceaccounts":        serviceAccountStrategy,
	}
}
