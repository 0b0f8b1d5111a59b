package table

import (
	"encoding/json"

	"github.com/kubefake/kubefake/internal/object"
)

func printAutoscaler(r row) []any {
	minimum := unset
	if r.has("spec", "minReplicas") {
		minimum = itoa(r.num("spec", "minReplicas"))
	}
	return []any{
		r.name(), r.str("spec", "scaleTargetRef", "kind") + "/" + r.str("spec", "scaleTargetRef", "name"),
		scalingTargets(r), minimum, r.num("spec", "maxReplicas"), r.num("status", "currentReplicas"), r.age(),
	}
}

// scalingTargets returns the first two metrics, as current/target.
func scalingTargets(r row) string {
	specs, statuses := objects(r.list("spec", "metrics")), objects(r.list("status", "currentMetrics"))
	if r.str("apiVersion") == "autoscaling/v1" {
		specs = v1Metrics(r, "spec", "targetCPUUtilizationPercentage", "metrics", "target")
		statuses = v1Metrics(r, "status", "currentCPUUtilizationPercentage", "current-metrics", "current")
	}
	if len(specs) == 0 {
		return none
	}
	var texts []string
	for i, spec := range specs {
		var status map[string]any
		if i < len(statuses) {
			status = statuses[i]
		}
		texts = append(texts, scalingTarget(spec, status))
	}
	return joinFirst(texts, 2, ", ")
}

// metricMembers is the member that has the values of a metric, by type.
var metricMembers = map[string]string{
	"Resource": "resource", "ContainerResource": "containerResource", "Pods": "pods", "Object": "object", "External": "external",
}

func scalingTarget(spec, status map[string]any) string {
	typ := object.String(spec, "type")
	member := metricMembers[typ]
	target := object.Map(spec, member, "target")
	current, known := object.Value(status, member, "current").(map[string]any)
	_, average := target["averageValue"]
	switch typ {
	case "Pods":
		return currentValue(known, current, "averageValue") + "/" + quantity(target, "averageValue")
	case "Object", "External":
		if average {
			return currentValue(current["averageValue"] != nil, current, "averageValue") + "/" + quantity(target, "averageValue") + " (avg)"
		}
		return currentValue(known, current, "value") + "/" + quantity(target, "value")
	case "Resource", "ContainerResource":
		prefix := object.String(spec, member, "name") + ": "
		if average {
			return prefix + currentValue(known, current, "averageValue") + "/" + quantity(target, "averageValue")
		}
		now, want := unknown, "<auto>"
		if n, ok := object.Int(current, "averageUtilization"); ok {
			now = itoa(n) + "%"
		}
		if n, ok := object.Int(target, "averageUtilization"); ok {
			want = itoa(n) + "%"
		}
		return prefix + now + "/" + want
	}
	return "<unknown type>"
}

// currentValue returns a current quantity if it is known.
func currentValue(known bool, current map[string]any, name string) string {
	if !known {
		return unknown
	}
	return quantity(current, name)
}

// quantity returns a quantity, "<nil>" if there is none.
func quantity(obj map[string]any, name string) string { return or(object.String(obj, name), "<nil>") }

// v1Metrics converts the metrics of version 1 to version 2: the CPU metric has
// a field, the others are JSON in an annotation. side is target or current, the
// prefix of value names in version 1.
func v1Metrics(r row, part, cpu, annotation, side string) []map[string]any {
	var out []map[string]any
	if r.has(part, cpu) {
		out = append(out, map[string]any{"type": "Resource", "resource": map[string]any{
			"name": "cpu", side: map[string]any{"averageUtilization": r.num(part, cpu)},
		}})
	}
	var list []any
	if json.Unmarshal([]byte(r.annotation("autoscaling.alpha.kubernetes.io/"+annotation)), &list) != nil {
		return out
	}
	for _, m := range objects(list) {
		typ := object.String(m, "type")
		old := object.Map(m, metricMembers[typ])
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
		out = append(out, map[string]any{"type": typ, metricMembers[typ]: map[string]any{"name": old["name"], side: values}})
	}
	return out
}
