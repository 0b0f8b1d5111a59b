package control

import "github.com/kubefake/kubefake/internal/coverage"

// A Coverage has the expressions of policies, match conditions of webhooks, and rules of definitions,
// with their results.
type Coverage struct {
	// Counting reports that results are counted.
	Counting bool `json:"counting"`
	// Rules are the expressions.
	Rules []coverage.Rule `json:"rules"`
}

func (c *Control) startCoverage(r *Request, in none) (Coverage, error) {
	c.cluster.StartCoverage()
	return c.coverage(r, in)
}

func (c *Control) coverage(*Request, none) (Coverage, error) {
	rules, counting := c.cluster.Coverage()
	return Coverage{counting, append([]coverage.Rule{}, rules...)}, nil
}

func (c *Control) stopCoverage(r *Request, in none) (Coverage, error) {
	c.cluster.StopCoverage()
	return c.coverage(r, in)
}
