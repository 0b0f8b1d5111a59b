package autoscaling

import (
	"encoding/json"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// An autoscaler in version 1 has a field for the use of the CPU alone. What else
// it measures, how it behaves and what its status tells are in annotations, as
// JSON: metrics in a form of their own, behavior as kube-apiserver's own Go type
// prints it.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

// autoscalerAnnotations carry in version 1 what only version 2 has fields for.
var autoscalerAnnotations = []string{
	metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation,
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
}

// A metricMember is a member of a metric in version 1: where version 2 has it,
// and what it is if version 2 does not have it and version 1 must, nil if it
// need not.
type metricMember struct {
	name string
	path []string
	zero any
}

// A metricForm is how version 1 writes the metrics of a kind, members in order.
type metricForm struct {
	kind    string
	members []metricMember
}

func metricMemberAt(name string, zero any, path ...string) metricMember {
	return metricMember{name, path, zero}
}

// selectorAt is the selector of a metric, and nameAt its name.
func selectorAt(name string) metricMember { return metricMemberAt(name, nil, "metric", "selector") }

var (
	nameAt     = metricMemberAt("metricName", "", "metric", "name")
	resourceAt = metricMemberAt("name", "", "name")
	objectAt   = metricMemberAt("target", map[string]any{}, "describedObject")
)

// specForms are the metrics that an autoscaler is to keep to.
var specForms = []metricForm{
	{"object", []metricMember{objectAt, nameAt, metricMemberAt("targetValue", "0", "target", "value"),
		selectorAt("selector"), metricMemberAt("averageValue", nil, "target", "averageValue")}},
	{"pods", []metricMember{nameAt, metricMemberAt("targetAverageValue", "0", "target", "averageValue"), selectorAt("selector")}},
	{"resource", []metricMember{resourceAt, metricMemberAt("targetAverageUtilization", nil, "target", "averageUtilization"),
		metricMemberAt("targetAverageValue", nil, "target", "averageValue")}},
	{"containerResource", []metricMember{resourceAt, metricMemberAt("targetAverageUtilization", nil, "target", "averageUtilization"),
		metricMemberAt("targetAverageValue", nil, "target", "averageValue"), metricMemberAt("container", "", "container")}},
	{"external", []metricMember{nameAt, selectorAt("metricSelector"), metricMemberAt("targetValue", nil, "target", "value"),
		metricMemberAt("targetAverageValue", nil, "target", "averageValue")}},
}

// statusForms are the metrics that it finds.
var statusForms = []metricForm{
	{"object", []metricMember{objectAt, nameAt, metricMemberAt("currentValue", "0", "current", "value"),
		selectorAt("selector"), metricMemberAt("averageValue", nil, "current", "averageValue")}},
	{"pods", []metricMember{nameAt, metricMemberAt("currentAverageValue", "0", "current", "averageValue"), selectorAt("selector")}},
	{"resource", []metricMember{resourceAt, metricMemberAt("currentAverageUtilization", nil, "current", "averageUtilization"),
		metricMemberAt("currentAverageValue", "0", "current", "averageValue")}},
	{"containerResource", []metricMember{resourceAt, metricMemberAt("currentAverageUtilization", nil, "current", "averageUtilization"),
		metricMemberAt("currentAverageValue", "0", "current", "averageValue"), metricMemberAt("container", "", "container")}},
	{"external", []metricMember{nameAt, selectorAt("metricSelector"), metricMemberAt("currentValue", "0", "current", "value"),
		metricMemberAt("currentAverageValue", nil, "current", "averageValue")}},
}

// isCPU reports whether a metric is the one that version 1 has a field for.
func isCPU(metric map[string]any) bool {
	return metric["type"] == "Resource" && object.String(metric, "resource", "name") == "cpu"
}

// cpuUse is how much of the CPU a metric of it is about, if it says so.
func cpuUse(metric map[string]any, member string) (any, bool) {
	use := object.Value(metric, "resource", member, "averageUtilization")
	return use, isCPU(metric) && use != nil
}

// sameInAutoscalers is an autoscaler of what is the same in both versions.
func sameInAutoscalers(obj map[string]any) map[string]any {
	spec, status := map[string]any{}, map[string]any{}
	for _, name := range []string{"scaleTargetRef", "minReplicas", "maxReplicas"} {
		object.Keep(spec, object.Map(obj, "spec"), name)
	}
	for _, name := range []string{"observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"} {
		object.Keep(status, object.Map(obj, "status"), name)
	}
	return map[string]any{"kind": obj["kind"], "metadata": obj["metadata"], "spec": spec, "status": status}
}

func autoscalerToV1(obj map[string]any) map[string]any {
	spec, status := object.Map(obj, "spec"), object.Map(obj, "status")
	out := sameInAutoscalers(obj)
	outSpec, outStatus := object.Map(out, "spec"), object.Map(out, "status")
	kind.RemoveAnnotations(out, autoscalerAnnotations)
	annotate := func(name, text string) { object.EnsureMap(object.Meta(out), "annotations")[name] = text }
	var others []map[string]any
	for metric := range object.Each(spec["metrics"]) {
		if use, ok := cpuUse(metric, "target"); ok {
			object.SetDefault(outSpec, "targetCPUUtilizationPercentage", use)
		} else {
			others = append(others, metric)
		}
	}
	if len(others) > 0 {
		annotate(metricsAnnotation, writeMetrics(others, specForms))
	}
	var current []map[string]any
	for metric := range object.Each(status["currentMetrics"]) {
		if use, ok := cpuUse(metric, "current"); ok {
			outStatus["currentCPUUtilizationPercentage"] = use
		}
		current = append(current, metric)
	}
	if len(current) > 0 {
		annotate(currentMetricsAnnotation, writeMetrics(current, statusForms))
	}
	if behavior, ok := spec["behavior"]; ok {
		annotate(behaviorAnnotation, jsonText(validation.AsGoType("*autoscaling.HorizontalPodAutoscalerBehavior", behavior)))
	}
	if conditions := object.List(status, "conditions"); len(conditions) > 0 {
		annotate(conditionsAnnotation, writeConditions(conditions))
	}
	return out
}

// jsonText is a value as JSON.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("kinds: " + err.Error()) // unreachable: the value was decoded from JSON
	}
	return string(text)
}

// ordered writes an object member by member.
type ordered struct{ strings.Builder }

func (o *ordered) add(name string, v any) {
	if o.Len() > 0 {
		o.WriteByte(',')
	}
	o.WriteString(jsonText(name) + ":" + jsonText(v))
}

func (o *ordered) object() json.RawMessage { return json.RawMessage("{" + o.String() + "}") }

func writeMetrics(metrics []map[string]any, forms []metricForm) string {
	var out []json.RawMessage
	for _, metric := range metrics {
		var o ordered
		o.add("type", object.String(metric, "type"))
		for _, form := range forms {
			if m := object.Map(metric, form.kind); m != nil {
				o.add(form.kind, form.write(m))
			}
		}
		out = append(out, o.object())
	}
	return jsonText(out)
}

func (f metricForm) write(metric map[string]any) json.RawMessage {
	var o ordered
	for _, m := range f.members {
		v := object.Value(metric, m.path...)
		if v == nil {
			v = m.zero
		}
		if v == nil {
			continue
		}
		switch m.path[len(m.path)-1] {
		case "describedObject":
			v = writeReference(v)
		case "selector":
			v = validation.AsGoType("metav1.LabelSelector", v)
		}
		o.add(m.name, v)
	}
	return o.object()
}

func writeReference(v any) json.RawMessage {
	ref, _ := v.(map[string]any)
	var o ordered
	o.add("kind", object.String(ref, "kind"))
	o.add("name", object.String(ref, "name"))
	if apiVersion := object.String(ref, "apiVersion"); apiVersion != "" {
		o.add("apiVersion", apiVersion)
	}
	return o.object()
}

func writeConditions(conditions []any) string {
	var out []json.RawMessage
	for c := range object.Each(conditions) {
		var o ordered
		o.add("type", object.String(c, "type"))
		o.add("status", object.String(c, "status"))
		o.add("lastTransitionTime", c["lastTransitionTime"])
		for _, name := range []string{"reason", "message"} {
			if s := object.String(c, name); s != "" {
				o.add(name, s)
			}
		}
		out = append(out, o.object())
	}
	return jsonText(out)
}

// autoscalerFromV1 reads the annotations. One that does not make sense counts
// for nothing.
func autoscalerFromV1(obj map[string]any) map[string]any {
	spec, status := object.Map(obj, "spec"), object.Map(obj, "status")
	annotations := object.Map(obj, "metadata", "annotations")
	out := sameInAutoscalers(obj)
	outSpec, outStatus := object.Map(out, "spec"), object.Map(out, "status")
	metrics, _ := readMetrics(annotations[metricsAnnotation], specForms, withTargetType)
	if use := spec["targetCPUUtilizationPercentage"]; use != nil {
		metrics = append(metrics, cpuMetric(use))
	}
	if len(metrics) == 0 {
		metrics = []any{cpuMetric(int64(defaultCPUUse))}
	}
	outSpec["metrics"] = metrics
	if behavior := readBehavior(annotations[behaviorAnnotation]); len(behavior) > 0 {
		outSpec["behavior"] = behavior
	}
	if use := status["currentCPUUtilizationPercentage"]; use != nil {
		outStatus["currentMetrics"] = []any{map[string]any{"type": "Resource", "resource": map[string]any{
			"name": "cpu", "current": map[string]any{"averageUtilization": use}}}}
	}
	if current, ok := readMetrics(annotations[currentMetricsAnnotation], statusForms, nil); ok {
		outStatus["currentMetrics"] = current
	}
	if conditions, ok := readList(annotations[conditionsAnnotation]); ok {
		if status, ok := sensible(map[string]any{"status": map[string]any{"conditions": conditions}}); ok {
			object.Keep(outStatus, object.Map(status, "status"), "conditions")
		}
	}
	kind.RemoveAnnotations(out, autoscalerAnnotations)
	return out
}

// defaultCPUUse is what an autoscaler keeps to that says nothing else, in
// percent.
const defaultCPUUse = 80

func cpuMetric(use any) map[string]any {
	return map[string]any{"type": "Resource", "resource": map[string]any{
		"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": use}}}
}

// autoscalerV2 decodes what the annotations hold.
var autoscalerV2 = resource.BuiltinCodec(resource.Kind{
	GroupVersion: resource.GroupVersion{Group: "autoscaling", Version: "v2"}, Kind: "HorizontalPodAutoscaler"})

// sensible is a part of an autoscaler in canonical form, if its types are right.
func sensible(obj map[string]any) (map[string]any, bool) {
	normal, _, err := autoscalerV2.Normalize(obj, false)
	return normal, err == nil
}

func readList(annotation any) ([]any, bool) {
	text, ok := annotation.(string)
	if !ok {
		return nil, false
	}
	value, _, err := wire.DecodeUntyped([]byte(`{"list":`+text+`}`), wire.DecodeOptions{})
	if err != nil {
		return nil, false
	}
	list, ok := value["list"].([]any)
	return list, ok
}

// readMetrics reads metrics, each completed if there is more to it than version
// 1 says, and reports whether there are any to read.
func readMetrics(annotation any, forms []metricForm, complete func(kind string, metric map[string]any)) ([]any, bool) {
	list, ok := readList(annotation)
	if !ok {
		return nil, false
	}
	out := []any{}
	for _, e := range list {
		from, _ := e.(map[string]any)
		metric := map[string]any{"type": from["type"]}
		for _, form := range forms {
			if m := object.Map(from, form.kind); m != nil {
				read := form.read(m)
				if complete != nil {
					complete(form.kind, read)
				}
				metric[form.kind] = read
			}
		}
		out = append(out, metric)
	}
	member := map[bool]string{true: "metrics", false: "currentMetrics"}[complete != nil]
	part := map[bool]string{true: "spec", false: "status"}[complete != nil]
	normal, ok := sensible(map[string]any{part: map[string]any{member: out}})
	return object.List(normal, part, member), ok
}

func (f metricForm) read(from map[string]any) map[string]any {
	metric := map[string]any{}
	for _, m := range f.members {
		v := from[m.name]
		if v == nil {
			v = object.Copy(m.zero)
		}
		if v != nil {
			object.Set(metric, v, m.path...)
		}
	}
	return metric
}

// withTargetType says what a metric's target is, which version 1 leaves to its
// members.
func withTargetType(kind string, metric map[string]any) {
	target := object.EnsureMap(metric, "target")
	typ := "AverageValue"
	switch {
	case kind == "object" && target["averageValue"] == nil, kind == "external" && target["value"] != nil:
		typ = "Value"
	case target["averageUtilization"] != nil:
		typ = "Utilization"
	}
	target["type"] = typ
	if value, ok := target["value"].(string); ok && kind == "object" && typ == "AverageValue" && !quantity.IsPositive(strings.TrimPrefix(value, "-")) {
		delete(target, "value") // version 1 cannot leave it out
	}
}

// readBehavior reads what a Go type printed: its names begin with capitals.
func readBehavior(annotation any) map[string]any {
	text, ok := annotation.(string)
	if !ok {
		return nil
	}
	value, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
	if err != nil {
		return nil
	}
	lowered, _ := lowerNames(value).(map[string]any)
	normal, ok := sensible(map[string]any{"spec": map[string]any{"behavior": lowered}})
	if !ok {
		return nil
	}
	return object.Map(normal, "spec", "behavior")
}

func lowerNames(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if name != "" {
				name = strings.ToLower(name[:1]) + name[1:]
			}
			out[name] = lowerNames(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = lowerNames(e)
		}
		return out
	}
	return v
}

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: resource.GroupVersion{Group: "autoscaling", Version: "v1"}, Name: "horizontalpodautoscalers"}: {
			ToStored: autoscalerFromV1, FromStored: autoscalerToV1, Annotations: autoscalerAnnotations,
		},
	}
}
