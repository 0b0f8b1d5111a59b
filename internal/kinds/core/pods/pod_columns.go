package pods

import (
	"cmp"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/table"
)

// nodeLost is the reason of a pod whose node does not respond.
const nodeLost = "NodeLost"

// podCells returns the cells of a Pod: how many of its containers are ready, its
// status, how often its containers were restarted, and so on.
func podCells(r table.Row) []any {
	s := podState{Row: r, status: r.String("status", "phase"), sidecars: map[string]bool{}}
	if reason := r.String("status", "reason"); reason != "" {
		s.status = reason
	}
	for _, c := range r.Objects("status", "conditions") {
		if object.String(c, "type") == "PodScheduled" && object.String(c, "reason") == "SchedulingGated" {
			s.status = "SchedulingGated"
		}
	}
	s.total = r.Len("spec", "containers")
	for _, c := range r.Objects("spec", "initContainers") {
		if object.String(c, "restartPolicy") == "Always" {
			s.sidecars[object.String(c, "name")] = true
			s.total++
		}
	}
	if initializing := s.initContainers(); !initializing || r.HasCondition("Initialized") {
		s.mainContainers()
	}
	if r.Deleted() {
		switch phase := r.String("status", "phase"); {
		case r.String("status", "reason") == nodeLost:
			s.status = "Unknown"
		case phase != "Succeeded" && phase != "Failed":
			s.status = "Terminating"
		}
	}
	restarts := strconv.FormatInt(s.restarts.count, 10)
	if s.restarts.count != 0 && !s.restarts.last.IsZero() {
		restarts += " (" + table.Duration(r.Now.Sub(s.restarts.last)) + " ago)"
	}
	ip := ""
	if ips := r.Objects("status", "podIPs"); len(ips) > 0 {
		ip = object.String(ips[0], "ip")
	}
	return []any{
		r.Name(), table.Fraction(s.ready, s.total), s.status, restarts, r.Age(),
		cmp.Or(ip, table.None), r.Or(table.None, "spec", "nodeName"), r.Or(table.None, "status", "nominatedNodeName"), readinessGates(r),
	}
}

// A podState accumulates the status of a pod over its containers.
type podState struct {
	table.Row
	status       string
	ready, total int64
	sidecars     map[string]bool // restartable init containers
	restarts     restartCount    // of the containers that are shown
	sidecar      restartCount    // of the sidecars among them
}

// A restartCount counts restarts of containers, and has the time of the last one.
type restartCount struct {
	count int64
	last  time.Time
}

func (n *restartCount) add(status map[string]any) {
	n.count += table.Int(status, "restartCount")
	if t := table.ParseTime(object.String(status, "lastState", "terminated", "finishedAt")); t.After(n.last) {
		n.last = t
	}
}

// initContainers sets the status to that of the first init container that is
// not done. It reports whether there is one.
func (s *podState) initContainers() bool {
	for i, c := range s.Objects("status", "initContainerStatuses") {
		sidecar := s.sidecars[object.String(c, "name")]
		s.restarts.add(c)
		if sidecar {
			s.sidecar.add(c)
		}
		terminated := object.Map(c, "state", "terminated")
		waiting := object.String(c, "state", "waiting", "reason")
		switch {
		case terminated != nil && table.Int(terminated, "exitCode") == 0:
			continue
		case sidecar && object.Bool(c, "started"):
			if object.Bool(c, "ready") {
				s.ready++
			}
			continue
		case terminated != nil:
			s.status = "Init:" + terminationReason(terminated)
		case waiting != "" && waiting != "PodInitializing":
			s.status = "Init:" + waiting
		default:
			s.status = "Init:" + table.Fraction(int64(i), s.Len("spec", "initContainers"))
		}
		return true
	}
	return false
}

// mainContainers sets the status to that of the first container that waits or
// has terminated.
func (s *podState) mainContainers() {
	s.restarts = s.sidecar
	running, failure := false, ""
	statuses := s.Objects("status", "containerStatuses")
	for i := len(statuses) - 1; i >= 0; i-- {
		c := statuses[i]
		s.restarts.add(c)
		terminated := object.Map(c, "state", "terminated")
		waiting := object.String(c, "state", "waiting", "reason")
		switch {
		case waiting != "":
			s.status = waiting
		case terminated != nil:
			s.status = terminationReason(terminated)
			if table.Int(terminated, "exitCode") != 0 {
				failure = s.status
			}
		case object.Bool(c, "ready") && object.Map(c, "state", "running") != nil:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	switch {
	case running && !object.ViewOf(s.Obj).Condition("Ready", "True").IsNil():
		s.status = "Running"
	case failure != "" && !s.Before(behavior.PodFailureStatus):
		s.status = failure
	case running:
		s.status = "NotReady"
	}
}

// terminationReason returns why a container terminated.
func terminationReason(terminated map[string]any) string {
	if reason := object.String(terminated, "reason"); reason != "" {
		return reason
	}
	if signal := table.Int(terminated, "signal"); signal != 0 {
		return "Signal:" + strconv.FormatInt(signal, 10)
	}
	return "ExitCode:" + strconv.FormatInt(table.Int(terminated, "exitCode"), 10)
}

// readinessGates returns how many of the readiness gates are open.
func readinessGates(r table.Row) string {
	gates := r.Objects("spec", "readinessGates")
	if len(gates) == 0 {
		return table.None
	}
	open := int64(0)
	for _, g := range gates {
		if r.HasCondition(object.String(g, "conditionType")) {
			open++
		}
	}
	return table.Fraction(open, int64(len(gates)))
}

// podConditions returns the condition of a pod that has completed.
func podConditions(obj map[string]any) []table.Condition {
	switch phase := object.String(obj, "status", "phase"); phase {
	case "Succeeded":
		return []table.Condition{{Type: "Completed", Status: "True", Reason: phase, Message: "The pod has completed successfully."}}
	case "Failed":
		return []table.Condition{{Type: "Completed", Status: "True", Reason: phase, Message: "The pod failed."}}
	}
	return nil
}
