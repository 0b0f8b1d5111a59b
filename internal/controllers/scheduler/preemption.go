package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/selector"
)

// A candidate is a Node on which a Pod fits if the victims are gone.
type candidate struct {
	node       *node
	victims    []*pod // the most important first
	violations int    // victims that a PodDisruptionBudget protects
}

// preempt looks for Pods of lower priority whose removal makes room for a Pod. It
// returns the name of the Node that is nominated, nil to keep the nomination, and the
// victims. What it found is added to d.
func (s *scheduler) preempt(a *attempt, d *diagnosis) (nominated *string, victims []*pod) {
	const prefix = "preemption: "
	if reason := s.notEligible(a.pod, d); reason != "" {
		d.post = prefix + reason
		return nil, nil
	}
	found := &diagnosis{total: d.total, rejected: map[string]*rejection{}, absent: unresolvable("Preemption is not helpful for scheduling")}
	var candidates []*candidate
	for _, n := range s.cache.all() {
		r := d.rejected[n.name]
		if r == nil || r.final {
			continue
		}
		c, rejected := s.victims(a, n)
		if rejected != nil {
			found.rejected[n.name] = rejected
			continue
		}
		candidates = append(candidates, c)
	}
	s.refresh(a)
	if len(candidates) == 0 {
		d.post = prefix + found.String()
		return new(string), nil
	}
	best := slices.MinFunc(candidates, compareCandidates)
	return &best.node.name, best.victims
}

// notEligible returns why a Pod must not preempt others, "" if it may.
func (s *scheduler) notEligible(p *pod, d *diagnosis) string {
	obj := p.view()
	if obj.String("spec", "preemptionPolicy") == "Never" {
		return "not eligible due to preemptionPolicy=Never."
	}
	name := obj.String("status", "nominatedNodeName")
	n := s.cache.nodes[name]
	if name == "" || n == nil {
		return ""
	}
	if r := d.rejected[name]; r != nil && r.final {
		return ""
	}
	for _, other := range n.pods {
		if other.priority < p.priority && other.object.Terminating {
			if c := controller.Condition(other.view(), controller.DisruptionTarget); c.String("status") == "True" && c.String("reason") == byPreemption {
				return "not eligible due to a terminating pod on the nominated node."
			}
		}
	}
	return ""
}

// victims returns the smallest set of Pods of lower priority, and as unimportant ones
// as possible, whose removal from a Node makes room.
func (s *scheduler) victims(a *attempt, n *node) (*candidate, *rejection) {
	var potential []*pod
	for _, p := range n.sortedPods() {
		if p.priority < a.pod.priority {
			potential = append(potential, p)
		}
	}
	if len(potential) == 0 {
		return nil, unresolvable("No preemption victims found for incoming pod")
	}
	for _, p := range potential {
		n.remove(p)
	}
	removed := map[*pod]bool{}
	for _, p := range potential {
		removed[p] = true
	}
	defer func() {
		for p := range removed {
			n.add(p)
		}
	}()
	s.refresh(a)
	if r := s.filter(a, n); r != nil {
		return nil, r
	}
	slices.SortStableFunc(potential, compareImportance)
	c := &candidate{node: n}
	violating, others := s.protected(potential)
	for i, p := range slices.Concat(violating, others) {
		n.add(p)
		s.refresh(a)
		if s.filter(a, n) == nil {
			delete(removed, p)
			continue
		}
		n.remove(p)
		c.victims = append(c.victims, p)
		if i < len(violating) {
			c.violations++
		}
	}
	slices.SortStableFunc(c.victims, compareImportance)
	if len(c.victims) == 0 {
		return nil, unresolvable(fmt.Sprintf("expected at least one victim pod on node %q", n.name))
	}
	return c, nil
}

// protected splits Pods into those whose removal exceeds what their
// PodDisruptionBudgets permit, and the others.
func (s *scheduler) protected(pods []*pod) (violating, others []*pod) {
	budgets := s.budgets.List("", selector.Labels{})
	allowed := make([]int64, len(budgets))
	for i, b := range budgets {
		allowed[i], _ = b.View().Int("status", "disruptionsAllowed")
	}
	for _, p := range pods {
		violates := false
		for i, b := range budgets {
			if b.Namespace != p.object.Namespace || len(p.object.Labels) == 0 {
				continue
			}
			sel, err := controller.LabelSelector(b.View(), "spec", "selector")
			if err != nil || sel.Empty() || !sel.Matches(selector.Map(p.object.Labels)) || !b.View().IsNil("status", "disruptedPods", p.object.Name) {
				continue
			}
			allowed[i]--
			violates = violates || allowed[i] < 0
		}
		if violates {
			violating = append(violating, p)
		} else {
			others = append(others, p)
		}
	}
	return violating, others
}

// compareImportance sorts the more important Pod first: that of the higher priority, or
// the older one.
func compareImportance(a, b *pod) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), started(a).Compare(started(b)))
}

// started returns when a Pod was started, the distant future if it was not.
func started(p *pod) time.Time {
	if t := controller.Time(p.view(), "status", "startTime"); !t.IsZero() {
		return t
	}
	return time.Unix(1<<40, 0)
}

// compareCandidates sorts the better candidate first, by kube-scheduler's criteria.
func compareCandidates(a, b *candidate) int {
	sum := func(c *candidate) (n int64) {
		for _, p := range c.victims {
			n += p.priority + 1<<31
		}
		return n
	}
	earliest := func(c *candidate) time.Time {
		t := started(c.victims[0])
		for _, p := range c.victims {
			if p.priority == c.victims[0].priority && started(p).Before(t) {
				t = started(p)
			}
		}
		return t
	}
	return cmp.Or(
		cmp.Compare(a.violations, b.violations),
		cmp.Compare(a.victims[0].priority, b.victims[0].priority),
		cmp.Compare(sum(a), sum(b)),
		cmp.Compare(len(a.victims), len(b.victims)),
		earliest(b).Compare(earliest(a)),
		strings.Compare(a.node.name, b.node.name),
	)
}

// The reason and the message of the condition DisruptionTarget of victims.
const (
	byPreemption = "PreemptionByScheduler"
	preempting   = profile + ": preempting to accommodate a higher priority pod"
)

// evict deletes the victims of a preemption.
func (s *scheduler) evict(p *pod, nominated *string, victims []*pod) {
	for _, v := range victims {
		if v.object.Terminating {
			continue
		}
		if c := controller.PodCondition(v.view(), controller.DisruptionTarget, "True", byPreemption, preempting, s.env.Now()); c != nil {
			_ = s.client.PatchPodStatus(v.object, map[string]any{"conditions": []any{c}})
		}
		if err := s.client.Delete(controller.Pods, v.object.Namespace, v.object.Name, controller.DeleteOptions{UID: v.object.UID}); err != nil {
			continue
		}
		s.events.Event(v.object, controller.Occurrence{
			Type: controller.Normal, Reason: "Preempted", Action: "Preempting", Related: p.object,
			Note: fmt.Sprintf("Preempted by pod %s on node %s", p.object.UID, *nominated),
		})
	}
	if nominated == nil || len(victims) == 0 {
		return
	}
	// Pods of lower priority that are nominated to the Node may not fit any more.
	others := slices.Collect(maps.Values(s.cache.node(*nominated).nominated))
	slices.SortFunc(others, func(a, b *pod) int { return strings.Compare(a.key().String(), b.key().String()) })
	for _, other := range others {
		if other.priority < p.priority {
			_ = s.client.PatchPodStatus(other.object, map[string]any{"nominatedNodeName": nil})
			if e := s.waiting[other.key()]; e != nil {
				s.activate(e)
			}
		}
	}
}
