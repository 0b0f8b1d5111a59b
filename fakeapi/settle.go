package fakeapi

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/printable"
)

// ErrUnsettled is returned by Settle if its context ends before the server has settled.
var ErrUnsettled = control.ErrUnsettled

// SettleOptions configure Settle.
type SettleOptions struct {
	// Ahead lets Settle move a manual clock that far ahead: to each next time at which a
	// controller has something to do. With 0 the clock stays.
	Ahead time.Duration

	// Quiet is how long clients must ask for nothing and get no event; 0 is 50 ms. It is a time
	// of the wall clock: in a testing/synctest bubble it passes when all goroutines of the
	// bubble are blocked, and costs nothing.
	Quiet time.Duration
}

// Settle waits until the server has settled: no controller has anything left to do at the
// server's time, no request is in flight, every open watch has sent what its view shows,
// and for a quiet time no client has asked for anything and no event was sent. A server
// that never had a client settles at once.
//
// It waits longer for what it sees coming: 100 ms for a client that has not opened a watch
// yet, 400 ms after a client has opened one, and for requests that clients are likely to make
// again because they have failed. On a busy machine these times are longer. So a test can
// start a manager of controller-runtime, create objects, and call Settle.
//
// What waits for a later time, such as a controller's RequeueAfter, remains; see SettleOptions.Ahead. A
// client that reacts later than the quiet time, or that polls, is not waited for.
//
// Of several options, the last value of a field that is not 0 applies. If ctx ends before, the error is an ErrUnsettled. It says what is left, and who wrote
// which object again and again.
func (s *Server) Settle(ctx context.Context, options ...SettleOptions) error {
	o := control.Settlement{Quiet: control.DefaultQuiet}
	for _, option := range options {
		o.Ahead, o.Quiet = cmp.Or(option.Ahead, o.Ahead), cmp.Or(option.Quiet, o.Quiet)
	}
	return s.api.Control().Settle(ctx, o)
}

// ExpectWriteBudget calls f, waits until the server has settled, and fails the test if a
// client whose User-Agent header matches a pattern, such as "manager/*", has written an
// object more than n times meanwhile. It waits for ten seconds at most. The failure names
// the objects, with what the last write of each changed. It counts the newest 4,096 writes.
//
// A controller that has reached its goal writes nothing when it starts again:
//
//	srv.ExpectWriteBudget(t, "*", 0, func() { restart(manager) })
func (s *Server) ExpectWriteBudget(t TB, userAgent string, n int, f func(), options ...SettleOptions) {
	t.Helper()
	before, ok := s.settledAfter(t, f, options)
	if !ok {
		return
	}
	if loops := s.api.Control().Loops(before, n+1, userAgent); len(loops) > 0 {
		t.Fatalf("more than %d writes of an object:\n\t%s", n, strings.Join(loops, "\n\t"))
	}
}

// settledAfter calls f and waits until the server has settled. It returns the revision
// before. It fails the test and returns false if the server does not settle.
func (s *Server) settledAfter(t TB, f func(), options []SettleOptions) (before int64, ok bool) {
	t.Helper()
	before = s.Revision()
	f()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Settle(ctx, options...); err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return before, false
	}
	return before, true
}
