// Package podautoscaler has the horizontal-pod-autoscaler-controller: it sets the number of
// replicas of what HorizontalPodAutoscalers refer to, by metrics that a test sets.
//
// See https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/.
//
// Differs from kube-apiserver: metrics: the controller reads them from metrics.k8s.io,
// custom.metrics.k8s.io and external.metrics.k8s.io. Here it has the values that a test
// sets, which are not served. Request: GET /apis/metrics.k8s.io/v1beta1.
package podautoscaler

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
)

// The defaults of the flags of kube-controller-manager.
const (
	syncPeriod              = 15 * time.Second
	downscaleStabilization  = 5 * time.Minute
	defaultTolerance        = 0.1
	cpuInitializationPeriod = 5 * time.Minute
	initialReadinessDelay   = 30 * time.Second
)

type autoscaler struct {
	env      *controller.Env
	client   *controller.Client
	recorder *controller.Recorder
	metrics  *lifecycle.Set

	autoscalers *controller.Informer
	pods        *controller.Informer
	queue       *controller.Queue

	history   map[controller.Key]*history
	selectors map[controller.Key]selector.Labels
}

// Start starts the controller.
func Start(e *controller.Env) {
	client := e.Client("horizontal-pod-autoscaler")
	c := &autoscaler{
		env: e, client: client, recorder: e.Recorder(client, "horizontal-pod-autoscaler"), metrics: e.Lifecycle(),
		history: map[controller.Key]*history{}, selectors: map[controller.Key]selector.Labels{},
	}
	c.queue = e.Queue(func(k controller.Key) error {
		if hpa := c.autoscalers.Get(k.Namespace, k.Name); hpa != nil {
			c.reconcile(hpa)
			c.queue.AddAfter(k, syncPeriod)
		}
		return nil
	})
	c.autoscalers = e.Informer(controller.HorizontalPodAutoscalers, func(old, hpa *controller.Object) {
		if hpa == nil {
			delete(c.history, old.Key())
			delete(c.selectors, old.Key())
			return
		}
		if c.atOnce(old, hpa) {
			c.queue.Add(hpa.Key())
			return
		}
		c.queue.AddAfter(hpa.Key(), syncPeriod)
	})
	c.pods = e.Informer(controller.Pods)
}

// atOnce reports whether a change of a HorizontalPodAutoscaler does not wait for the next period. old
// is nil for a new one.
func (c *autoscaler) atOnce(old, hpa *controller.Object) bool {
	if old == nil {
		return c.env.Release().Has(behavior.ReconcilesNewAutoscalers)
	}
	return c.env.Release().Enabled(generationGate) && generation(old.View()) != generation(hpa.View())
}

// generationGate is the feature gate of the generation and of its observation.
const generationGate = "HPAGeneration"

func generation(hpa object.View) int64 { return controller.IntOr(hpa, 0, "metadata", "generation") }

// A reconciliation is one look at a HorizontalPodAutoscaler.
type reconciliation struct {
	*autoscaler
	object  *controller.Object
	hpa     object.View
	status  map[string]any // the new status, with the conditions of the old one
	history *history
	now     time.Time

	current  int64 // spec.replicas of the Scale
	observed int64 // status.replicas of the Scale
	min, max int64
}

// reconcile scales the target of a HorizontalPodAutoscaler to the number of replicas that
// its metrics ask for.
func (c *autoscaler) reconcile(o *controller.Object) {
	h := c.history[o.Key()]
	if h == nil {
		h = &history{}
		c.history[o.Key()] = h
	}
	r := &reconciliation{autoscaler: c, object: o, hpa: o.View(), history: h, now: c.env.Now()}
	if r.status = r.hpa.At("status").CopyObject(); r.status == nil {
		r.status = map[string]any{}
	}
	r.min = controller.IntOr(r.hpa, 1, "spec", "minReplicas")
	r.max, _ = r.hpa.Int("spec", "maxReplicas")
	target, scale, err := r.scale()
	if err != nil {
		r.event(controller.Warning, "FailedGetScale", err.Error())
		r.setCondition("AbleToScale", "False", "FailedGetScale", "the HPA controller was unable to get the target's current scale: "+err.Error())
		r.write()
		return
	}
	r.setCondition("AbleToScale", "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	r.current, _ = object.Int(scale, "spec", "replicas")
	r.observed, _ = object.Int(scale, "status", "replicas")
	if h.recommendations == nil {
		h.recommendations = []change{{r.current, r.now}}
	}
	desired, reason, metrics, ok := r.decide(scale)
	if !ok {
		r.setStatus(controller.Count(r.status, "desiredReplicas"), metrics)
		r.write()
		return
	}
	if desired != r.current {
		if err := r.rescale(target, scale, desired); err != nil {
			r.event(controller.Warning, "FailedRescale", fmt.Sprintf("New size: %d; reason: %s; error: %v", desired, reason, err))
			r.setCondition("AbleToScale", "False", "FailedUpdateScale", "the HPA controller was unable to update the target scale: "+err.Error())
			r.setStatus(controller.Count(r.status, "desiredReplicas"), metrics)
			r.write()
			return
		}
		r.setCondition("AbleToScale", "True", "SucceededRescale", fmt.Sprintf("the HPA controller was able to update the target scale to %d", desired))
		r.event(controller.Normal, "SuccessfulRescale", fmt.Sprintf("New size: %d; reason: %s", desired, reason))
		r.history.store(r.hpa.At("spec", "behavior"), r.current, desired, r.now)
		r.setScaledToZero(desired)
		r.status["lastScaleTime"] = clock.Timestamp(r.now)
	}
	r.setStatus(desired, metrics)
	r.write()
}

// decide returns the number of replicas, why it is not the current one, and the status of
// the metrics. It returns false if it cannot decide.
func (r *reconciliation) decide(scale map[string]any) (desired int64, reason string, metrics []any, ok bool) {
	switch {
	case r.current == 0 && !r.leavesZero():
		r.setCondition("ScalingActive", "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
		if !r.mayBeZero() {
			controller.RemoveCondition(r.status, scaledToZero)
		}
		return 0, "", nil, true
	case r.current == 0:
	case r.current > r.max:
		return r.max, "Current number of replicas above Spec.MaxReplicas", nil, true
	case r.current < r.min:
		return r.min, belowMinimum, nil, true
	}
	desired, name, metrics, err := r.compute(object.String(scale, "status", "selector"))
	if err != nil {
		r.setStatus(controller.Count(r.status, "desiredReplicas"), metrics)
		r.event(controller.Warning, "FailedComputeMetricsReplicas", err.Error())
		return 0, "", metrics, false
	}
	switch {
	case desired > r.current:
		reason = name + " above target"
	case desired < r.current:
		reason = "All metrics below target"
	}
	desired = r.normalize(desired)
	if r.current == 0 && desired < r.min {
		desired = r.min
		if reason == "" {
			reason = belowMinimum
		}
	}
	return desired, reason, metrics, true
}

// belowMinimum is why there are to be as many replicas as the minimum.
const belowMinimum = "Current number of replicas below Spec.MinReplicas"

// scale returns the type and the Scale of the target.
func (r *reconciliation) scale() (*resource.Type, map[string]any, error) {
	ref := r.hpa.At("spec", "scaleTargetRef")
	kind, name := ref.String("kind"), ref.String("name")
	gv, err := resource.ParseGroupVersion(ref.String("apiVersion"))
	if err != nil {
		return nil, nil, err
	}
	var first error
	for _, t := range r.env.PreferredTypes() {
		if t.Group != gv.Group || t.Kind != kind {
			continue
		}
		scale, err := r.client.Scale(controller.ResourceOf(t), r.object.Namespace, name)
		if err == nil {
			return t, scale, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("no matches for kind %q in group %q", kind, gv.Group)
	}
	return nil, nil, first
}

// rescale sets the replicas of a Scale. A conflict starts it over with the newest Scale.
func (r *reconciliation) rescale(target *resource.Type, scale map[string]any, desired int64) error {
	res := controller.ResourceOf(target)
	for try := 1; ; try++ {
		scale = object.Copy(scale)
		object.Set(scale, desired, "spec", "replicas")
		_, err := r.client.Update(res, "scale", scale)
		if !controller.IsConflict(err) || try == rescaleTries {
			return err
		}
		if fresh, err := r.client.Scale(res, r.object.Namespace, object.String(scale, "metadata", "name")); err == nil {
			scale = fresh
		}
	}
}

const rescaleTries = 5

// compute returns the highest number of replicas that a metric asks for, and the name of
// that metric.
func (r *reconciliation) compute(labelSelector string) (desired int64, name string, statuses []any, err error) {
	labels, err := r.selector(labelSelector)
	if err != nil {
		return 0, "", nil, err
	}
	invalid := 0
	var first *metricError
	for spec := range r.hpa.At("spec", "metrics").Objects() {
		p, err := r.proposal(spec, labels)
		if err != nil {
			r.event(controller.Warning, err.reason, err.cause.Error())
			if first == nil {
				first = err
			}
			invalid++
			statuses = append(statuses, map[string]any{"type": ""})
			continue
		}
		statuses = append(statuses, p.status)
		if desired == 0 || p.replicas > desired {
			desired, name = p.replicas, p.name
		}
	}
	if invalid > 0 && (invalid == len(statuses) || desired < r.current) {
		r.setCondition("ScalingActive", "False", first.reason, "the HPA was unable to compute the replica count: "+first.cause.Error())
		return 0, "", statuses, fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w", invalid, len(statuses), first)
	}
	r.setCondition("ScalingActive", "True", "ValidMetricFound", "the HPA was able to successfully calculate a replica count from "+name)
	return desired, name, statuses, nil
}

// selector returns the selector of the Pods of the target. It fails if another
// HorizontalPodAutoscaler selects one of them.
func (r *reconciliation) selector(text string) (selector.Labels, error) {
	fail := func(event, condition, message string) (selector.Labels, error) {
		r.setCondition("ScalingActive", "False", condition, message)
		if event == "SelectorRequired" {
			message = "selector is required"
		}
		r.event(controller.Warning, event, message)
		return selector.Labels{}, errors.New(message)
	}
	if text == "" {
		return fail("SelectorRequired", "InvalidSelector", "the HPA target's scale is missing a selector")
	}
	labels, err := selector.ParseLabels(text)
	if err != nil {
		return fail("InvalidSelector", "InvalidSelector", fmt.Sprintf("couldn't convert selector into a corresponding internal selector object: %v", err))
	}
	r.selectors[r.object.Key()] = labels
	pods := r.pods.List(r.object.Namespace, labels)
	var selecting []string
	for _, other := range r.autoscalers.List(r.object.Namespace, selector.Labels{}) {
		labels, ok := r.selectors[other.Key()]
		for _, pod := range pods {
			if ok && labels.Matches(selector.Map(pod.Labels)) {
				selecting = append(selecting, fmt.Sprintf("{%s %s}", other.Name, other.Namespace))
				break
			}
		}
	}
	if len(selecting) > 1 {
		message := fmt.Sprintf("pods by selector %v are controlled by multiple HPAs: %v", text, selecting)
		if release := r.env.Release(); release.Has(behavior.AutoscalerErrors) {
			if release.Enabled("HPAOptimizedSelectorStore") {
				selecting = selecting[:2] // the search ends with the second one
			}
			message = fmt.Sprintf("pods by selector %v are controlled by more than one HPA (e.g. %v)", text, selecting)
		}
		return fail("AmbiguousSelector", "AmbiguousSelector", message)
	}
	return labels, nil
}

func (r *reconciliation) event(typ, reason, message string) {
	r.recorder.Event(r.object, typ, reason, "%s", message)
}

// setCondition sets a condition in its place.
func (r *reconciliation) setCondition(typ, status, reason, message string) {
	controller.PutCondition(r.status, map[string]any{
		"type": typ, "status": status, "reason": reason, "message": message, "lastTransitionTime": clock.Timestamp(r.now),
	})
}

// setStatus sets the numbers and the metrics of the status.
func (r *reconciliation) setStatus(desired int64, metrics []any) {
	status := map[string]any{"desiredReplicas": desired, "currentMetrics": nil, "conditions": r.status["conditions"]}
	controller.SetCount(status, "currentReplicas", r.current)
	if r.env.Release().Enabled(generationGate) {
		status["observedGeneration"] = generation(r.hpa)
	}
	if len(metrics) > 0 {
		status["currentMetrics"] = metrics
	}
	object.Keep(status, object.ViewOf(r.status), "lastScaleTime")
	r.status = status
}

// write writes the status if it has changed.
func (r *reconciliation) write() {
	if r.hpa.At("status").EqualTo(r.status) {
		return
	}
	if _, err := r.client.WriteStatus(r.object, r.status, 0); err != nil {
		r.event(controller.Warning, "FailedUpdateStatus", err.Error())
	}
}
