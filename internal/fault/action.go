package fault

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// act does the Actions of the rule. It notes those that fail.
func (r *Rule) act(ctx context.Context, p *point) {
	for _, a := range r.fault.Actions {
		if err := r.set.options.Act(ctx, a); err != nil {
			p.note(fmt.Sprintf("%s failed: %v", a, err))
		}
	}
}

// checkActions returns an error for Actions that cannot succeed.
func (s *Set) checkActions(f *faults.Fault) error {
	for _, a := range f.Actions {
		if s.options.CheckAction == nil {
			return errors.New("do: only a server has actions")
		}
		if err := s.options.CheckAction(a); err != nil {
			return fmt.Errorf("do: %s: %w", a.Operation, err)
		}
	}
	return nil
}
