package table

import (
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// nodeLost is the reason of a pod whose node does not respond.
const nodeLost = "NodeLost"

// printPod prints a pod: the number of its ready containers, its status, and
// how often its containers were restarted.
func printPod(r row) []any {
	s := podState{row: r, status: r.str("status", "phase"), sidecars: map[string]bool{}}
	if reason := r.str("status", "reason"); reason != "" {
		s.status = reason
	}
	for _, c := range objects(r.list("status", "conditions")) {
		if object.String(c, "type") == "PodScheduled" && object.String(c, "reason") == "SchedulingGated" {
			s.status = "SchedulingGated"
		}
	}
	s.total = int64(len(r.list("spec", "containers")))
	for _, c := range objects(r.list("spec", "initContainers")) {
		if object.String(c, "restartPolicy") == "Always" {
			s.sidecars[object.String(c, "name")] = true
			s.total++
		}
	}
	if initializing := s.initContainers(); !initializing || r.holds("Initialized") {
		s.mainContainers()
	}
	if r.deleted() {
		switch phase := r.str("status", "phase"); {
		case r.str("status", "reason") == nodeLost:
			s.status = "Unknown"
		case phase != "Succeeded" && phase != "Failed":
			s.status = "Terminating"
		}
	}
	restarts := itoa(s.restarts.count)
	if s.restarts.count != 0 && !s.restarts.last.IsZero() {
		restarts += " (" + Duration(r.now.Sub(s.restarts.last)) + " ago)"
	}
	ip := ""
	if ips := objects(r.list("status", "podIPs")); len(ips) > 0 {
		ip = object.String(ips[0], "ip")
	}
	return []any{
		r.name(), fraction(s.ready, s.total), s.status, restarts, r.age(),
		or(ip, none), r.or(none, "spec", "nodeName"), r.or(none, "status", "nominatedNodeName"), readinessGates(r),
	}
}

// A podState accumulates the status of a pod over its containers.
type podState struct {
	row
	status       string
	ready, total int64
	sidecars     map[string]bool // restartable init containers
	restarts     restarts        // of the containers that are shown
	sidecar      restarts        // of the sidecars among them
}

// restarts count restarts of containers, with the time of the last one.
type restarts struct {
	count int64
	last  time.Time
}

func (n *restarts) add(status map[string]any) {
	n.count += num(status, "restartCount")
	if t := parseTime(object.String(status, "lastState", "terminated", "finishedAt")); t.After(n.last) {
		n.last = t
	}
}

// initContainers sets the status to that of the first init container that is
// not done. It reports whether there is one.
func (s *podState) initContainers() bool {
	for i, c := range objects(s.list("status", "initContainerStatuses")) {
		sidecar := s.sidecars[object.String(c, "name")]
		s.restarts.add(c)
		if sidecar {
			s.sidecar.add(c)
		}
		terminated := object.Map(c, "state", "terminated")
		waiting := object.String(c, "state", "waiting", "reason")
		switch {
		case terminated != nil && num(terminated, "exitCode") == 0:
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
			s.status = "Init:" + fraction(int64(i), s.size("spec", "initContainers"))
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
	statuses := objects(s.list("status", "containerStatuses"))
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
			if num(terminated, "exitCode") != 0 {
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
	case running && object.Condition(s.obj, "Ready", "True") != nil:
		s.status = "Running"
	case failure != "":
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
	if signal := num(terminated, "signal"); signal != 0 {
		return "Signal:" + itoa(signal)
	}
	return "ExitCode:" + itoa(num(terminated, "exitCode"))
}

func readinessGates(r row) string {
	gates := objects(r.list("spec", "readinessGates"))
	if len(gates) == 0 {
		return none
	}
	open := 0
	for _, g := range gates {
		if r.holds(object.String(g, "conditionType")) {
			open++
		}
	}
	return strconv.Itoa(open) + "/" + strconv.Itoa(len(gates))
}

// podConditions returns the condition of a pod that has completed.
func podConditions(obj map[string]any) []Condition {
	switch phase := object.String(obj, "status", "phase"); phase {
	case "Succeeded":
		return []Condition{{Type: "Completed", Status: "True", Reason: phase, Message: "The pod has completed successfully."}}
	case "Failed":
		return []Condition{{Type: "Completed", Status: "True", Reason: phase, Message: "The pod failed."}}
	}
	return nil
}
