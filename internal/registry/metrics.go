package registry

import (
	"github.com/kubefake/kubefake/internal/admission/plugin/podsecurity"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/metrics"
)

// Metrics returns what admission plugins and strategies count.
func (g *Registry) Metrics() []metrics.Family {
	var all []metrics.Family
	if g.follower.Surface().API().Plugins.Enabled(podsecurity.Plugin{}.Name()) {
		for _, vec := range podsecurity.Metrics() {
			all = append(all, g.counts.Family(vec))
		}
	}
	for _, vec := range certificates.Metrics() {
		all = append(all, g.counts.Family(vec))
	}
	return all
}

// ResetMetrics sets the counters of Metrics to 0.
func (g *Registry) ResetMetrics() { g.counts.Reset() }
