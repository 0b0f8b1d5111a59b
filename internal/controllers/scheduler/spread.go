package scheduler

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// A spread is a topology spread constraint with whenUnsatisfiable: DoNotSchedule.
type spread struct {
	key        string
	maxSkew    int64
	minDomains int64
	selector   selector.Labels
	self       int64            // 1 if the selector selects the Pod itself
	counts     map[string]int64 // matching Pods by the value of the topology key
}

// min returns the number of matching Pods in the domain that has the fewest.
func (c *spread) min() int64 {
	if int64(len(c.counts)) < c.minDomains {
		return 0
	}
	first, least := true, int64(0)
	for _, n := range c.counts {
		if first || n < least {
			first, least = false, n
		}
	}
	return least
}

// spreads returns the constraints of a Pod with the counts of the Nodes.
func (s *scheduler) spreads(p *pod) (out []*spread) {
	var constraints []object.View
	for c := range p.view().At("spec", "topologySpreadConstraints").Objects() {
		if c.String("whenUnsatisfiable") == "DoNotSchedule" {
			constraints = append(constraints, c)
		}
	}
	if len(constraints) == 0 {
		return nil
	}
	for _, c := range constraints {
		one := &spread{
			key: c.String("topologyKey"), maxSkew: controller.IntOr(c, 1, "maxSkew"),
			minDomains: controller.IntOr(c, 1, "minDomains"), counts: map[string]int64{},
		}
		one.selector = spreadSelector(c, p)
		if one.selector.Matches(selector.Map(p.object.Labels)) {
			one.self = 1
		}
		out = append(out, one)
	}
	for _, n := range s.cache.all() {
		if !hasKeys(n.object.Labels, out) {
			continue
		}
		for i, c := range constraints {
			if c.String("nodeAffinityPolicy") != "Ignore" && !controller.NodeSelected(p.view(), n.view()) {
				continue
			}
			if c.String("nodeTaintsPolicy") == "Honor" &&
				!controller.UntoleratedTaint(n.view(), p.view(), controller.NoSchedule, controller.NoExecute).IsNil() {
				continue
			}
			out[i].counts[n.object.Labels[out[i].key]] += matching(n, out[i].selector, p.object.Namespace)
		}
	}
	return out
}

// spreadSelector returns the selector of a constraint with its matchLabelKeys.
func spreadSelector(c object.View, p *pod) selector.Labels {
	sel := selector.FromView(c.At("labelSelector"))
	if sel == nil {
		return selector.Nothing()
	}
	for _, key := range c.Strings("matchLabelKeys") {
		if value, ok := p.object.Labels[key]; ok {
			sel.MatchExpressions = append(sel.MatchExpressions, selector.Expression{Key: key, Operator: "In", Values: []string{value}})
		}
	}
	labels, err := sel.Selector()
	if err != nil {
		return selector.Nothing()
	}
	return labels
}

func hasKeys(labels map[string]string, constraints []*spread) bool {
	for _, c := range constraints {
		if _, ok := labels[c.key]; !ok {
			return false
		}
	}
	return true
}

// matching returns the number of Pods of a namespace on a Node that a selector selects.
// An empty selector counts none.
func matching(n *node, s selector.Labels, namespace string) (count int64) {
	if s.Empty() {
		return 0
	}
	for _, p := range n.pods {
		if !p.object.Terminating && p.object.Namespace == namespace && s.Matches(selector.Map(p.object.Labels)) {
			count++
		}
	}
	return count
}

// filterSpread is the plugin PodTopologySpread.
func (s *scheduler) filterSpread(a *attempt, n *node) *rejection {
	for _, c := range a.spreads {
		value, ok := n.object.Labels[c.key]
		if !ok {
			return unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
		}
		if c.counts[value]+c.self-c.min() > c.maxSkew {
			return unschedulable("node(s) didn't match pod topology spread constraints")
		}
	}
	return nil
}
