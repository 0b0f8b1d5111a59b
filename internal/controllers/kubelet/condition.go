package kubelet

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// conditions returns the conditions of the Pod that must change.
func (w *worker) conditions(spec map[string]any, inits, containers []any, phase string) (out []any) {
	started := phase != "Succeeded" && phase != "Failed"
	ready := w.containersReady(spec, inits, containers, phase)
	for _, c := range []verdict{
		{typ: "PodReadyToStartContainers", status: started},
		w.initialized(spec, inits, containers, phase),
		ready.as("Ready", w.gates(spec)),
		ready.as("ContainersReady", ""),
	} {
		if c := w.condition(c); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// A verdict is a condition without its times.
type verdict struct {
	typ             string
	status          bool
	reason, message string
}

// as returns the verdict under another type. It is False with a message of the
// readiness gates, if there is one.
func (v verdict) as(typ, gates string) verdict {
	v.typ = typ
	if v.status && gates != "" {
		v.status, v.reason, v.message = false, "ReadinessGatesNotReady", gates
	}
	return v
}

// condition returns the condition, nil if the Pod has it.
func (w *worker) condition(v verdict) map[string]any {
	status := "False"
	if v.status {
		status = "True"
	}
	return controller.PodCondition(w.pod, v.typ, status, v.reason, v.message, w.now)
}

func (w *worker) initialized(spec map[string]any, inits, containers []any, phase string) verdict {
	v := verdict{typ: "Initialized", status: true}
	if phase == "Succeeded" {
		v.reason = "PodCompleted"
		return v
	}
	for s := range object.Each(containers) {
		if object.Map(s, "state", "running") != nil || object.Map(s, "state", "terminated") != nil || object.Map(s, "lastState", "terminated") != nil {
			return v
		}
	}
	var incomplete []string
	i := 0
	for c := range object.Each(spec["initContainers"]) {
		s, _ := inits[i].(map[string]any)
		i++
		field := "ready"
		if object.String(c, "restartPolicy") == "Always" {
			field = "started"
		}
		if !object.Bool(s, field) {
			incomplete = append(incomplete, object.String(c, "name"))
		}
	}
	if len(incomplete) > 0 {
		v.status, v.reason, v.message = false, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %s", incomplete)
	}
	return v
}

func (w *worker) containersReady(spec map[string]any, inits, containers []any, phase string) verdict {
	switch phase {
	case "Succeeded":
		return verdict{reason: "PodCompleted"}
	case "Failed":
		return verdict{reason: "PodFailed"}
	}
	var unready []string
	i := 0
	for c := range object.Each(spec["initContainers"]) {
		s, _ := inits[i].(map[string]any)
		i++
		if object.String(c, "restartPolicy") == "Always" && !object.Bool(s, "ready") {
			unready = append(unready, object.String(c, "name"))
		}
	}
	for s := range object.Each(containers) {
		if !object.Bool(s, "ready") {
			unready = append(unready, object.String(s, "name"))
		}
	}
	if len(unready) > 0 {
		return verdict{reason: "ContainersNotReady", message: fmt.Sprintf("containers with unready status: %s", unready)}
	}
	return verdict{status: true}
}

// gates returns what keeps the readiness gates of the Pod from being ready, "" if
// nothing does.
func (w *worker) gates(spec map[string]any) string {
	var messages []string
	for g := range object.Each(spec["readinessGates"]) {
		typ := object.String(g, "conditionType")
		switch c := controller.Condition(w.pod, typ); {
		case c == nil:
			messages = append(messages, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", typ))
		case object.String(c, "status") != "True":
			messages = append(messages, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", typ, object.String(c, "status")))
		}
	}
	return strings.Join(messages, ", ")
}
