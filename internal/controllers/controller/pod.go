package controller

import (
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
)

// PodReady reports whether a Pod has the condition Ready.
func PodReady(pod object.View) bool { return HasCondition(pod, "Ready", "True") }

// PodAvailable reports whether a Pod has been Ready for minReadySeconds at now.
func PodAvailable(pod object.View, minReadySeconds int64, now time.Time) bool {
	c := Condition(pod, "Ready")
	if c.String("status") != "True" {
		return false
	}
	since := Time(c, "lastTransitionTime")
	return minReadySeconds == 0 || !since.IsZero() && !since.Add(time.Duration(minReadySeconds)*time.Second).After(now)
}

// NextAvailable returns how long it is from now until the first of the Pods that are
// Ready has been so for minReadySeconds, 0 if none will be.
func NextAvailable(pods []*Object, minReadySeconds int64, now time.Time) (next time.Duration) {
	for _, pod := range pods {
		c := Condition(pod.View(), "Ready")
		if minReadySeconds <= 0 || c.String("status") != "True" {
			continue
		}
		since := Time(c, "lastTransitionTime")
		if d := since.Add(time.Duration(minReadySeconds) * time.Second).Sub(now); !since.IsZero() && d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	return next
}

// PodActive reports whether a Pod has not ended and is not being deleted.
func PodActive(pod object.View) bool {
	return !PodEnded(pod) && pod.String("metadata", "deletionTimestamp") == ""
}

// PodEnded reports whether a Pod has succeeded or failed.
func PodEnded(pod object.View) bool {
	phase := pod.String("status", "phase")
	return phase == "Succeeded" || phase == "Failed"
}

// PodTerminated reports whether a Pod has ended, or is being deleted and no container runs: its
// volumes are not in use.
func PodTerminated(pod *Object) bool {
	obj := pod.View()
	if PodEnded(obj) {
		return true
	}
	if !pod.Terminating {
		return false
	}
	for _, field := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for status := range obj.At("status", field).Objects() {
			state := status.At("state")
			if state.IsNil("terminated") && state.IsNil("waiting") {
				return false
			}
		}
	}
	return true
}

// PodCondition returns a condition of a Pod as a patch of its status has it: with the
// generation of the Pod and its times. It returns nil if the Pod has the condition. A reason
// or a message that is "" is removed.
func PodCondition(pod object.View, typ, status, reason, message string, now time.Time) map[string]any {
	c := map[string]any{"type": typ, "status": status, "lastProbeTime": nil, "lastTransitionTime": clock.Timestamp(now)}
	old := Condition(pod, typ)
	if !old.IsNil() && old.String("status") == status {
		if old.String("reason") == reason && old.String("message") == message {
			return nil
		}
		c["lastTransitionTime"] = old.At("lastTransitionTime").Shared()
	}
	for name, value := range map[string]string{"reason": reason, "message": message} {
		if value != "" {
			c[name] = value
		} else if !old.IsNil(name) {
			c[name] = nil // removes it
		}
	}
	if generation, ok := pod.Int("metadata", "generation"); ok {
		c["observedGeneration"] = generation
	}
	return c
}

// DisruptionTarget is the type of the condition of Pods that are about to be deleted.
const DisruptionTarget = "DisruptionTarget"

// PodClaims returns the claims that the volumes of a Pod name, in their order.
func PodClaims(pod *Object) (keys []Key) {
	for v := range pod.View().At("spec", "volumes").Objects() {
		if name := pods.VolumeClaimName(pod.Name, v); name != "" {
			keys = append(keys, Key{pod.Namespace, name})
		}
	}
	return keys
}

// PodFromTemplate returns a Pod of a Pod template that owner is the controller of. Its
// name is generated from that of the owner.
func PodFromTemplate(template object.View, owner *Object) map[string]any {
	meta := map[string]any{"generateName": podPrefix(owner.Name), "ownerReferences": []any{ControllerRef(owner)}}
	for _, field := range []string{"labels", "annotations", "finalizers"} {
		if v := template.At("metadata", field); !v.IsNil() {
			meta[field] = v.Copy()
		}
	}
	pod := map[string]any{"metadata": meta}
	if spec := template.At("spec"); !spec.IsNil() {
		pod["spec"] = spec.Copy()
	}
	return pod
}

// maxPodPrefix is the longest name with a dash that still is a valid name of a Pod.
const maxPodPrefix = 253

func podPrefix(name string) string {
	if len(name)+1 > maxPodPrefix {
		return name
	}
	return name + "-"
}
