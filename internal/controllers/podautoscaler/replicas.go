package podautoscaler

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// metricWindow is the time over which a metric is measured, as of metrics-server.
const metricWindow = 15 * time.Second

// tolerates reports whether a ratio of usage and target is close enough to 1.
func (r *reconciliation) tolerates(ratio float64) bool {
	tolerance := func(direction string) float64 {
		if m, ok := milli(r.hpa, "spec", "behavior", direction, "tolerance"); ok {
			return float64(m) / 1000
		}
		return defaultTolerance
	}
	return 1-tolerance("scaleDown") <= ratio && ratio <= 1+tolerance("scaleUp")
}

// groups are the Pods of a target, by what their metrics are worth.
type groups struct {
	ready   int
	unready []string
	missing []string // without a metric
}

// group groups Pods, and removes the metrics of those that do not count.
func (r *reconciliation) group(pods []*controller.Object, values map[string]int64, resource string) (g groups) {
	for _, o := range pods {
		pod := o.View()
		phase := pod.String("status", "phase")
		_, measured := values[o.Name]
		switch {
		case o.Terminating || phase == "Failed":
			delete(values, o.Name)
		case phase == "Pending", measured && resource == "cpu" && r.starting(pod):
			g.unready = append(g.unready, o.Name)
			delete(values, o.Name)
		case !measured:
			g.missing = append(g.missing, o.Name)
		default:
			g.ready++
		}
	}
	return g
}

// starting reports whether a Pod uses CPU for its start.
func (r *reconciliation) starting(pod object.View) bool {
	started := controller.Time(pod, "status", "startTime")
	condition := controller.Condition(pod, "Ready")
	if condition.IsNil() || started.IsZero() {
		return true
	}
	notReady, since := condition.String("status") == "False", controller.Time(condition, "lastTransitionTime")
	if started.Add(cpuInitializationPeriod).After(r.now) {
		return notReady || r.now.Before(since.Add(metricWindow))
	}
	return notReady && started.Add(initialReadinessDelay).After(since)
}

// replicas computes a number of replicas from the values of Pods. ratio returns the ratio
// of their usage and the target; fallback is what a Pod without a metric uses if the others
// use less than the target.
func (r *reconciliation) replicas(values map[string]int64, g groups, ratio func() (float64, error), fallback func(pod string) int64) (int64, error) {
	before, err := ratio()
	if err != nil {
		return 0, err
	}
	up := len(g.unready) > 0 && before > 1
	if !up && len(g.missing) == 0 {
		if r.tolerates(before) {
			return r.current, nil
		}
		return int64(math.Ceil(before * float64(g.ready))), nil
	}
	for _, pod := range g.missing {
		if before < 1 {
			values[pod] = fallback(pod)
		} else if before > 1 {
			values[pod] = 0
		}
	}
	if up {
		for _, pod := range g.unready {
			values[pod] = 0
		}
	}
	after, err := ratio()
	if err != nil {
		return 0, err
	}
	if r.tolerates(after) || before < 1 && after > 1 || before > 1 && after < 1 {
		return r.current, nil
	}
	n := int64(math.Ceil(after * float64(len(values))))
	if after < 1 && n > r.current || after > 1 && n < r.current {
		return r.current, nil
	}
	return n, nil
}

// podsOf returns the Pods of the target, and groups them.
func (r *reconciliation) podsOf(labels selector.Labels, values map[string]int64, resource string) ([]*controller.Object, groups, error) {
	pods := r.pods.List(r.object.Namespace, labels)
	if len(pods) == 0 {
		return nil, groups{}, errNoPods
	}
	g := r.group(pods, values, resource)
	if len(values) == 0 {
		return nil, groups{}, errors.New("did not receive metrics for targeted pods (pods might be unready)")
	}
	return pods, g, nil
}

var errNoPods = errors.New("no pods returned by selector while calculating replica count")

func sum(values map[string]int64) (total int64) {
	for _, v := range values {
		total += v
	}
	return total
}

// average computes a target of an average value.
func (r *reconciliation) average(values map[string]int64, target int64, resource string, labels selector.Labels) (*proposal, error) {
	_, g, err := r.podsOf(labels, values, resource)
	if err != nil {
		return nil, err
	}
	usage := sum(values) / int64(len(values))
	n, err := r.replicas(values, g, func() (float64, error) {
		return float64(sum(values)/int64(len(values))) / float64(target), nil
	}, func(string) int64 { return target })
	if err != nil {
		return nil, err
	}
	return &proposal{replicas: n, status: map[string]any{"averageValue": quantityOf(usage, resource)}}, nil
}

// utilization computes a target of a percentage of the requests.
func (r *reconciliation) utilization(values map[string]int64, target int64, resource, container string, labels selector.Labels) (*proposal, error) {
	pods, g, err := r.podsOf(labels, values, resource)
	if err != nil {
		return nil, err
	}
	requests := map[string]int64{}
	for _, pod := range pods {
		if requests[pod.Name], err = request(pod, container, resource); err != nil {
			return nil, err
		}
	}
	var percentage, raw int64
	n, err := r.replicas(values, g, func() (float64, error) {
		var requested, used, count int64
		for pod, value := range values {
			if _, ok := requests[pod]; ok {
				requested += requests[pod]
				used += value
				count++
			}
		}
		if requested == 0 {
			return 0, errors.New("no metrics returned matched known pods")
		}
		percent := used * 100 / requested
		if raw == 0 && percentage == 0 { // the status has the metrics without what is assumed
			percentage, raw = percent, used/count
		}
		return float64(percent) / float64(target), nil
	}, func(pod string) int64 { return requests[pod] * max(100, target) / 100 })
	if err != nil {
		return nil, err
	}
	return &proposal{replicas: n, status: map[string]any{"averageUtilization": percentage, "averageValue": quantityOf(raw, resource)}}, nil
}

// request returns what a Pod, or one of its containers, requests of a resource.
func request(o *controller.Object, container, resource string) (int64, error) {
	pod := o.View()
	if requests := pod.At("spec", "resources", "requests"); requests.Len() > 0 && container == "" {
		if n, ok := milli(requests, resource); ok {
			return n, nil
		}
	}
	containers := slices.Collect(pod.At("spec", "containers").Objects())
	for c := range pod.At("spec", "initContainers").Objects() {
		if c.String("restartPolicy") == "Always" {
			containers = append(containers, c)
		}
	}
	total := int64(0)
	for _, c := range containers {
		name := c.String("name")
		if container != "" && name != container {
			continue
		}
		n, ok := milli(c, "resources", "requests", resource)
		if !ok {
			return 0, fmt.Errorf("missing request for %s in container %s of Pod %s", resource, name, o.Name)
		}
		if total += n; container != "" {
			return total, nil
		}
	}
	if container != "" {
		return 0, fmt.Errorf("container %s not found in Pod %s", container, o.Name)
	}
	return total, nil
}

// ratio computes a target of a value that is not one of Pods.
func (r *reconciliation) ratio(usage, target int64, labels selector.Labels) (*proposal, error) {
	p := &proposal{replicas: r.current, status: map[string]any{"value": quantityOf(usage, "")}}
	ratio := float64(usage) / float64(target)
	if r.current == 0 { // there are no Pods
		p.replicas = int64(min(math.MaxInt32, math.Ceil(ratio)))
		return p, nil
	}
	if r.tolerates(ratio) {
		return p, nil
	}
	pods := r.pods.List(r.object.Namespace, labels)
	if len(pods) == 0 {
		return nil, fmt.Errorf("unable to calculate ready pods: %w", errNoPods)
	}
	ready := 0
	for _, pod := range pods {
		if pod.View().String("status", "phase") == "Running" && controller.PodReady(pod.View()) {
			ready++
		}
	}
	p.replicas = int64(min(math.MaxInt32, math.Ceil(ratio*float64(ready))))
	return p, nil
}

// perPod computes a target of a value that the Pods share.
func (r *reconciliation) perPod(usage, target int64) *proposal {
	n := r.observed
	if !r.tolerates(float64(usage) / (float64(target) * float64(n))) {
		n = int64(min(math.MaxInt32, math.Ceil(float64(usage)/float64(target))))
	}
	average := int64(0)
	if r.observed > 0 {
		average = int64(math.Ceil(float64(usage) / float64(r.observed)))
	}
	return &proposal{replicas: n, status: map[string]any{"averageValue": quantityOf(average, "")}}
}
