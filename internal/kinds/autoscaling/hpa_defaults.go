package autoscaling

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
)

// defaultAutoscaler sets the defaults of an autoscaler. In version v1 it sets only
// those of the fields that both versions have.
func defaultAutoscaler(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
	object.SetDefault(spec, "minReplicas", int64(1))
	if obj["apiVersion"] != "autoscaling/v2" {
		return
	}
	kind.RemoveAnnotations(obj, autoscalerAnnotations)
	if len(object.List(spec, "metrics")) == 0 {
		spec["metrics"] = []any{cpuMetric(int64(defaultCPUUtilization))}
	}
	if behavior := object.Map(spec, "behavior"); behavior != nil {
		up, down := object.EnsureMap(behavior, "scaleUp"), object.EnsureMap(behavior, "scaleDown")
		object.SetDefault(up, "stabilizationWindowSeconds", int64(0))
		object.SetDefault(up, "selectPolicy", "Max")
		object.SetDefault(up, "policies", []any{scalingPolicy("Pods", 4), scalingPolicy("Percent", 100)})
		object.SetDefault(down, "selectPolicy", "Max")
		object.SetDefault(down, "policies", []any{scalingPolicy("Percent", 100)})
	}
}

// scalingPolicy returns a policy that allows a change by value every 15 seconds.
func scalingPolicy(unit string, value int64) map[string]any {
	return map[string]any{"type": unit, "value": value, "periodSeconds": int64(15)}
}
