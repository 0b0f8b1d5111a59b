package controller

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// deletionCost is the annotation with the cost of the deletion of a Pod.
const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

// A rankedPod is what decides which of several Pods is deleted first.
type rankedPod struct {
	pod             *Object
	node            string
	phase           int
	ready           bool
	readySince      time.Time
	cost            int64
	related         int // active Pods of related owners on the node
	restarts        int64
	sidecarRestarts int64
	created         time.Time
}

// DeletionRanking returns Pods in the order in which they are to be deleted: those that
// have no node, that are pending, not ready, cheap to delete, on a node with many Pods
// of related owners, ready for a short time, often restarted, or young come first. Times
// are compared by their order of magnitude. onNode has the number of related Pods by
// node; it may be nil.
func DeletionRanking(pods []*Object, onNode map[string]int, now time.Time) []*Object {
	ranked := make([]rankedPod, len(pods))
	for i, pod := range pods {
		ranked[i] = rank(pod, onNode)
	}
	slices.SortStableFunc(ranked, func(a, b rankedPod) int { return a.compare(&b, now) })
	out := make([]*Object, len(pods))
	for i := range ranked {
		out[i] = ranked[i].pod
	}
	return out
}

func rank(pod *Object, onNode map[string]int) rankedPod {
	obj := pod.View()
	r := rankedPod{pod: pod, node: obj.String("spec", "nodeName"), created: Time(obj, "metadata", "creationTimestamp")}
	switch obj.String("status", "phase") {
	case "Unknown":
		r.phase = 1
	case "Running":
		r.phase = 2
	}
	if r.ready = PodReady(obj); r.ready {
		r.readySince = Time(Condition(obj, "Ready"), "lastTransitionTime")
	}
	cost, err := strconv.ParseInt(obj.String("metadata", "annotations", deletionCost), 10, 32)
	if err == nil {
		r.cost = cost
	}
	r.related = onNode[r.node]
	for s := range obj.At("status", "containerStatuses").Objects() {
		r.restarts = max(r.restarts, IntOr(s, 0, "restartCount"))
	}
	sidecars := map[string]bool{}
	for c := range obj.At("spec", "initContainers").Objects() {
		sidecars[c.String("name")] = c.String("restartPolicy") == "Always"
	}
	for s := range obj.At("status", "initContainerStatuses").Objects() {
		if sidecars[s.String("name")] {
			r.sidecarRestarts = max(r.sidecarRestarts, IntOr(s, 0, "restartCount"))
		}
	}
	return r
}

func (r *rankedPod) compare(o *rankedPod, now time.Time) int {
	if (r.node == "") != (o.node == "") {
		return cmp.Compare(len(r.node), len(o.node))
	}
	if c := cmp.Or(cmp.Compare(r.phase, o.phase), compareBools(r.ready, o.ready), cmp.Compare(r.cost, o.cost), cmp.Compare(o.related, r.related)); c != 0 {
		return c
	}
	if r.ready && o.ready && !r.readySince.Equal(o.readySince) {
		return cmp.Or(compareAges(r.readySince, o.readySince, now), cmp.Compare(r.pod.UID, o.pod.UID))
	}
	if c := cmp.Or(cmp.Compare(o.restarts, r.restarts), cmp.Compare(o.sidecarRestarts, r.sidecarRestarts)); c != 0 {
		return c
	}
	if !r.created.Equal(o.created) {
		return cmp.Or(compareAges(r.created, o.created, now), cmp.Compare(r.pod.UID, o.pod.UID))
	}
	return 0
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareAges compares the logarithms of the ages of two times, a zero time first.
func compareAges(a, b, now time.Time) int {
	if a.IsZero() || b.IsZero() {
		return compareBools(!a.IsZero(), !b.IsZero())
	}
	return cmp.Compare(magnitude(now.Sub(a)), magnitude(now.Sub(b)))
}

func magnitude(d time.Duration) int64 {
	if d <= 0 {
		return -1
	}
	return int64(math.Log2(float64(d)))
}
