package registry

import "github.com/kubefake/kubefake/internal/coverage"

// StartCoverage counts the results of the expressions of policies, webhooks and definitions from now
// on, from zero. Forks count too.
func (g *Registry) StartCoverage() { g.setCoverage(&coverage.Profile{}) }

// StopCoverage ends counting.
func (g *Registry) StopCoverage() { g.setCoverage(nil) }

func (g *Registry) setCoverage(p *coverage.Profile) {
	g.coverage.Set(p)
	g.reloadAdmission()
}

// Coverage returns the expressions that are counted, with their results. It reports false if none
// is counted.
func (g *Registry) Coverage() (rules []coverage.Rule, counting bool) {
	p := g.coverage.Profile()
	if p == nil {
		return nil, false
	}
	for d := range g.Surface().definitions.all.All() {
		d.CountRules()
	}
	return p.Rules(), true
}
