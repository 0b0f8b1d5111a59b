package kubelet

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// conditions returns the conditions of the Pod that must change.
func (w *worker) conditions(spec object.View, inits, containers []object.View, phase string) (out []any) {
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

func (w *worker) initialized(spec object.View, inits, containers []object.View, phase string) verdict {
	v := verdict{typ: "Initialized", status: true}
	if phase == "Succeeded" {
		v.reason = "PodCompleted"
		return v
	}
	for _, s := range containers {
		if !s.IsNil("state", "running") || !s.IsNil("state", "terminated") || !s.IsNil("lastState", "terminated") {
			return v
		}
	}
	var incomplete []string
	i := 0
	for c := range spec.At("initContainers").Objects() {
		s := inits[i]
		i++
		field := "ready"
		if c.String("restartPolicy") == "Always" {
			field = "started"
		}
		if !s.Bool(field) {
			incomplete = append(incomplete, c.String("name"))
		}
	}
	if len(incomplete) > 0 {
		v.status, v.reason, v.message = false, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %s", incomplete)
	}
	return v
}

func (w *worker) containersReady(spec object.View, inits, containers []object.View, phase string) verdict {
	switch phase {
	case "Succeeded":
		return verdict{reason: "PodCompleted"}
	case "Failed":
		return verdict{reason: "PodFailed"}
	}
	var unready []string
	i := 0
	for c := range spec.At("initContainers").Objects() {
		s := inits[i]
		i++
		if c.String("restartPolicy") == "Always" && !s.Bool("ready") {
			unready = append(unready, c.String("name"))
		}
	}
	for _, s := range containers {
		if !s.Bool("ready") {
			unready = append(unready, s.String("name"))
		}
	}
	if len(unready) > 0 {
		return verdict{reason: "ContainersNotReady", message: fmt.Sprintf("containers with unready status: %s", unready)}
	}
	return verdict{status: true}
}

// gates returns what keeps the readiness gates of the Pod from being ready, "" if
// nothing does.
func (w *worker) gates(spec object.View) string {
	var messages []string
	for g := range spec.At("readinessGates").Objects() {
		typ := g.String("conditionType")
		switch c := controller.Condition(w.pod, typ); {
		case c.IsNil():
			messages = append(messages, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", typ))
		case c.String("status") != "True":
			messages = append(messages, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", typ, c.String("status")))
		}
	}
	return strings.Join(messages, ", ")
}
