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
	pod := o.View()
	node := pod.String("spec", "nodeName")
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
	pod := o.View()
	if !controller.PodEnded(pod) {
		for c := range pod.At("spec", "containers").Objects() {
			b, ok := lifecycle.Find(behaviors, c.String("name"), false)
			until := controller.Time(pod, "metadata", "deletionTimestamp")
			if left := until.Sub(k.env.Now()); ok && b.Action == lifecycle.Hang && left > 0 {
				k.podQueue.AddAfter(o.Key(), left)
				return nil
			}
		}
		if pod.Len("metadata", "finalizers") > 0 {
			// The Pod stays: others see that its containers have stopped.
			w := &worker{kubelet: k, object: o, pod: pod, node: node, behaviors: behaviors, now: k.env.Now(), killed: true}
			_, err := k.patch(controller.Pods, node, o, "status", map[string]any{"status": w.status()})
			return err
		}
	}
	if grace, ok := pod.Int("metadata", "deletionGracePeriodSeconds"); ok && grace == 0 && pod.Len("metadata", "finalizers") > 0 {
		return nil // the deletion is complete but for the finalizers
	}
	zero := int64(0)
	return ignoreGone(k.client(node).Delete(controller.Pods, o.Namespace, o.Name, controller.DeleteOptions{UID: o.UID, GracePeriod: &zero}))
}

// A worker computes the status of a Pod.
type worker struct {
	*kubelet
	object    *controller.Object
	pod       object.View
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
	spec, old := w.pod.At("spec"), w.pod.At("status")
	was := statuses(old)
	new := map[string]any{}
	set := func(name string, v any) {
		if !old.At(name).EqualTo(v) {
			new[name] = v
		}
	}
	inits, initialized, initFailed := w.initContainers(spec, was)
	var containers []object.View
	for c := range spec.At("containers").Objects() {
		containers = append(containers, w.container(c, was[c.String("name")], initialized, w.jobPod()))
	}
	phase := w.phase(spec, containers, initialized, initFailed)
	expired := w.expired(spec, old)
	if expired || w.killed {
		phase = "Failed"
		for _, list := range [][]object.View{containers, inits} {
			for i := range list {
				list[i] = w.stopped(list[i])
			}
		}
	}
	if phase == "Succeeded" || phase == "Failed" {
		for i, s := range inits { // sidecars
			if !s.IsNil("state", "running") {
				inits[i] = w.exited(s, 0)
			}
		}
	}
	if len(inits) > 0 {
		set("initContainerStatuses", sharedList(inits))
	}
	set("containerStatuses", sharedList(containers))
	if ephemeral := w.ephemeral(spec, old); len(ephemeral) > 0 {
		set("ephemeralContainerStatuses", sharedList(ephemeral))
	}
	set("phase", phase)
	if expired {
		set("reason", "DeadlineExceeded")
		set("message", "Pod was active on the node longer than the specified deadline")
	}
	if old.String("startTime") == "" {
		set("startTime", clock.Timestamp(w.now))
	}
	w.addresses(spec, old, set)
	if generation, ok := w.pod.Int("metadata", "generation"); ok {
		set("observedGeneration", generation)
	}
	if conditions := w.conditions(spec, inits, containers, phase); len(conditions) > 0 {
		new["conditions"] = conditions
	}
	return new
}

// sharedList returns statuses of containers as a list, nil if there are none.
func sharedList(statuses []object.View) (list []any) {
	for _, s := range statuses {
		list = append(list, s.Shared())
	}
	return list
}

// statuses returns the statuses of all containers by their names.
func statuses(status object.View) map[string]object.View {
	out := map[string]object.View{}
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for s := range status.At(list).Objects() {
			out[s.String("name")] = s
		}
	}
	return out
}

// addresses sets the addresses of the Pod and its Node.
func (w *worker) addresses(spec, old object.View, set func(string, any)) {
	if old.String("hostIP") == "" {
		if ips := (host{w.kubelet}).NodeIPs(w.node); len(ips) > 0 {
			set("hostIP", ips[0])
			set("hostIPs", ipList(ips))
		}
	}
	if old.String("podIP") == "" && !w.killed {
		if ips := w.podIPs(w.node, spec.Bool("hostNetwork"), w.object.Key()); len(ips) > 0 {
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
	for ref := range w.pod.At("metadata", "ownerReferences").Objects() {
		if ref.String("kind") == "Job" {
			return true
		}
	}
	return false
}

// expired reports whether the Pod has run longer than its activeDeadlineSeconds.
func (w *worker) expired(spec, old object.View) bool {
	seconds, ok := spec.Int("activeDeadlineSeconds")
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
func (w *worker) phase(spec object.View, containers []object.View, initialized, initFailed bool) string {
	if initFailed {
		return "Failed"
	}
	if !initialized {
		return "Pending"
	}
	var waiting, running, succeeded, ended int
	for _, s := range containers {
		switch state := s.At("state"); {
		case !state.IsNil("running"):
			running++
		case !state.IsNil("terminated"):
			ended++
			if code, _ := state.Int("terminated", "exitCode"); code == 0 {
				succeeded++
			}
		case !s.IsNil("lastState", "terminated"):
			ended++
		default:
			waiting++
		}
	}
	policy := spec.String("restartPolicy")
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
func (w *worker) ephemeral(spec, old object.View) (out []object.View) {
	was := statuses(old)
	for c := range spec.At("ephemeralContainers").Objects() {
		s, ok := was[c.String("name")]
		if !ok {
			s = w.running(c, object.View{}, false)
		}
		out = append(out, s)
	}
	return out
}
