package table

import (
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// nodeLost is the reason of a pod whose node is not heard of.
const nodeLost = "NodeLost"

// printPod prints a pod: how many of its containers are ready, one word for
// how it fares, and how often its containers were restarted.
func printPod(r row) []any {
	s := podState{row: r, word: r.str("status", "phase"), sidecars: map[string]bool{}}
	if reason := r.str("status", "reason"); reason != "" {
		s.word = reason
	}
	for _, c := range objects(r.list("status", "conditions")) {
		if object.String(c, "type") == "PodScheduled" && object.String(c, "reason") == "SchedulingGated" {
			s.word = "SchedulingGated"
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
			s.word = "Unknown"
		case phase != "Succeeded" && phase != "Failed":
			s.word = "Terminating"
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
		r.name(), fraction(s.ready, s.total), s.word, restarts, r.age(),
		or(ip, none), r.or(none, "spec", "nodeName"), r.or(none, "status", "nominatedNodeName"), readinessGates(r),
	}
}

// A podState is what is told of a pod while its containers are looked through.
type podState struct {
	row
	word         string
	ready, total int64
	sidecars     map[string]bool // the init containers that keep running
	restarts     restarts        // those that are told
	sidecar      restarts        // of them, the sidecars'
}

// restarts are how often containers were restarted, and when last.
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

// initContainers goes through the init containers up to the first that is not
// done, which gives the word. It reports whether there is one.
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
			s.word = "Init:" + exitWord(terminated)
		case waiting != "" && waiting != "PodInitializing":
			s.word = "Init:" + waiting
		default:
			s.word = "Init:" + fraction(int64(i), s.size("spec", "initContainers"))
		}
		return true
	}
	return false
}

// mainContainers goes through the containers from the last to the first; each
// that waits or has ended gives the word anew.
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
			s.word = waiting
		case terminated != nil:
			s.word = exitWord(terminated)
			if num(terminated, "exitCode") != 0 {
				failure = s.word
			}
		case object.Bool(c, "ready") && object.Map(c, "state", "running") != nil:
			running = true
			s.ready++
		}
	}
	if s.word != "Completed" {
		return
	}
	switch {
	case running && object.Condition(s.obj, "Ready", "True") != nil:
		s.word = "Running"
	case failure != "":
		s.word = failure
	case running:
		s.word = "NotReady"
	}
}

// exitWord tells why a container ended.
func exitWord(terminated map[string]any) string {
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

// podConditions tell of pods that have run their course.
func podConditions(obj map[string]any) []Condition {
	switch phase := object.String(obj, "status", "phase"); phase {
	case "Succeeded":
		return []Condition{{Type: "Completed", Status: "True", Reason: phase, Message: "The pod has completed successfully."}}
	case "Failed":
		return []Condition{{Type: "Completed", Status: "True", Reason: phase, Message: "The pod failed."}}
	}
	return nil
}
