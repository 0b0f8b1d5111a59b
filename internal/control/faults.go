package control

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/status"
)

// A faultAnswer is an injected fault and its counts.
type faultAnswer struct {
	Fault   fault.Fault `json:"fault"`
	Summary string      `json:"summary"`
	Matched int         `json:"matched"`
	Hits    int         `json:"hits"`
}

type faultsAnswer struct {
	Faults []faultAnswer `json:"faults"`
}

func faultsOf(rules []*fault.Rule) faultsAnswer {
	out := faultsAnswer{Faults: []faultAnswer{}}
	for _, r := range rules {
		f := r.Fault()
		out.Faults = append(out.Faults, faultAnswer{Fault: f, Summary: f.String(), Matched: r.Matched(), Hits: r.Hits()})
	}
	return out
}

func (c *Control) listFaults(*Request) (any, error) { return faultsOf(c.faults.Rules()), nil }

// inject injects one fault, or a list of faults: all or none.
func (c *Control) inject(r *Request) (any, error) {
	faults, err := fault.Parse(r.Body)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	rules, err := c.faults.Inject(faults...)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return faultsOf(rules), nil
}

// removeFaults removes the faults whose IDs the query names, by default all, and
// answers their counts.
func (c *Control) removeFaults(r *Request) (any, error) {
	rules := c.faults.Rules()
	if ids, ok := r.Query["id"]; ok {
		byID := map[string]*fault.Rule{}
		for _, rule := range rules {
			byID[rule.Fault().ID] = rule
		}
		rules = nil
		for _, id := range ids {
			rule, ok := byID[id]
			if !ok {
				return nil, notFound(fmt.Sprintf("there is no fault %q", id))
			}
			rules = append(rules, rule)
		}
	}
	for _, rule := range rules {
		rule.Remove()
	}
	return faultsOf(rules), nil
}
