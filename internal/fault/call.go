package fault

import (
	"context"
	"net"
	"syscall"
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
	if err := s.delayCall(ctx, hits, false); err != nil {
		return err
	}
	last := &hits[len(hits)-1].fault
	if servesFirst(hits, r) {
		if err := serve(); err != nil {
			return err
		}
		if err := s.delayCall(ctx, hits, true); err != nil {
			return err
		}
		if !last.responds() {
			return nil
		}
	}
	switch {
	case !last.responds():
		return serve()
	case last.Reset, last.CutAfterBytes > 0:
		return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	case last.ExpireContinue:
		return expiredContinue(r.HTTP.URL.Query().Get("continue"))
	}
	return last.status(&r.Route)
}

// delayCall waits for the delays of the faults that hit a call: for those with
// ServeFirst, or for the others.
func (s *Set) delayCall(ctx context.Context, hits []*Rule, served bool) error {
	if s.options.Clock.Manual() {
		return nil
	}
	for _, h := range hits {
		if h.fault.Delay > 0 && h.fault.ServeFirst == served {
			if err := s.wait(ctx, h, h.fault.Delay); err != nil {
				return err
			}
		}
	}
	return nil
}
