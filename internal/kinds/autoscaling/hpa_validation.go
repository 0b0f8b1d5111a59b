package autoscaling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateAutoscaler(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		rules := autoscalerRulesFor(spec, validation.Of(old.At("spec")), !old.IsNil())
		rules.spec(spec)
	})
}

func validateAutoscalerStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		for _, condition := range status.Each("conditions") {
			status.AddList(validation.NonNegative(condition.Int("observedGeneration"), condition.At("observedGeneration")).Since(behavior.ConditionGenerations))
		}
		status.NonNegative("currentReplicas", "desiredReplicas")
	})
}

// autoscalerRules are the rules for an autoscaler. An update may keep values of the
// old object that are no longer valid.
type autoscalerRules struct {
	minReplicas int64           // the least valid value of minReplicas
	target      apiVersionCheck // for scaleTargetRef
	metrics     apiVersionCheck // for describedObject of metrics
}

func autoscalerRulesFor(spec, old validation.View, exists bool) autoscalerRules {
	rules := autoscalerRules{minReplicas: 1, target: requireGroup, metrics: anyGroup}
	if old.Has("minReplicas") && old.Int("minReplicas") == 0 {
		rules.minReplicas = 0
	}
	target, was := spec.Field("scaleTargetRef"), old.Field("scaleTargetRef")
	switch {
	case exists && target.String("apiVersion") == was.String("apiVersion") && target.String("kind") == was.String("kind"):
		rules.target = anyAPIVersion
	case target.String("kind") == "ReplicationController":
		rules.target = anyGroup
	}
	for _, metric := range old.Each("metrics") {
		if object, ok := metric.Lookup("object"); ok && metric.String("type") == "Object" && rules.metrics(object.Field("describedObject").String("apiVersion")) != "" {
			rules.metrics = anyAPIVersion
			break
		}
	}
	return rules
}

// An apiVersionCheck returns the error text for the apiVersion of a reference, "" if
// it is valid.
type apiVersionCheck func(apiVersion string) string

func anyAPIVersion(string) string { return "" }

func anyGroup(apiVersion string) string {
	if strings.Count(apiVersion, "/") > 1 {
		return "unexpected GroupVersion string: " + apiVersion
	}
	return ""
}

func requireGroup(apiVersion string) string {
	if detail := anyGroup(apiVersion); detail != "" {
		return detail
	}
	if group, _, ok := strings.Cut(apiVersion, "/"); !ok || group == "" {
		return "apiVersion must specify API group"
	}
	return ""
}

func (r autoscalerRules) spec(p validation.View) {
	minReplicas, maxReplicas := p.Int("minReplicas"), p.Int("maxReplicas")
	if p.Has("minReplicas") && minReplicas < r.minReplicas {
		atLeast := func(n int) *validation.Error {
			return validation.Invalid(p.At("minReplicas"), minReplicas, fmt.Sprintf("must be greater than or equal to %d", n)).Declarative()
		}
		switch {
		case minReplicas == 0:
			p.Add(atLeast(1).WithoutGate("HPAScaleToZero"))
		case r.minReplicas == 0:
			p.Add(atLeast(0))
		default:
			p.Add(atLeast(0).WithGate("HPAScaleToZero", atLeast(1)))
		}
	}
	switch {
	case maxReplicas == 0:
		p.Add(validation.Required(p.At("maxReplicas"), "").
			Before(behavior.DeclarativeSpecs, validation.Instead(validation.Invalid(p.At("maxReplicas"), maxReplicas, "must be greater than 0"))).Before(behavior.DeclarativeErrors, validation.Detail("must be set and greater than 0")).Declarative())
	case maxReplicas < 0:
		p.Add(validation.Invalid(p.At("maxReplicas"), maxReplicas, "must be greater than or equal to 1").Before(behavior.DeclarativeSpecs, validation.Detail("must be greater than 0")).Declarative())
	}
	if p.Has("minReplicas") && maxReplicas < minReplicas {
		p.Add(validation.Invalid(p.At("maxReplicas"), maxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	checkScaledReference(p.Field("scaleTargetRef"), r.target)
	scalesToZero := false
	for _, metric := range p.Each("metrics") {
		r.metric(metric)
		scalesToZero = scalesToZero || metric.String("type") == "Object" || metric.String("type") == "External"
	}
	if p.Has("minReplicas") && minReplicas == 0 && !scalesToZero {
		p.Forbidden("metrics", "must specify at least one Object or External metric to support scaling to zero replicas")
	}
	if behavior, ok := p.Lookup("behavior"); ok {
		behavior.IfPresent("scaleUp", checkScalingRules)
		behavior.IfPresent("scaleDown", checkScalingRules)
	}
}

func checkScaledReference(p validation.View, check apiVersionCheck) {
	p.RequireFormat("kind", validation.PathSegment)
	p.RequireFormat("name", validation.PathSegment)
	apiVersion := p.String("apiVersion")
	if detail := check(apiVersion); detail != "" {
		p.Add(validation.Invalid(p.At("apiVersion"), apiVersion, detail).Since(behavior.ValidatesScaleTargets))
	}
}

// Limits of scaling, in seconds.
const (
	longestWindow = 3600
	longestPeriod = 1800
)

func checkScalingRules(p validation.View) {
	if window := p.Int("stabilizationWindowSeconds"); window < 0 {
		p.Invalid("stabilizationWindowSeconds", "must be greater than or equal to zero")
	} else if window > longestWindow {
		p.Invalid("stabilizationWindowSeconds", fmt.Sprintf("must be less than or equal to %d", longestWindow))
	}
	p.OneOfIfSet("selectPolicy", "Disabled", "Max", "Min")
	if p.Len("policies") == 0 {
		p.Required("policies", "must specify at least one Policy")
	}
	for _, policy := range p.Each("policies") {
		policy.OneOf("type", "Percent", "Pods")
		policy.Positive("value")
		policy.Positive("periodSeconds")
		if policy.Int("periodSeconds") > longestPeriod {
			policy.Invalid("periodSeconds", fmt.Sprintf("must be less than or equal to %d", longestPeriod))
		}
	}
	if tolerance := p.String("tolerance"); tolerance != "" && quantity.Compare(tolerance, "0") < 0 {
		p.Invalid("tolerance", "must be greater than or equal to 0")
	}
}

// A metricSource is a type of metric: its field in a metric, its name, and the rule
// for it.
type metricSource struct {
	member, typ string
	rule        func(autoscalerRules, validation.View)
}

// metricSources are in the order in which kube-apiserver checks them. If a metric
// has several, only the first is checked.
var metricSources = []metricSource{
	{"object", "Object", autoscalerRules.objectMetric},
	{"external", "External", autoscalerRules.externalMetric},
	{"pods", "Pods", autoscalerRules.podsMetric},
	{"resource", "Resource", autoscalerRules.resourceMetric},
	{"containerResource", "ContainerResource", autoscalerRules.containerMetric},
}

// metricTypes are the types of metrics in the order of error messages.
var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

func (r autoscalerRules) metric(p validation.View) {
	typ := p.String("type")
	if typ == "" {
		p.Required("type", "must specify a metric source type")
	}
	p.OneOf("type", metricTypes...)
	var present []metricSource
	for _, source := range metricSources {
		if m, ok := p.Lookup(source.member); ok {
			if len(present) == 0 {
				source.rule(r, m)
			}
			present = append(present, source)
		}
	}
	named := slices.IndexFunc(metricSources, func(s metricSource) bool { return s.typ == typ })
	if named < 0 {
		p.OneOf("type", metricTypes...)
	} else if member := metricSources[named].member; !p.Has(member) {
		p.Required(member, "must populate information for the given metric source")
	}
	if len(present) < 2 {
		return
	}
	for _, source := range present {
		if source.typ != typ {
			p.Forbidden(source.member, "must populate the given metric source only")
		}
	}
}

func (r autoscalerRules) objectMetric(p validation.View) {
	checkScaledReference(p.Field("describedObject"), r.metrics)
	checkMetricIdentifier(p)
	target := checkMetricTarget(p)
	if !target.Has("value") && !target.Has("averageValue") {
		target.Required("averageValue", "must set either a target value or averageValue")
	}
}

func (autoscalerRules) externalMetric(p validation.View) {
	checkMetricIdentifier(p)
	target := checkMetricTarget(p)
	switch value, average := target.Has("value"), target.Has("averageValue"); {
	case !value && !average:
		target.Required("averageValue", "must set either a target value for metric or a per-pod target")
	case value && average:
		target.Forbidden("value", "may not set both a target value for metric and a per-pod target")
	}
}

func (autoscalerRules) podsMetric(p validation.View) {
	checkMetricIdentifier(p)
	if target := checkMetricTarget(p); !target.Has("averageValue") {
		target.Required("averageValue", "must specify a positive target averageValue")
	}
}

func (autoscalerRules) resourceMetric(p validation.View) {
	if p.String("name") == "" {
		p.Required("name", "must specify a resource name")
	}
	checkResourceTarget(p)
}

func (autoscalerRules) containerMetric(p validation.View) {
	if name := p.String("name"); name == "" {
		p.Required("name", "must specify a resource name")
	} else {
		p.AddList(resources.ValidateContainerResourceName(name, p.At("name")))
	}
	if p.String("container") == "" {
		p.Required("container", "must specify a container")
	} else {
		p.Format("container", validation.DNS1123Label)
	}
	checkResourceTarget(p)
}

func checkResourceTarget(p validation.View) {
	target := checkMetricTarget(p)
	switch share, value := target.Has("averageUtilization"), target.Has("averageValue"); {
	case !share && !value:
		target.Required("averageUtilization", "must set either a target raw value or a target utilization")
	case share && value:
		target.Forbidden("averageValue", "may not set both a target raw value and a target utilization")
	}
}

func checkMetricIdentifier(p validation.View) {
	metric := p.Field("metric")
	if metric.String("name") == "" {
		metric.Required("name", "must specify a metric name")
		return
	}
	metric.Format("name", validation.PathSegment)
}

// checkMetricTarget checks the target of a metric, and returns its view.
func checkMetricTarget(p validation.View) validation.View {
	target := p.Field("target")
	typ := target.String("type")
	if typ == "" {
		target.Required("type", "must specify a metric target type")
	}
	if typ != "Utilization" && typ != "Value" && typ != "AverageValue" {
		target.InvalidNamed("type", "must be either Utilization, Value, or AverageValue")
	}
	for _, name := range []string{"value", "averageValue"} {
		if q := target.String(name); q != "" && !quantity.IsPositive(q) {
			target.Add(validation.Invalid(target.At(name), validation.AsGoType("*q", q), "must be positive"))
		}
	}
	if target.Has("averageUtilization") && target.Int("averageUtilization") < 1 {
		target.Invalid("averageUtilization", "must be greater than 0")
	}
	return target
}
