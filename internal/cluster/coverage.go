package cluster

import "github.com/kubefake/kubefake/internal/coverage"

// StartCoverage counts the results of the expressions of policies, webhooks and definitions from now
// on, from zero. Forks count too.
func (c *Cluster) StartCoverage() { c.setCoverage(&coverage.Profile{}) }

// StopCoverage ends counting.
func (c *Cluster) StopCoverage() { c.setCoverage(nil) }

func (c *Cluster) setCoverage(p *coverage.Profile) {
	c.config.Coverage.Set(p)
	c.reloadAdmission()
}

// Coverage returns the expressions that are counted, with their results. It reports false if none
// is counted.
func (c *Cluster) Coverage() (rules []coverage.Rule, counting bool) {
	p := c.config.Coverage.Profile()
	if p == nil {
		return nil, false
	}
	definitions := c.Surface().Definitions
	for _, d := range definitions.All() {
		d.CountRules()
	}
	return p.Rules(), true
}
