package server

import "github.com/kubefake/kubefake/internal/metrics"

// gatesFamily returns the feature gates of the release: 1 for those that are on.
func (s *Server) gatesFamily() metrics.Family {
	f := metrics.Family{Name: "kubernetes_feature_enabled", Type: metrics.Gauge, Stability: metrics.Beta, Help: "This metric records the data about the stage and enablement of a k8s feature."}
	for _, g := range s.Release().Gates() {
		stage, value := g.Stage, 0.0
		if stage == "GA" {
			stage = ""
		}
		if s.Release().Enabled(g.Name) {
			value = 1
		}
		f.Samples = append(f.Samples, metrics.Sample{Labels: []string{"name", g.Name, "stage", stage}, Value: value})
	}
	return f
}
