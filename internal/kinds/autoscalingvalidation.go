package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateAutoscaler(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), specPath, func(spec part) {
		rules := autoscalerRulesFor(spec, part{obj: object.Map(old, "spec")}, old != nil)
		rules.spec(spec)
	})
}

func validateAutoscalerStatus(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), statusPath, func(status part) {
		status.notNegative("currentReplicas", "desiredReplicas")
	})
}

var statusPath = validation.NewPath("status")

// autoscalerRules are relaxed by what the autoscaler holds already.
type autoscalerRules struct {
	fewest  int64           // replicas, at least
	target  apiVersionCheck // of what is scaled
	metrics apiVersionCheck // of what is measured
}

func autoscalerRulesFor(spec, old part, exists bool) autoscalerRules {
	rules := autoscalerRules{fewest: 1, target: grouped, metrics: anyGroup}
	if old.has("minReplicas") && old.integer("minReplicas") == 0 {
		rules.fewest = 0
	}
	target, was := spec.within("scaleTargetRef"), old.within("scaleTargetRef")
	switch {
	case exists && target.text("apiVersion") == was.text("apiVersion") && target.text("kind") == was.text("kind"):
		rules.target = anyAPIVersion
	case target.text("kind") == "ReplicationController":
		rules.target = anyGroup
	}
	for _, metric := range old.each("metrics") {
		if object, ok := metric.given("object"); ok && metric.text("type") == "Object" && rules.metrics(object.within("describedObject").text("apiVersion")) != "" {
			rules.metrics = anyAPIVersion
			break
		}
	}
	return rules
}

// An apiVersionCheck tells what is wrong with the apiVersion of a reference, ""
// if nothing is.
type apiVersionCheck func(apiVersion string) string

func anyAPIVersion(string) string { return "" }

func anyGroup(apiVersion string) string {
	if strings.Count(apiVersion, "/") > 1 {
		return "unexpected GroupVersion string: " + apiVersion
	}
	return ""
}

func grouped(apiVersion string) string {
	if detail := anyGroup(apiVersion); detail != "" {
		return detail
	}
	if group, _, ok := strings.Cut(apiVersion, "/"); !ok || group == "" {
		return "apiVersion must specify API group"
	}
	return ""
}

func (r autoscalerRules) spec(p part) {
	fewest, most := p.integer("minReplicas"), p.integer("maxReplicas")
	if p.has("minReplicas") && fewest < r.fewest {
		p.invalid("minReplicas", fmt.Sprintf("must be greater than or equal to %d", r.fewest))
	}
	switch {
	case most == 0:
		p.missing("maxReplicas", "must be set and greater than 0")
	case most < 0:
		p.invalid("maxReplicas", "must be greater than or equal to 1")
	}
	if p.has("minReplicas") && most < fewest {
		p.note(validation.Invalid(p.at("maxReplicas"), most, "must be greater than or equal to `minReplicas`"))
	}
	scaledReference(p.within("scaleTargetRef"), r.target)
	scalesToZero := false
	for _, metric := range p.each("metrics") {
		r.metric(metric)
		scalesToZero = scalesToZero || metric.text("type") == "Object" || metric.text("type") == "External"
	}
	if p.has("minReplicas") && fewest == 0 && !scalesToZero {
		p.forbid("metrics", "must specify at least one Object or External metric to support scaling to zero replicas")
	}
	if behavior, ok := p.given("behavior"); ok {
		behavior.ifGiven("scaleUp", scalingRules)
		behavior.ifGiven("scaleDown", scalingRules)
	}
}

func scaledReference(p part, check apiVersionCheck) {
	p.needsToBe("kind", validation.PathSegment)
	p.needsToBe("name", validation.PathSegment)
	apiVersion := p.text("apiVersion")
	if detail := check(apiVersion); detail != "" {
		p.note(validation.Invalid(p.at("apiVersion"), apiVersion, detail))
	}
}

// Limits of scaling, in seconds.
const (
	longestWindow = 3600
	longestPeriod = 1800
)

func scalingRules(p part) {
	if window := p.integer("stabilizationWindowSeconds"); window < 0 {
		p.invalid("stabilizationWindowSeconds", "must be greater than or equal to zero")
	} else if window > longestWindow {
		p.invalid("stabilizationWindowSeconds", fmt.Sprintf("must be less than or equal to %d", longestWindow))
	}
	p.ifOneOf("selectPolicy", "Disabled", "Max", "Min")
	if p.size("policies") == 0 {
		p.missing("policies", "must specify at least one Policy")
	}
	for _, policy := range p.each("policies") {
		policy.oneOf("type", "Percent", "Pods")
		policy.positive("value")
		policy.positive("periodSeconds")
		if policy.integer("periodSeconds") > longestPeriod {
			policy.invalid("periodSeconds", fmt.Sprintf("must be less than or equal to %d", longestPeriod))
		}
	}
	if tolerance := p.text("tolerance"); tolerance != "" && compare(tolerance, "0") < 0 {
		p.invalid("tolerance", "must be greater than or equal to 0")
	}
}

// A metricSource is a kind of metric: the member that describes one, the type
// that names it, and the rule for it.
type metricSource struct {
	member, typ string
	rule        func(autoscalerRules, part)
}

// metricSources are in the order in which they are looked for: only the first
// that a metric has is checked.
var metricSources = []metricSource{
	{"object", "Object", autoscalerRules.objectMetric},
	{"external", "External", autoscalerRules.externalMetric},
	{"pods", "Pods", autoscalerRules.podsMetric},
	{"resource", "Resource", autoscalerRules.resourceMetric},
	{"containerResource", "ContainerResource", autoscalerRules.containerMetric},
}

// metricTypes are the types of metrics as messages list them.
var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

func (r autoscalerRules) metric(p part) {
	typ := p.text("type")
	if typ == "" {
		p.missing("type", "must specify a metric source type")
	}
	p.oneOf("type", metricTypes...)
	var present []metricSource
	for _, source := range metricSources {
		if m, ok := p.given(source.member); ok {
			if len(present) == 0 {
				source.rule(r, m)
			}
			present = append(present, source)
		}
	}
	named := slices.IndexFunc(metricSources, func(s metricSource) bool { return s.typ == typ })
	if named < 0 {
		p.oneOf("type", metricTypes...)
	} else if member := metricSources[named].member; !p.has(member) {
		p.missing(member, "must populate information for the given metric source")
	}
	if len(present) < 2 {
		return
	}
	for _, source := range present {
		if source.typ != typ {
			p.forbid(source.member, "must populate the given metric source only")
		}
	}
}

func (r autoscalerRules) objectMetric(p part) {
	scaledReference(p.within("describedObject"), r.metrics)
	metricIdentifier(p)
	target := metricTarget(p)
	if !target.has("value") && !target.has("averageValue") {
		target.missing("averageValue", "must set either a target value or averageValue")
	}
}

func (autoscalerRules) externalMetric(p part) {
	metricIdentifier(p)
	target := metricTarget(p)
	switch value, average := target.has("value"), target.has("averageValue"); {
	case !value && !average:
		target.missing("averageValue", "must set either a target value for metric or a per-pod target")
	case value && average:
		target.forbid("value", "may not set both a target value for metric and a per-pod target")
	}
}

func (autoscalerRules) podsMetric(p part) {
	metricIdentifier(p)
	if target := metricTarget(p); !target.has("averageValue") {
		target.missing("averageValue", "must specify a positive target averageValue")
	}
}

func (autoscalerRules) resourceMetric(p part) {
	if p.text("name") == "" {
		p.missing("name", "must specify a resource name")
	}
	resourceTarget(p)
}

func (autoscalerRules) containerMetric(p part) {
	if name := p.text("name"); name == "" {
		p.missing("name", "must specify a resource name")
	} else {
		p.add(containerResourceName(name, p.at("name")))
	}
	if p.text("container") == "" {
		p.missing("container", "must specify a container")
	} else {
		p.is("container", validation.DNS1123Label)
	}
	resourceTarget(p)
}

func resourceTarget(p part) {
	target := metricTarget(p)
	switch share, value := target.has("averageUtilization"), target.has("averageValue"); {
	case !share && !value:
		target.missing("averageUtilization", "must set either a target raw value or a target utilization")
	case share && value:
		target.forbid("averageValue", "may not set both a target raw value and a target utilization")
	}
}

func metricIdentifier(p part) {
	metric := p.within("metric")
	if metric.text("name") == "" {
		metric.missing("name", "must specify a metric name")
		return
	}
	metric.is("name", validation.PathSegment)
}

// metricTarget checks what a metric is to be, and returns it.
func metricTarget(p part) part {
	target := p.within("target")
	typ := target.text("type")
	if typ == "" {
		target.missing("type", "must specify a metric target type")
	}
	if typ != "Utilization" && typ != "Value" && typ != "AverageValue" {
		target.invalidEnum("type", "must be either Utilization, Value, or AverageValue")
	}
	for _, name := range []string{"value", "averageValue"} {
		if q := target.text(name); q != "" && !positive(q) {
			target.invalid(name, "must be positive")
		}
	}
	if target.has("averageUtilization") && target.integer("averageUtilization") < 1 {
		target.invalid("averageUtilization", "must be greater than 0")
	}
	return target
}
