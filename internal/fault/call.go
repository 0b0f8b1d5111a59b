package fault

import (
	"context"
	"net"
	"syscall"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// Call makes a request that has no HTTP connection, such as one of a controller of
// the server, through the faults. serve carries it out. Call returns the error of
// serve, or that of the fault in its place: a *status.Status for Code and
// ExpireContinue, and a broken connection for Reset and CutAfterBytes. Watch effects do
// not apply.
//
// On a manual clock it does not wait for Delay, because what moves the clock waits for
// the caller.
func (s *Set) Call(ctx context.Context, r *Request, serve func() error) error {
	hits := s.hits(r)
	if len(hits) == 0 {
		return serve()
	}
	for _, h := range hits {
		h.countRequest(r)
	}
	answer, err := s.reachCall(ctx, r, hits, faults.BeforeRequest)
	if err != nil {
		return err
	}
	last := &hits[len(hits)-1].fault
	if answer == nil && servesFirst(hits, r) {
		if err := serve(); err != nil {
			return err
		}
		if answer, err = s.reachCall(ctx, r, hits, faults.AfterCommit); err != nil {
			return err
		}
		if answer == nil && !last.Responds() {
			return nil
		}
	}
	if answer == nil {
		answer = last
	}
	switch {
	case !answer.Responds():
		return serve()
	case answer.Reset, answer.CutAfterBytes > 0:
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case answer.ExpireContinue:
		return expiredContinue(r.HTTP.URL.Query().Get("continue"))
	}
	return statusOf(answer, &r.Route)
}

// reachCall is reach for a call.
func (s *Set) reachCall(ctx context.Context, r *Request, hits []hit, at faults.Moment) (answer *faults.Fault, err error) {
	for _, h := range hits {
		if h.fault.ActsAfterServing() != (at == faults.AfterCommit) {
			continue
		}
		if h.fault.Delay > 0 && !s.options.Clock.Manual() {
			if err := s.wait(ctx, h.Rule, h.fault.Delay); err != nil {
				return nil, err
			}
		}
		if !h.fault.HasAction() {
			continue
		}
		if answer := h.do(ctx, h.newPoint(r, at, h.n)); answer != nil {
			return answer, nil
		}
	}
	return nil, nil
}
