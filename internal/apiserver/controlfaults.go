package apiserver

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/status"
)

// A faultAnswer is a fault as the control endpoint shows it, and what has become
// of it.
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

func (s *Server) controlFaults(*request) (any, error) { return faultsOf(s.faults.Rules()), nil }

// controlInject injects a fault, or a list of them: all or none.
func (s *Server) controlInject(r *request) (any, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	faults, err := fault.Parse(body)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	rules, err := s.faults.Inject(faults...)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return faultsOf(rules), nil
}

// controlRemoveFaults removes the faults of the IDs that the query names, or
// all of them, and answers what had become of them.
func (s *Server) controlRemoveFaults(r *request) (any, error) {
	rules := s.faults.Rules()
	if ids, ok := r.query()["id"]; ok {
		byID := map[string]*fault.Rule{}
		for _, rule := range rules {
			byID[rule.Fault().ID] = rule
		}
		rules = nil
		for _, id := range ids {
			rule, ok := byID[id]
			if !ok {
				return nil, status.Failure(http.StatusNotFound, status.ReasonNotFound, fmt.Sprintf("there is no fault %q", id), nil)
			}
			rules = append(rules, rule)
		}
	}
	for _, rule := range rules {
		rule.Remove()
	}
	return faultsOf(rules), nil
}
