// Package autoscaling has the strategies of the autoscaling group: HorizontalPodAutoscalers.
package autoscaling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"horizontalpodautoscalers.autoscaling": horizontalPodAutoscalerStrategy,
	}
}
