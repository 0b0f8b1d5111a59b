package autoscaling

import (
	"encoding/json"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// In version v1 only the CPU utilization has a field. These annotations hold the
// other metrics, the behavior and the conditions as JSON. The metrics have the form
// of v2beta1; the behavior has the field names of kube-apiserver's internal Go type.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

// autoscalerAnnotations are the annotations that hold, in version v1, fields of
// version v2.
var autoscalerAnnotations = []string{
	metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation,
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
}

// A metricField is a field of a metric in the annotations: its name, its path in
// version v2, and its value if it is absent there. A nil zero omits it.
type metricField struct {
	name string
	path []string
	zero any
}

// A metricForm is the form of metrics of one type in the annotations, with their
// fields in order.
type metricForm struct {
	kind   string
	fields []metricField
}

func metricFieldAt(name string, zero any, path ...string) metricField {
	return metricField{name, path, zero}
}

func selectorAt(name string) metricField { return metricFieldAt(name, nil, "metric", "selector") }

var (
	nameAt     = metricFieldAt("metricName", "", "metric", "name")
	resourceAt = metricFieldAt("name", "", "name")
	objectAt   = metricFieldAt("target", map[string]any{}, "describedObject")
)

// specForms are the forms of the metrics in the spec.
var specForms = []metricForm{
	{"object", []metricField{objectAt, nameAt, metricFieldAt("targetValue", "0", "target", "value"),
		selectorAt("selector"), metricFieldAt("averageValue", nil, "target", "averageValue")}},
	{"pods", []metricField{nameAt, metricFieldAt("targetAverageValue", "0", "target", "averageValue"), selectorAt("selector")}},
	{"resource", []metricField{resourceAt, metricFieldAt("targetAverageUtilization", nil, "target", "averageUtilization"),
		metricFieldAt("targetAverageValue", nil, "target", "averageValue")}},
	{"containerResource", []metricField{resourceAt, metricFieldAt("targetAverageUtilization", nil, "target", "averageUtilization"),
		metricFieldAt("targetAverageValue", nil, "target", "averageValue"), metricFieldAt("container", "", "container")}},
	{"external", []metricField{nameAt, selectorAt("metricSelector"), metricFieldAt("targetValue", nil, "target", "value"),
		metricFieldAt("targetAverageValue", nil, "target", "averageValue")}},
}

// statusForms are the forms of the metrics in the status.
var statusForms = []metricForm{
	{"object", []metricField{objectAt, nameAt, metricFieldAt("currentValue", "0", "current", "value"),
		selectorAt("selector"), metricFieldAt("averageValue", nil, "current", "averageValue")}},
	{"pods", []metricField{nameAt, metricFieldAt("currentAverageValue", "0", "current", "averageValue"), selectorAt("selector")}},
	{"resource", []metricField{resourceAt, metricFieldAt("currentAverageUtilization", nil, "current", "averageUtilization"),
		metricFieldAt("currentAverageValue", "0", "current", "averageValue")}},
	{"containerResource", []metricField{resourceAt, metricFieldAt("currentAverageUtilization", nil, "current", "averageUtilization"),
		metricFieldAt("currentAverageValue", "0", "current", "averageValue"), metricFieldAt("container", "", "container")}},
	{"external", []metricField{nameAt, selectorAt("metricSelector"), metricFieldAt("currentValue", "0", "current", "value"),
		metricFieldAt("currentAverageValue", nil, "current", "averageValue")}},
}

// isCPU reports whether metric is the CPU metric, which has fields in version v1.
func isCPU(metric map[string]any) bool {
	return metric["type"] == "Resource" && object.String(metric, "resource", "name") == "cpu"
}

// cpuUtilization returns averageUtilization of a CPU metric, and reports whether
// metric is one that has it.
func cpuUtilization(metric map[string]any, member string) (any, bool) {
	use := object.Value(metric, "resource", member, "averageUtilization")
	return use, isCPU(metric) && use != nil
}

// copySharedFields returns a copy of an autoscaler with only the fields that both
// versions have.
func copySharedFields(obj map[string]any) map[string]any {
	spec, status := map[string]any{}, map[string]any{}
	for _, name := range []string{"scaleTargetRef", "minReplicas", "maxReplicas"} {
		object.Keep(spec, object.ViewOf(obj["spec"]), name)
	}
	for _, name := range []string{"observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"} {
		object.Keep(status, object.ViewOf(obj["status"]), name)
	}
	return map[string]any{"kind": obj["kind"], "metadata": obj["metadata"], "spec": spec, "status": status}
}

func autoscalerToV1(minor int, obj map[string]any) map[string]any {
	spec, status := object.Map(obj, "spec"), object.Map(obj, "status")
	out := copySharedFields(obj)
	outSpec, outStatus := object.Map(out, "spec"), object.Map(out, "status")
	kind.RemoveAnnotations(out, autoscalerAnnotations)
	annotate := func(name, text string) { object.EnsureMap(object.Meta(out), "annotations")[name] = text }
	var others []map[string]any
	for metric := range object.Each(spec["metrics"]) {
		if use, ok := cpuUtilization(metric, "target"); ok {
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
		if use, ok := cpuUtilization(metric, "current"); ok {
			outStatus["currentCPUUtilizationPercentage"] = use
		}
		current = append(current, metric)
	}
	if len(current) > 0 {
		annotate(currentMetricsAnnotation, writeMetrics(current, statusForms))
	}
	if behavior, ok := spec["behavior"]; ok {
		annotate(behaviorAnnotation, jsonText(unversioned.Value{Type: "*autoscaling.HorizontalPodAutoscalerBehavior", Value: behavior, Minor: minor}))
	}
	if conditions := object.List(status, "conditions"); len(conditions) > 0 {
		annotate(conditionsAnnotation, writeConditions(conditions))
	}
	return out
}

// jsonText returns v as JSON.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("autoscaling: " + err.Error()) // unreachable: the value was decoded from JSON
	}
	return string(text)
}

// An objectWriter writes a JSON object with its fields in the order of the calls of
// add.
type objectWriter struct{ strings.Builder }

func (o *objectWriter) add(name string, v any) {
	if o.Len() > 0 {
		o.WriteByte(',')
	}
	o.WriteString(jsonText(name) + ":" + jsonText(v))
}

func (o *objectWriter) object() json.RawMessage { return json.RawMessage("{" + o.String() + "}") }

func writeMetrics(metrics []map[string]any, forms []metricForm) string {
	var out []json.RawMessage
	for _, metric := range metrics {
		var o objectWriter
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
	var o objectWriter
	for _, m := range f.fields {
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
	var o objectWriter
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
		var o objectWriter
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

// autoscalerFromV1 converts an autoscaler of version v1. It ignores annotations that
// are not valid.
func autoscalerFromV1(obj map[string]any) map[string]any {
	spec, status := object.Map(obj, "spec"), object.Map(obj, "status")
	annotations := object.Map(obj, "metadata", "annotations")
	out := copySharedFields(obj)
	outSpec, outStatus := object.Map(out, "spec"), object.Map(out, "status")
	metrics, _ := readMetrics(annotations[metricsAnnotation], specForms, setTargetType)
	if use := spec["targetCPUUtilizationPercentage"]; use != nil {
		metrics = append(metrics, cpuMetric(use))
	}
	if len(metrics) == 0 {
		metrics = []any{cpuMetric(int64(defaultCPUUtilization))}
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
		if status, ok := normalize(map[string]any{"status": map[string]any{"conditions": conditions}}); ok {
			object.Keep(outStatus, object.ViewOf(status["status"]), "conditions")
		}
	}
	kind.RemoveAnnotations(out, autoscalerAnnotations)
	return out
}

// defaultCPUUtilization is the target of an autoscaler without metrics, in percent.
const defaultCPUUtilization = 80

func cpuMetric(use any) map[string]any {
	return map[string]any{"type": "Resource", "resource": map[string]any{
		"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": use}}}
}

// autoscalerV2 decodes the values of the annotations.
var autoscalerV2 = resource.BuiltinCodec(resource.Kind{
	GroupVersion: resource.GroupVersion{Group: "autoscaling", Version: "v2"}, Kind: "HorizontalPodAutoscaler"})

// normalize returns part of an autoscaler in canonical form, and reports whether all
// fields have the types of the API.
func normalize(obj map[string]any) (map[string]any, bool) {
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

// readMetrics decodes the metrics in an annotation, and reports whether it has any.
// complete sets the fields that the annotation does not have.
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
	normal, ok := normalize(map[string]any{part: map[string]any{member: out}})
	return object.List(normal, part, member), ok
}

func (f metricForm) read(from map[string]any) map[string]any {
	metric := map[string]any{}
	for _, m := range f.fields {
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

// setTargetType sets target.type, which the annotations do not have, from the other
// fields of the target.
func setTargetType(kind string, metric map[string]any) {
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
		delete(target, "value") // the annotation always has it
	}
}

// readBehavior decodes the behavior, whose field names begin with capital letters.
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
	normal, ok := normalize(map[string]any{"spec": map[string]any{"behavior": lowered}})
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
