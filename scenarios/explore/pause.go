package explore

import (
	"context"
	"errors"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/scrub"
)

// Pause lets the system work for d, which is of the clock of srv. A Workload calls it between its
// changes: the state that the system comes to after a pause is compared with that of the reference
// run, as is the state after the last change. A difference would otherwise be hidden by later
// changes, such as a deletion. Steps, Mutations and the pauses of scenarios do it.
//
// The error of Pause ends the workload.
func Pause(ctx context.Context, srv *fakeapi.Server, d time.Duration) error {
	if err := srv.Clock().Sleep(ctx, d); err != nil {
		return err
	}
	return paused(ctx)
}

// errPaused ends the workload of a run at one of its pauses.
var errPaused = errors.New("explore: the run needs no more of the workload")

// pauseKey is the key of the trial in the context of its workload.
type pauseKey struct{}

// paused notes the end of a pause. It returns errPaused if the workload of the run ends with it.
func paused(ctx context.Context) error {
	t, ok := ctx.Value(pauseKey{}).(*trial)
	if !ok {
		return nil
	}
	t.target.runControllers(ctx)
	stopped := t.life.isStopped()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pauses = append(t.pauses, pause{revision: t.target.revision(), disturbed: t.inForce.Load() > 0, stopped: stopped})
	if len(t.pauses) == t.course.pause {
		return errPaused
	}
	return nil
}

// A pause is the end of a pause of the workload.
type pause struct {
	revision  int64
	disturbed bool // a decision was in force, such as an event that is held
	stopped   bool // the system does not run, so it may miss what it needs
	// final has the objects that count at the pause, as outcome.final has those at the end.
	final map[objectKey][]ended
}

// wrongAtPause compares the states at the pauses of a run with those of the reference run. If one
// differs, it may be on its way only, so a run whose workload ends with the pause shows whether it
// stays wrong. It returns what is wrong with that and its reference, nil if nothing is wrong.
func (s *search) wrongAtPause(o *outcome) (*Finding, *outcome, error) {
	for _, n := range s.suspicious(o) {
		ref, err := s.referenceUntil(n)
		if err != nil {
			return nil, nil, err
		}
		if ref == nil {
			continue
		}
		cut, err := s.tryUntil(n, o.plan, false)
		if err != nil {
			return nil, nil, err
		}
		v, err := s.violations(cut, ref)
		if err != nil {
			return nil, nil, err
		}
		if len(v) > 0 {
			return &Finding{Violation: v[0], Plan: o.plan, Pause: n}, ref, nil
		}
	}
	return nil, nil, nil
}

// suspicious returns the pauses, counted from 1, with states that differ from those of the
// reference run. Of those during which a decision has an effect it returns the last one. The state
// after the last pause of the workload is that of the end.
func (s *search) suspicious(o *outcome) (out []int) {
	disturbed := 0
	for i, p := range o.pauses {
		switch {
		case i >= len(s.ref.pauses)-1 || p.stopped || len(s.system.compare(p.final, s.ref.pauses[i].final)) == 0:
		case p.disturbed:
			disturbed = i + 1
		default:
			out = append(out, i+1)
		}
	}
	if disturbed > 0 {
		out = append(out, disturbed)
	}
	return out
}

// referenceUntil returns a run without decisions whose workload ends with a pause, nil if it does
// not settle then.
func (s *search) referenceUntil(n int) (*outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ref, ok := s.cuts[n]; ok {
		return ref, nil
	}
	ref, err := s.follow(course{pause: n}, nil, false)
	if err != nil {
		return nil, err
	}
	if ref.unsettled || ref.workload != nil {
		ref = nil
	}
	s.cuts[n] = ref
	return ref, nil
}

// judgeUntil returns the violations of a run whose workload ends with a pause.
func (s *System) judgeUntil(o, ref *outcome) []Violation {
	if o.unsettled || o.workload != nil || len(o.panics)+len(o.exits) > 0 {
		return nil // the run with the whole workload shows it
	}
	return s.compare(o.final, ref.final)
}

// differences returns how a run differs from the reference run in what may be the same later: the
// state, and objects that the garbage collector has to delete.
func (s *System) differences(o, ref *outcome) []Violation {
	j := &judgement{system: s, run: o, ref: ref, scrubber: scrub.ForReaders()}
	j.states(EndState, o.final, ref.final)
	j.orphans()
	return j.violations
}

// compare returns the differences between two states.
func (s *System) compare(got, want map[objectKey][]ended) []Violation {
	j := &judgement{system: s}
	j.states(EndState, got, want)
	return j.violations
}
