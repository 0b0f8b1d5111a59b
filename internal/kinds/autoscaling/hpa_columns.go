package autoscaling

import (
	"cmp"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// autoscalerCells returns the cells of a HorizontalPodAutoscaler.
func autoscalerCells(r table.Row) []any {
	minimum := table.Unset
	if r.Has("spec", "minReplicas") {
		minimum = strconv.FormatInt(r.Int("spec", "minReplicas"), 10)
	}
	return []any{
		r.Name(), r.String("spec", "scaleTargetRef", "kind") + "/" + r.String("spec", "scaleTargetRef", "name"),
		scalingTargets(r), minimum, r.Int("spec", "maxReplicas"), r.Int("status", "currentReplicas"), r.Age(),
	}
}

// scalingTargets returns the first two metrics, as current/target.
func scalingTargets(r table.Row) string {
	specs, statuses := r.Objects("spec", "metrics"), r.Objects("status", "currentMetrics")
	if len(specs) == 0 {
		return table.None
	}
	var texts []string
	for i, spec := range specs {
		var status map[string]any
		if i < len(statuses) {
			status = statuses[i]
		}
		texts = append(texts, scalingTarget(spec, status))
	}
	return table.JoinFirst(texts, 2, ", ")
}

// metricFields are the fields of a metric that have its values, by type.
var metricFields = map[string]string{
	"Resource": "resource", "ContainerResource": "containerResource", "Pods": "pods", "Object": "object", "External": "external",
}

// scalingTarget returns a metric as current/target. status is nil for a metric
// without a current value.
func scalingTarget(spec, status map[string]any) string {
	typ := object.String(spec, "type")
	member := metricFields[typ]
	target := object.Map(spec, member, "target")
	current, known := object.Value(status, member, "current").(map[string]any)
	_, average := target["averageValue"]
	switch typ {
	case "Pods":
		return currentValue(known, current, "averageValue") + "/" + quantityText(target, "averageValue")
	case "Object", "External":
		if average {
			return currentValue(current["averageValue"] != nil, current, "averageValue") + "/" + quantityText(target, "averageValue") + " (avg)"
		}
		return currentValue(known, current, "value") + "/" + quantityText(target, "value")
	case "Resource", "ContainerResource":
		prefix := object.String(spec, member, "name") + ": "
		if average {
			return prefix + currentValue(known, current, "averageValue") + "/" + quantityText(target, "averageValue")
		}
		now, want := table.Unknown, "<auto>"
		if n, ok := object.Int(current, "averageUtilization"); ok {
			now = strconv.FormatInt(n, 10) + "%"
		}
		if n, ok := object.Int(target, "averageUtilization"); ok {
			want = strconv.FormatInt(n, 10) + "%"
		}
		return prefix + now + "/" + want
	}
	return "<unknown type>"
}

// currentValue returns a current quantity if it is known.
func currentValue(known bool, current map[string]any, name string) string {
	if !known {
		return table.Unknown
	}
	return quantityText(current, name)
}

// quantityText returns a quantity, "<nil>" if there is none.
func quantityText(obj map[string]any, name string) string {
	return cmp.Or(object.String(obj, name), "<nil>")
}
