// Package flowcontrol has the strategies of the flowcontrol.apiserver.k8s.io group: FlowSchemas and
// PriorityLevelConfigurations.
package flowcontrol

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"flowschemas.flowcontrol.apiserver.k8s.io":                 flowSchemaStrategy,
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": priorityLevelConfigurationStrategy,
	}
}
