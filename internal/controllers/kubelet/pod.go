package kubelet

import (
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
)

// syncPod moves a Pod to its next state. Each sync writes the Pod at most once: the
// next one follows the change.
func (k *kubelet) syncPod(key controller.Key) error {
	o := k.pods.Get(key.Namespace, key.Name)
	if o == nil {
		return nil
	}
	pod := o.Generic()
	node := object.String(pod, "spec", "nodeName")
	if !k.runs(node) {
		return nil
	}
	behaviors := k.behavior.Of(o.Namespace, o.Labels)
	if len(behaviors) == 0 {
		if stages := k.behavior.Stages("Pod"); len(stages) > 0 {
			return k.play("Pod", stages, o, node, k.podQueue)
		}
	}
	if o.Terminating {
		return k.terminate(o, node, behaviors)
	}
	if controller.PodEnded(pod) {
		return nil
	}
	w := &worker{kubelet: k, object: o, pod: pod, node: node, behaviors: behaviors, now: k.env.Now()}
	status := w.status()
	if !w.wake.IsZero() {
		k.podQueue.AddAfter(key, w.wake.Sub(w.now))
	}
	if len(status) > 0 {
		if _, err := k.patch(controller.Pods, node, o, "status", map[string]any{"status": status}); err != nil {
			return err
		}
	}
	for _, e := range w.events {
		k.recorder(node).EventFor(e.about, e.typ, e.reason, "%s", e.message)
	}
	return nil
}

// terminate ends a Pod that is being deleted: at once, or at the end of its grace
// period if its containers hang.
func (k *kubelet) terminate(o *controller.Object, node string, behaviors []lifecycle.Behavior) error {
	pod := o.Generic()
	if !controller.PodEnded(pod) {
		for c := range object.Each(object.Value(pod, "spec", "containers")) {
			b, ok := lifecycle.Find(behaviors, object.String(c, "name"), false)
			until := controller.Time(pod, "metadata", "deletionTimestamp")
			if left := until.Sub(k.env.Now()); ok && b.Action == lifecycle.Hang && left > 0 {
				k.podQueue.AddAfter(o.Key(), left)
				return nil
			}
		}
		if len(object.List(pod, "metadata", "finalizers")) > 0 {
			// The Pod stays: others see that its containers have stopped.
			w := &worker{kubelet: k, object: o, pod: pod, node: node, behaviors: behaviors, now: k.env.Now(), killed: true}
			_, err := k.patch(controller.Pods, node, o, "status", map[string]any{"status": w.status()})
			return err
		}
	}
	if grace, ok := object.Int(pod, "metadata", "deletionGracePeriodSeconds"); ok && grace == 0 && len(object.List(pod, "metadata", "finalizers")) > 0 {
		return nil // the deletion is complete but for the finalizers
	}
	zero := int64(0)
	return ignoreGone(k.client(node).Delete(controller.Pods, o.Namespace, o.Name, controller.DeleteOptions{UID: o.UID, GracePeriod: &zero}))
}

// A worker computes the status of a Pod.
type worker struct {
	*kubelet
	object    *controller.Object
	pod       map[string]any
	node      string
	behaviors []lifecycle.Behavior
	now       time.Time
	killed    bool // all containers have been stopped

	wake   time.Time // when something is to be done next; the zero time if nothing is
	events []podEvent
}

type podEvent struct {
	about                map[string]any
	typ, reason, message string
}

// event records an Event about a container.
func (w *worker) event(container, typ, reason, message string) {
	ref := controller.Reference(w.object)
	ref["fieldPath"] = "spec.containers{" + container + "}"
	w.events = append(w.events, podEvent{ref, typ, reason, message})
}

// until wakes the worker at a time.
func (w *worker) until(t time.Time) {
	if w.wake.IsZero() || t.Before(w.wake) {
		w.wake = t
	}
}

// status returns what must change in the status of the Pod.
func (w *worker) status() map[string]any {
	spec, old := object.Map(w.pod, "spec"), object.Map(w.pod, "status")
	was := statuses(old)
	new := map[string]any{}
	set := func(name string, v any) {
		if !object.Equal(old[name], v) {
			new[name] = v
		}
	}
	inits, initialized, initFailed := w.initContainers(spec, was)
	var containers []any
	for c := range object.Each(spec["containers"]) {
		containers = append(containers, w.container(c, was[object.String(c, "name")], initialized, w.jobPod()))
	}
	phase := w.phase(spec, containers, initialized, initFailed)
	expired := w.expired(spec, old)
	if expired || w.killed {
		phase = "Failed"
		for _, list := range [][]any{containers, inits} {
			for i := range list {
				list[i] = w.stopped(list[i].(map[string]any))
			}
		}
	}
	if phase == "Succeeded" || phase == "Failed" {
		for i := range inits { // sidecars
			if s := inits[i].(map[string]any); object.Map(s, "state", "running") != nil {
				inits[i] = w.exited(s, 0)
			}
		}
	}
	if len(inits) > 0 {
		set("initContainerStatuses", inits)
	}
	set("containerStatuses", containers)
	if ephemeral := w.ephemeral(spec, old); ephemeral != nil {
		set("ephemeralContainerStatuses", ephemeral)
	}
	set("phase", phase)
	if expired {
		set("reason", "DeadlineExceeded")
		set("message", "Pod was active on the node longer than the specified deadline")
	}
	if object.String(old, "startTime") == "" {
		set("startTime", clock.Timestamp(w.now))
	}
	w.addresses(spec, old, set)
	if generation, ok := object.Int(w.pod, "metadata", "generation"); ok {
		set("observedGeneration", generation)
	}
	if conditions := w.conditions(spec, inits, containers, phase); len(conditions) > 0 {
		new["conditions"] = conditions
	}
	return new
}

// statuses returns the statuses of all containers by their names.
func statuses(status map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for s := range object.Each(status[list]) {
			out[object.String(s, "name")] = s
		}
	}
	return out
}

// addresses sets the addresses of the Pod and its Node.
func (w *worker) addresses(spec, old map[string]any, set func(string, any)) {
	if object.String(old, "hostIP") == "" {
		if ips := (host{w.kubelet}).NodeIPs(w.node); len(ips) > 0 {
			set("hostIP", ips[0])
			set("hostIPs", ipList(ips))
		}
	}
	if object.String(old, "podIP") == "" && !w.killed {
		if ips := w.podIPs(w.node, object.Bool(spec, "hostNetwork"), w.object.Key()); len(ips) > 0 {
			set("podIP", ips[0])
			set("podIPs", ipList(ips))
		}
	}
}

func ipList(ips []string) []any {
	out := make([]any, len(ips))
	for i, ip := range ips {
		out[i] = map[string]any{"ip": ip}
	}
	return out
}

// jobPod reports whether the Pod belongs to a Job.
func (w *worker) jobPod() bool {
	for ref := range object.Each(object.Value(w.pod, "metadata", "ownerReferences")) {
		if object.String(ref, "kind") == "Job" {
			return true
		}
	}
	return false
}

// expired reports whether the Pod has run longer than its activeDeadlineSeconds.
func (w *worker) expired(spec, old map[string]any) bool {
	seconds, ok := object.Int(spec, "activeDeadlineSeconds")
	if !ok {
		return false
	}
	start := controller.Time(old, "startTime")
	if start.IsZero() {
		start = w.now
	}
	end := start.Add(time.Duration(seconds) * time.Second)
	if end.After(w.now) {
		w.until(end)
		return false
	}
	return true
}

// phase returns the phase of the Pod.
func (w *worker) phase(spec map[string]any, containers []any, initialized, initFailed bool) string {
	if initFailed {
		return "Failed"
	}
	if !initialized {
		return "Pending"
	}
	var waiting, running, succeeded, ended int
	for s := range object.Each(containers) {
		switch state := object.Map(s, "state"); {
		case state["running"] != nil:
			running++
		case state["terminated"] != nil:
			ended++
			if code, _ := object.Int(state, "terminated", "exitCode"); code == 0 {
				succeeded++
			}
		case object.Map(s, "lastState", "terminated") != nil:
			ended++
		default:
			waiting++
		}
	}
	policy := object.String(spec, "restartPolicy")
	switch {
	case waiting > 0:
		return "Pending"
	case running > 0 || policy == "Always" || policy == "":
		return "Running"
	case succeeded == ended:
		return "Succeeded"
	case policy == "Never":
		return "Failed"
	}
	return "Running"
}

// ephemeral returns the statuses of the ephemeral containers, which run.
func (w *worker) ephemeral(spec, old map[string]any) (out []any) {
	was := statuses(old)
	for c := range object.Each(spec["ephemeralContainers"]) {
		if s := was[object.String(c, "name")]; s != nil {
			out = append(out, s)
			continue
		}
		s := w.running(c, nil, true)
		s["ready"] = false
		out = append(out, s)
	}
	return out
}
