package autoscaling

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// autoscalerCells returns the cells of a HorizontalPodAutoscaler of either version.
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
	if r.String("apiVersion") == "autoscaling/v1" {
		specs = v1Metrics(r, "spec", "targetCPUUtilizationPercentage", "metrics", "target")
		statuses = v1Metrics(r, "status", "currentCPUUtilizationPercentage", "current-metrics", "current")
	}
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

// v1Metrics converts the metrics of version 1 to version 2: the CPU metric has
// a field, the others are JSON in an annotation. side is target or current, the
// prefix of value names in version 1.
func v1Metrics(r table.Row, part, cpu, annotation, side string) []map[string]any {
	var out []map[string]any
	if r.Has(part, cpu) {
		out = append(out, map[string]any{"type": "Resource", "resource": map[string]any{
			"name": "cpu", side: map[string]any{"averageUtilization": r.Int(part, cpu)},
		}})
	}
	var list []any
	if json.Unmarshal([]byte(r.Annotation("autoscaling.alpha.kubernetes.io/"+annotation)), &list) != nil {
		return out
	}
	for m := range object.Each(list) {
		typ := object.String(m, "type")
		old := object.Map(m, metricFields[typ])
		values := map[string]any{}
		for name, from := range map[string][]string{
			"value":              {side + "Value"},
			"averageValue":       {side + "AverageValue", "averageValue"},
			"averageUtilization": {side + "AverageUtilization"},
		} {
			for _, f := range from {
				switch v := old[f].(type) {
				case string:
					values[name] = v
				case float64:
					values[name] = int64(v)
				}
			}
		}
		out = append(out, map[string]any{"type": typ, metricFields[typ]: map[string]any{"name": old["name"], side: values}})
	}
	return out
}
