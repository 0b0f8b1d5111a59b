package control

import (
	"fmt"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/status"
)

// An InjectedFault is a fault and its counts.
type InjectedFault struct {
	Fault faults.Fault `json:"fault"`
	// Summary describes the fault on one line.
	Summary string `json:"summary"`
	// Matched is how many requests, watches and webhook calls the fault could have hit.
	Matched int `json:"matched"`
	// Hits is how many it has hit.
	Hits int `json:"hits"`
	// Warning names a resource of the fault that the server does not serve now. A
	// CustomResourceDefinition can define it later.
	Warning string `json:"warning,omitempty"`
}

// InjectedFaults are faults in the order of their injection.
type InjectedFaults struct {
	Faults []InjectedFault `json:"faults"`
}

// NewFaults are the faults of a request: one, or a list.
type NewFaults []faults.Fault

func (f *NewFaults) decodeBody(body []byte) error {
	faults, err := faults.Parse(body)
	*f = faults
	return err
}

// A FaultsQuery selects faults.
type FaultsQuery struct {
	// IDs selects faults by their identifiers. Without it, all are selected.
	IDs []string `query:"id"`
}

func faultsOf(rules []*fault.Rule) InjectedFaults {
	out := InjectedFaults{Faults: []InjectedFault{}}
	for _, r := range rules {
		f := r.Fault()
		out.Faults = append(out.Faults, InjectedFault{Fault: f, Summary: f.String(), Matched: r.Matched(), Hits: r.Hits(), Warning: r.Warning()})
	}
	return out
}

func (c *Control) listFaults(*Request, none) (InjectedFaults, error) {
	return faultsOf(c.faults.Rules()), nil
}

// inject injects one fault, or a list of faults: all or none.
func (c *Control) inject(_ *Request, in NewFaults) (out InjectedFaults, err error) {
	rules, err := c.Inject(in...)
	if err != nil {
		return out, status.BadRequest(err.Error())
	}
	return faultsOf(rules), nil
}

// removeFaults removes the faults whose IDs the query names, by default all, and
// answers their counts.
func (c *Control) removeFaults(_ *Request, in FaultsQuery) (out InjectedFaults, err error) {
	rules := c.faults.Rules()
	if in.IDs != nil {
		byID := map[string]*fault.Rule{}
		for _, rule := range rules {
			byID[rule.Fault().ID] = rule
		}
		rules = nil
		for _, id := range in.IDs {
			rule, ok := byID[id]
			if !ok {
				return out, notFound(fmt.Sprintf("there is no fault %q", id))
			}
			rules = append(rules, rule)
		}
	}
	for _, rule := range rules {
		rule.Remove()
	}
	return faultsOf(rules), nil
}
