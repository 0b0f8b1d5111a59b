package podautoscaler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/selector"
)

// A proposal is the number of replicas that one metric asks for.
type proposal struct {
	replicas int64
	name     string // of the metric in messages
	status   map[string]any
}

// A metricError is why a metric asks for no number of replicas.
type metricError struct {
	reason string // of the condition and the Event
	cause  error
	prefix string // what follows from the cause, in the error of all metrics
}

func (e *metricError) Error() string { return e.prefix + e.cause.Error() }
func (e *metricError) Unwrap() error { return e.cause }

// proposal computes one element of spec.metrics.
func (r *reconciliation) proposal(spec object.View, pods selector.Labels) (*proposal, *metricError) {
	var p *proposal
	var err error
	switch typ := spec.String("type"); typ {
	case "Resource":
		source := spec.At("resource")
		if p, err = r.resource(source, "", pods); err != nil {
			return nil, &metricError{"FailedGetResourceMetric", err, fmt.Sprintf("failed to get %s resource metric value: ", source.String("name"))}
		}
		p.status = map[string]any{"type": typ, "resource": map[string]any{"name": source.At("name").Shared(), "current": p.status}}
	case "ContainerResource":
		source := spec.At("containerResource")
		if p, err = r.resource(source, source.String("container"), pods); err != nil {
			return nil, &metricError{"FailedGetContainerResourceMetric", err, fmt.Sprintf("failed to get %s container metric value: ", source.String("container"))}
		}
		p.status = map[string]any{"type": typ, "containerResource": map[string]any{"name": source.At("name").Shared(), "container": source.At("container").Shared(), "current": p.status}}
	case "Pods":
		source := spec.At("pods")
		if p, err = r.podsMetric(source, pods); err != nil {
			return nil, &metricError{"FailedGetPodsMetric", err, "failed to get pods metric value: "}
		}
		p.status = map[string]any{"type": typ, "pods": map[string]any{"metric": source.At("metric").Shared(), "current": p.status}}
	case "Object":
		source := spec.At("object")
		if p, err = r.objectMetric(source, pods); err != nil {
			return nil, &metricError{"FailedGetObjectMetric", err, "failed to get object metric value: "}
		}
		p.status = map[string]any{"type": typ, "object": map[string]any{"metric": source.At("metric").Shared(), "describedObject": source.At("describedObject").Shared(), "current": p.status}}
	case "External":
		source := spec.At("external")
		if p, err = r.externalMetric(source, pods); err != nil {
			return nil, &metricError{"FailedGetExternalMetric", err, fmt.Sprintf("failed to get %s external metric value: ", source.String("metric", "name"))}
		}
		p.status = map[string]any{"type": typ, "external": map[string]any{"metric": source.At("metric").Shared(), "current": p.status}}
	default:
		return nil, &metricError{reason: "InvalidMetricSourceType", cause: fmt.Errorf("unknown metric source type %q", typ)}
	}
	p.status = object.Copy(p.status)
	return p, nil
}

// milli returns the quantity at a path of obj in thousandths; false if there is none.
func milli(obj object.View, path ...string) (int64, bool) {
	text := obj.Text(path...)
	if text == "" {
		return 0, false
	}
	return lifecycle.Milli(text), true
}

// quantityOf returns a quantity of thousandths.
func quantityOf(milli int64, resource string) string {
	text := fmt.Sprintf("%dm", milli)
	if resource == "memory" && milli%(1000*1024) == 0 {
		text = fmt.Sprintf("%dKi", milli/(1000*1024))
	} else if resource == "memory" && milli%1000 == 0 {
		return fmt.Sprint(milli / 1000)
	}
	text, err := quantity.Canonical(text)
	if err != nil {
		panic("podautoscaler: " + err.Error()) // unreachable: a whole number with a suffix is a quantity
	}
	return text
}

// resource computes a Resource metric, or a ContainerResource metric of a container.
func (r *reconciliation) resource(source object.View, container string, labels selector.Labels) (*proposal, error) {
	name := source.String("name")
	values := func() (map[string]int64, error) {
		v, err := r.usage(name, container, labels)
		if err != nil {
			return nil, fmt.Errorf("unable to get metrics for resource %s: %w", name, err)
		}
		return v, nil
	}
	if target, ok := milli(source, "target", "averageValue"); ok {
		v, err := values()
		if err == nil {
			var p *proposal
			if p, err = r.average(v, target, name, labels); err == nil {
				p.name = name + " resource"
				return p, nil
			}
		}
		return nil, fmt.Errorf("failed to get %s usage: %w", name, err)
	}
	target, ok := source.Int("target", "averageUtilization")
	if !ok {
		return nil, errors.New("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set")
	}
	v, err := values()
	if err == nil {
		var p *proposal
		if p, err = r.utilization(v, target, name, container, labels); err == nil {
			p.name = name + " resource utilization (percentage of request)"
			if container != "" {
				p.name = name + " container resource utilization (percentage of request)"
			}
			return p, nil
		}
	}
	return nil, fmt.Errorf("failed to get %s utilization: %w", name, err)
}

// usage returns how much the Pods, or one container of each, use of a resource.
func (r *reconciliation) usage(resource, container string, labels selector.Labels) (map[string]int64, error) {
	if !r.metrics.Measured(false) {
		return nil, errors.New("unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)")
	}
	out := map[string]int64{}
	for _, pod := range r.pods.List(r.object.Namespace, labels) {
		sum, all := int64(0), true
		for c := range pod.View().At("spec", "containers").Objects() {
			name := c.String("name")
			if container != "" && name != container {
				continue
			}
			n, ok := r.metrics.Usage(pod.Namespace, pod.Labels, name, resource)
			sum, all = sum+n, all && ok
		}
		if all && pod.View().String("status", "phase") == "Running" {
			out[pod.Name] = sum
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no metrics returned from resource metrics API")
	}
	return out, nil
}

// podsMetric computes a custom metric of Pods.
func (r *reconciliation) podsMetric(source object.View, labels selector.Labels) (*proposal, error) {
	name := source.String("metric", "name")
	fail := func(text string) (*proposal, error) {
		return nil, fmt.Errorf("unable to get metric %s: %s", name, text)
	}
	if !r.metrics.Measured(true) {
		return fail("unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered")
	}
	values := map[string]int64{}
	for _, pod := range r.pods.List(r.object.Namespace, labels) {
		if n, ok := r.metrics.PodMetric(pod.Namespace, pod.Labels, name); ok && pod.View().String("status", "phase") == "Running" {
			values[pod.Name] = n
		}
	}
	if len(values) == 0 {
		return fail("no metrics returned from custom metrics API")
	}
	target, _ := milli(source, "target", "averageValue")
	p, err := r.average(values, target, "", labels)
	if err != nil {
		return nil, err
	}
	p.name = "pods metric " + name
	return p, nil
}

// objectMetric computes a custom metric of one object.
func (r *reconciliation) objectMetric(source object.View, labels selector.Labels) (*proposal, error) {
	name, kind := source.String("metric", "name"), source.String("describedObject", "kind")
	typ := source.String("target", "type")
	value, isValue := milli(source, "target", "value")
	average, isAverage := milli(source, "target", "averageValue")
	isValue, isAverage = isValue && typ == "Value", isAverage && typ == "AverageValue"
	if !isValue && !isAverage {
		return nil, errors.New("invalid object metric source: neither a value target nor an average value target was set")
	}
	usage, ok := r.metrics.Metric(name)
	if !ok {
		const cause = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
		format := "unable to get metric %s: %s on %s %s/%s"
		if r.env.Release().Has(behavior.AutoscalerErrors) {
			format = "unable to get metric %s on %s %s/%s: %s"
		}
		err := fmt.Errorf(format, name, kind, r.object.Namespace, source.String("describedObject", "name"), cause)
		if isAverage {
			err = fmt.Errorf("failed to get %s object metric: %w", name, err)
		}
		return nil, err
	}
	if isValue {
		p, err := r.ratio(usage, value, labels)
		if err != nil {
			return nil, err
		}
		p.name = kind + " metric " + name
		return p, nil
	}
	p := r.perPod(usage, average)
	p.name = fmt.Sprintf("external metric %s(%s)", name, labelSelectorText(source.At("metric", "selector")))
	return p, nil
}

// externalMetric computes a metric that is not about an object.
func (r *reconciliation) externalMetric(source object.View, labels selector.Labels) (*proposal, error) {
	name, labelSelector := source.String("metric", "name"), labelSelectorText(source.At("metric", "selector"))
	value, isValue := milli(source, "target", "value")
	average, isAverage := milli(source, "target", "averageValue")
	if !isValue && !isAverage {
		return nil, errors.New("invalid external metric source: neither a value target nor an average value target was set")
	}
	usage, ok := r.metrics.Metric(name)
	var p *proposal
	err := fmt.Errorf("unable to get external metric %s/%s/%s: unable to fetch metrics from external metrics API: "+
		"the server could not find the requested resource (get %s.external.metrics.k8s.io)", r.object.Namespace, name, labelSelector, name)
	switch {
	case isAverage && !ok:
		return nil, fmt.Errorf("failed to get %s external metric: %w", name, err)
	case isAverage:
		p = r.perPod(usage, average)
	case ok:
		p, err = r.ratio(usage, value, labels)
		fallthrough
	default:
		if err != nil {
			return nil, fmt.Errorf("failed to get external metric %s: %w", name, err)
		}
	}
	p.name = fmt.Sprintf("external metric %s(%s)", name, labelSelector)
	return p, nil
}

// labelSelectorText returns a label selector as Go prints a *metav1.LabelSelector.
func labelSelectorText(s object.View) string {
	if s.IsNil() {
		return "nil"
	}
	var b strings.Builder
	b.WriteString("&LabelSelector{MatchLabels:map[string]string{")
	labels := controller.Labels(s, "matchLabels")
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "%s: %s,", k, labels[k])
	}
	b.WriteString("},MatchExpressions:[]LabelSelectorRequirement{")
	for e := range s.At("matchExpressions").Objects() {
		fmt.Fprintf(&b, "LabelSelectorRequirement{Key:%v,Operator:%v,Values:%v,},", e.At("key").Shared(), e.At("operator").Shared(), e.Strings("values"))
	}
	b.WriteString("},}")
	return b.String()
}
