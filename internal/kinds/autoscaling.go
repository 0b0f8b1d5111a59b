package kinds

import "github.com/kubefake/kubefake/internal/object"

// defaultAutoscaler completes an autoscaler of version 2, and of version 1 what
// it shares with that.
func defaultAutoscaler(obj map[string]any) {
	spec := child(obj, "spec")
	fill(spec, "minReplicas", int64(1))
	if obj["apiVersion"] != "autoscaling/v2" {
		return
	}
	dropAnnotations(obj, autoscalerAnnotations)
	if len(object.List(spec, "metrics")) == 0 {
		spec["metrics"] = []any{map[string]any{
			"type": "Resource",
			"resource": map[string]any{
				"name":   "cpu",
				"target": map[string]any{"type": "Utilization", "averageUtilization": int64(80)},
			},
		}}
	}
	if behavior := object.Map(spec, "behavior"); behavior != nil {
		up, down := child(behavior, "scaleUp"), child(behavior, "scaleDown")
		fill(up, "stabilizationWindowSeconds", int64(0))
		fill(up, "selectPolicy", "Max")
		fill(up, "policies", []any{scalingPolicy("Pods", 4), scalingPolicy("Percent", 100)})
		fill(down, "selectPolicy", "Max")
		fill(down, "policies", []any{scalingPolicy("Percent", 100)})
	}
}

// scalingPolicy allows so much change every 15 seconds.
func scalingPolicy(unit string, value int64) map[string]any {
	return map[string]any{"type": unit, "value": value, "periodSeconds": int64(15)}
}

// autoscalerAnnotations carry in version 1 what only version 2 has fields for.
var autoscalerAnnotations = []string{
	"autoscaling.alpha.kubernetes.io/metrics", "autoscaling.alpha.kubernetes.io/current-metrics",
	"autoscaling.alpha.kubernetes.io/conditions", "autoscaling.alpha.kubernetes.io/behavior",
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
}
