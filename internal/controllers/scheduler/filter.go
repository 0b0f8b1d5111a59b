package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
)

// A rejection is why a plugin does not accept a Node for a Pod.
type rejection struct {
	plugin  string
	reasons []string
	final   bool // the removal of Pods does not help
}

func unschedulable(reasons ...string) *rejection { return &rejection{reasons: reasons} }
func unresolvable(reasons ...string) *rejection  { return &rejection{reasons: reasons, final: true} }

// An attempt is one attempt to schedule a Pod.
type attempt struct {
	pod      *pod
	interPod *interPod
	spreads  []*spread
	volumes  *volumes
	only     []string // the names of the only Nodes that required node affinity permits; nil: all
}

// newAttempt computes what the filters need. It returns the reason why no Node is
// acceptable, if there is one.
func (s *scheduler) newAttempt(p *pod) (a *attempt, plugin, reason string) {
	a = &attempt{pod: p, only: onlyNodes(p.view())}
	if a.volumes, plugin, reason = s.podVolumes(p); reason != "" {
		return a, plugin, reason
	}
	s.refresh(a)
	return a, "", ""
}

// refresh computes what depends on the Pods of the Nodes.
func (s *scheduler) refresh(a *attempt) {
	a.interPod = s.interPodState(a.pod)
	a.spreads = s.spreads(a.pod)
}

// onlyNodes returns the names of the Nodes that required node affinity selects by name,
// as that of Pods of DaemonSets does; nil if it does not.
func onlyNodes(pod object.View) (names []string) {
	for t := range pod.At("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Objects() {
		var of []string
		for f := range t.At("matchFields").Objects() {
			if f.String("key") == "metadata.name" && f.String("operator") == "In" {
				of = append(of, f.Strings("values")...)
			}
		}
		if of == nil {
			return nil
		}
		names = append(names, of...)
	}
	return names
}

// filters are the plugins that accept or reject a Node, in kube-scheduler's order.
var filters = []struct {
	plugin string
	filter func(*scheduler, *attempt, *node) *rejection
}{
	{"NodeUnschedulable", (*scheduler).filterUnschedulable},
	{"TaintToleration", (*scheduler).filterTaints},
	{"NodeAffinity", (*scheduler).filterNodeAffinity},
	{"NodePorts", (*scheduler).filterPorts},
	{"NodeResourcesFit", (*scheduler).filterResources},
	{"VolumeRestrictions", (*scheduler).filterVolumeRestrictions},
	{"VolumeBinding", (*scheduler).filterVolumes},
	{"PodTopologySpread", (*scheduler).filterSpread},
	{"InterPodAffinity", (*scheduler).filterInterPod},
}

// filter returns the rejection of a Node by the first plugin that does not accept it,
// nil if all accept it. Pods of the same or a higher priority that are nominated to
// the Node count as if they were there.
func (s *scheduler) filter(a *attempt, n *node) *rejection {
	var guests []*pod
	for _, p := range n.nominated {
		if p.priority >= a.pod.priority && p.key() != a.pod.key() && s.cache.assigned[p.key()] == nil {
			guests = append(guests, p)
		}
	}
	if len(guests) == 0 {
		return s.filterAlone(a, n)
	}
	for _, p := range guests {
		n.add(p)
	}
	s.refresh(a)
	r := s.filterAlone(a, n)
	for _, p := range guests {
		n.remove(p)
	}
	s.refresh(a)
	if r != nil {
		return r
	}
	return s.filterAlone(a, n)
}

func (s *scheduler) filterAlone(a *attempt, n *node) *rejection {
	for i := range filters {
		if r := filters[i].filter(s, a, n); r != nil {
			r.plugin = filters[i].plugin
			return r
		}
	}
	return nil
}

var unschedulableTaint = object.ViewOf(map[string]any{"key": "node.kubernetes.io/unschedulable", "effect": controller.NoSchedule})

func (s *scheduler) filterUnschedulable(a *attempt, n *node) *rejection {
	if n.view().Bool("spec", "unschedulable") && !controller.Tolerates(a.pod.view().At("spec", "tolerations"), unschedulableTaint) {
		return unresolvable("node(s) were unschedulable")
	}
	return nil
}

func (s *scheduler) filterTaints(a *attempt, n *node) *rejection {
	if !controller.UntoleratedTaint(n.view(), a.pod.view(), controller.NoSchedule, controller.NoExecute).IsNil() {
		return unresolvable("node(s) had untolerated taint(s)")
	}
	return nil
}

func (s *scheduler) filterNodeAffinity(a *attempt, n *node) *rejection {
	if !controller.NodeSelected(a.pod.view(), n.view()) {
		return unresolvable("node(s) didn't match Pod's node affinity/selector")
	}
	return nil
}

func (s *scheduler) filterPorts(a *attempt, n *node) *rejection {
	for _, want := range a.pod.ports {
		for has := range n.ports {
			if want.conflicts(has) {
				return unschedulable("node(s) didn't have free ports for the requested pod ports")
			}
		}
	}
	return nil
}

func (s *scheduler) filterResources(a *attempt, n *node) *rejection {
	var r *rejection
	reject := func(reason string, final bool) {
		if r == nil {
			r = &rejection{}
		}
		r.reasons = append(r.reasons, reason)
		r.final = r.final || final
	}
	if int64(len(n.pods))+1 > n.allocatable["pods"] {
		reject("Too many pods", false)
	}
	for _, name := range sortedNames(a.pod.requests) {
		want := a.pod.requests[name]
		if want > 0 && want > n.allocatable[name]-n.requested[name] {
			reject("Insufficient "+name, want > n.allocatable[name])
		}
	}
	return r
}

func sortedNames(a amounts) []string {
	names := make([]string, 0, len(a))
	for name := range a {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A diagnosis says why no Node fits.
type diagnosis struct {
	total     int                   // Nodes
	rejected  map[string]*rejection // by the names of Nodes
	absent    *rejection            // of the Nodes that are not in rejected
	preFilter string                // why no Node was looked at
	post      string                // what preemption found
}

// plugins returns the names of the plugins that rejected Nodes.
func (d *diagnosis) plugins() map[string]bool {
	out := map[string]bool{}
	for _, r := range d.rejected {
		out[r.plugin] = true
	}
	if d.absent != nil {
		out[d.absent.plugin] = true
	}
	return out
}

// String returns the message of Events and conditions: "0/1 nodes are available: 1
// Insufficient cpu. preemption: ...".
func (d *diagnosis) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "0/%d nodes are available:", d.total)
	if d.preFilter != "" {
		fmt.Fprintf(&b, " %s.", d.preFilter)
	} else {
		counts := map[string]int{}
		for _, r := range d.rejected {
			for _, reason := range r.reasons {
				counts[reason]++
			}
		}
		if d.absent != nil && len(d.rejected) < d.total {
			for _, reason := range d.absent.reasons {
				counts[reason] += d.total - len(d.rejected)
			}
		}
		lines := make([]string, 0, len(counts))
		for reason, n := range counts {
			lines = append(lines, fmt.Sprintf("%d %s", n, reason))
		}
		slices.Sort(lines)
		if len(lines) > 0 {
			fmt.Fprintf(&b, " %s.", strings.Join(lines, ", "))
		}
	}
	if d.post != "" {
		b.WriteString(" " + d.post)
	}
	return b.String()
}

// feasible returns the Nodes that fit, sorted by name, and why the others do not.
func (s *scheduler) feasible(a *attempt) ([]*node, *diagnosis) {
	all := s.cache.all()
	d := &diagnosis{total: len(all), rejected: map[string]*rejection{}}
	if a.only != nil {
		d.absent = &rejection{plugin: "NodeAffinity", reasons: []string{"node(s) didn't satisfy plugin(s) [NodeAffinity]"}, final: true}
	}
	if name := a.pod.view().String("status", "nominatedNodeName"); name != "" {
		if n := s.cache.nodes[name]; n != nil && n.object != nil && (a.only == nil || slices.Contains(a.only, name)) && s.filter(a, n) == nil {
			return []*node{n}, d
		}
	}
	var out []*node
	for _, n := range all {
		if a.only != nil && !slices.Contains(a.only, n.name) {
			continue
		}
		if r := s.filter(a, n); r != nil {
			d.rejected[n.name] = r
		} else {
			out = append(out, n)
		}
	}
	return out, d
}

// choose returns the best of several Nodes: preferred node affinity and taints with
// the effect PreferNoSchedule first, with kube-scheduler's weights, then the one with
// the fewest Pods, then the first by name.
//
// Differs from kube-apiserver: choice of a Node: of the Nodes that fit, the scheduler
// here takes the one with the fewest Pods; kube-scheduler weighs free resources,
// spreading and images too, and breaks ties at random. Request: GET of Pods with the
// controller scheduler on and several Nodes.
func choose(a *attempt, fitting []*node) *node {
	if len(fitting) == 1 {
		return fitting[0]
	}
	pod := a.pod.view()
	preferred := make([]int64, len(fitting))
	tainted := make([]int64, len(fitting))
	for i, n := range fitting {
		for t := range pod.At("spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution").Objects() {
			if weight, _ := t.Int("weight"); nodes.MatchesSelectorTerm(t.At("preference"), n.view()) {
				preferred[i] += weight
			}
		}
		for taint := range n.view().At("spec", "taints").Objects() {
			if taint.String("effect") == controller.PreferNoSchedule && !controller.Tolerates(pod.At("spec", "tolerations"), taint) {
				tainted[i]++
			}
		}
	}
	mostPreferred, mostTainted := max(slices.Max(preferred), 1), max(slices.Max(tainted), 1)
	score := func(i int) int64 {
		return 2*(100*preferred[i]/mostPreferred) + 3*(100-100*tainted[i]/mostTainted)
	}
	best := 0
	for i := range fitting {
		if cmp.Or(cmp.Compare(score(i), score(best)), cmp.Compare(len(fitting[best].pods), len(fitting[i].pods))) > 0 {
			best = i
		}
	}
	return fitting[best]
}
