package scheduler

import (
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// A term is a required term of Pod affinity or anti-affinity.
type term struct {
	topologyKey       string
	selector          selector.Labels
	namespaces        []string
	namespaceSelector selector.Labels
	byNamespace       bool // the term has a namespaceSelector
}

// terms returns the terms of a Pod of a namespace. A term with an invalid selector
// matches no Pod.
func terms(namespace string, list object.View) (out []term) {
	for t := range list.Objects() {
		one := term{topologyKey: t.String("topologyKey"), namespaces: t.Strings("namespaces")}
		var err error
		if one.selector, err = controller.LabelSelector(t, "labelSelector"); err != nil {
			one.selector = selector.Nothing()
		}
		if !t.IsNil("namespaceSelector") {
			one.byNamespace = true
			if one.namespaceSelector, err = controller.LabelSelector(t, "namespaceSelector"); err != nil {
				one.namespaceSelector = selector.Nothing()
			}
		} else if len(one.namespaces) == 0 {
			one.namespaces = []string{namespace}
		}
		out = append(out, one)
	}
	return out
}

// matches reports whether a term selects a Pod.
func (s *scheduler) matches(t *term, p *pod) bool {
	if !slices.Contains(t.namespaces, p.object.Namespace) {
		ns := s.namespaces.Get("", p.object.Namespace)
		if !t.byNamespace || ns == nil || !t.namespaceSelector.Matches(selector.Map(ns.Labels)) {
			return false
		}
	}
	return t.selector.Matches(selector.Map(p.object.Labels))
}

// matchesAll reports whether a Pod is selected by all terms.
func (s *scheduler) matchesAll(terms []term, p *pod) bool {
	for i := range terms {
		if !s.matches(&terms[i], p) {
			return false
		}
	}
	return true
}

// A domain is a value of a topology key.
type domain struct{ key, value string }

// interPod is how the assigned Pods stand to one that is to be scheduled.
type interPod struct {
	affine   map[domain]int // Pods that all its affinity terms select
	anti     map[domain]int // Pods that an anti-affinity term of it selects
	existing map[domain]int // Pods with an anti-affinity term that selects it
}

// interPodState returns nil if neither the Pod nor an assigned one has terms.
func (s *scheduler) interPodState(p *pod) *interPod {
	c := s.cache
	if len(p.affinity) == 0 && len(p.antiAffinity) == 0 && c.antiAffine == 0 {
		return nil
	}
	state := &interPod{affine: map[domain]int{}, anti: map[domain]int{}, existing: map[domain]int{}}
	for _, n := range c.all() {
		labels := n.object.Labels
		for _, other := range n.pods {
			if len(p.affinity) > 0 && s.matchesAll(p.affinity, other) {
				for i := range p.affinity {
					count(state.affine, labels, p.affinity[i].topologyKey)
				}
			}
			for i := range p.antiAffinity {
				if s.matches(&p.antiAffinity[i], other) {
					count(state.anti, labels, p.antiAffinity[i].topologyKey)
				}
			}
			for i := range other.antiAffinity {
				if s.matches(&other.antiAffinity[i], p) {
					count(state.existing, labels, other.antiAffinity[i].topologyKey)
				}
			}
		}
	}
	return state
}

func count(counts map[domain]int, labels map[string]string, key string) {
	if value, ok := labels[key]; ok {
		counts[domain{key, value}]++
	}
}

// filterInterPod is the plugin InterPodAffinity.
func (s *scheduler) filterInterPod(a *attempt, n *node) *rejection {
	state := a.interPod
	if state == nil {
		return nil
	}
	labels := n.object.Labels
	if !s.satisfiesAffinity(a.pod, state, labels) {
		return unresolvable("node(s) didn't match pod affinity rules")
	}
	for i := range a.pod.antiAffinity {
		key := a.pod.antiAffinity[i].topologyKey
		if value, ok := labels[key]; ok && state.anti[domain{key, value}] > 0 {
			return unschedulable("node(s) didn't match pod anti-affinity rules")
		}
	}
	for d := range state.existing {
		if value, ok := labels[d.key]; ok && value == d.value {
			return unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
		}
	}
	return nil
}

func (s *scheduler) satisfiesAffinity(p *pod, state *interPod, labels map[string]string) bool {
	found := true
	for i := range p.affinity {
		key := p.affinity[i].topologyKey
		value, ok := labels[key]
		if !ok {
			return false
		}
		if state.affine[domain{key, value}] == 0 {
			found = false
		}
	}
	// The first Pod of a group that has affinity to itself goes anywhere.
	return found || len(state.affine) == 0 && s.matchesAll(p.affinity, p)
}
