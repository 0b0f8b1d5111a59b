package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/activity"
	"github.com/kubefake/kubefake/internal/glob"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/scrub"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// DefaultQuiet is how long clients must ask for nothing before a server has settled.
const DefaultQuiet = 50 * time.Millisecond

const (
	// connectTime is how long Settle waits for a client that has not opened a watch yet.
	connectTime = 100 * time.Millisecond

	// startTime is how long a client may ask for nothing after it has opened a watch. The
	// informers of client-go and the sources of controller-runtime look every 100 ms whether
	// they have synced, one after the other, and a controller works when all have.
	startTime = 400 * time.Millisecond
)

// A Settlement says what Settle waits for.
type Settlement struct {
	// Quiet is how long no client must have asked for anything. It is a time of the wall
	// clock.
	Quiet time.Duration
	// Ahead is how far a manual clock is moved at most.
	Ahead time.Duration
}

// ErrUnsettled is wrapped in the error of Settle if the context ends before the server
// has settled.
var ErrUnsettled = errors.New("the server has not settled")

// Settle waits until the server has settled, and with it all clusters of its group: no
// controller has anything left to do, no request is in flight, every watch has sent what its
// view shows, and clients are quiet and have nothing to do that the server expects. On a manual
// clock it then moves the clock to the next time at which a controller has something to do, as long
// as that is at most Ahead after the time of the call, and waits again.
//
// If ctx ends before, the error is an ErrUnsettled that says what is left, and who writes
// again and again.
func (c *Control) Settle(ctx context.Context, o Settlement) error { return c.group.settle(ctx, o) }

// A quietTime is a time in which clients ask for nothing, in parts between which Settle looks
// at the server. How much longer than asked for the parts take shows how busy the machine
// is: clients that have something to do are late, too.
type quietTime struct {
	end   time.Time     // if nothing is late
	need  time.Duration // to the end, when it was set
	slept time.Duration // that was asked for since
	late  time.Duration // in all parts
	parts int
	from  time.Time     // of the last part
	part  time.Duration // that was asked for

	lateBefore  time.Duration // in the quiet times before that ended early
	partsBefore int
}

// restart ends the quiet time: something has happened.
func (q *quietTime) restart() {
	*q = quietTime{lateBefore: q.lateBefore + q.late, partsBefore: q.partsBefore + q.parts}
}

// lateness returns how late a part is: on average, in this quiet time or in all, whichever is
// longer.
func (q *quietTime) lateness() time.Duration {
	return max(q.late/time.Duration(q.parts), (q.lateBefore+q.late)/time.Duration(q.partsBefore+q.parts))
}

// handoffs is about how often, between an event and the request by which a controller reacts, a
// goroutine waits for a processor. There are about ten goroutines, one after the other, and what
// they compute is interrupted, too. Each wait may be as long as a part is late.
const handoffs = 20

// left returns how long to wait at a time for an end of the quiet time.
func (q *quietTime) left(end, now time.Time) time.Duration {
	if !end.Equal(q.end) || q.parts == 0 {
		q.restart()
		q.end, q.need, q.from = end, end.Sub(now), now
		return q.need
	}
	q.slept += q.part
	q.late += now.Sub(q.from) - q.part
	q.from = now
	return q.need + handoffs*q.lateness() - q.slept
}

// next returns the length of the next part, of what is left.
func (q *quietTime) next(left time.Duration) time.Duration {
	q.part = min(left, probeInterval)
	q.parts++
	return q.part
}

// quietAt returns when the clients have been quiet for long enough, if they ask for nothing
// more.
func quietAt(s activity.State, quiet time.Duration, asked time.Time) time.Time {
	if !s.Clients {
		return time.Time{}
	}
	alone := quiet
	if s.Watches == 0 {
		alone = max(quiet, connectTime)
	}
	return latest(
		latest(asked, s.Last).Add(alone),
		s.Opened.Add(max(quiet, startTime)),
		s.Expected.Add(quiet),
	)
}

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}

const (
	// pollInterval is the time between two looks at a server that is busy.
	pollInterval = time.Millisecond

	// probeInterval is the time between two looks at a server that is quiet.
	probeInterval = 10 * time.Millisecond
)

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A loop is a client that writes an object again and again.
type loop struct {
	agent, what string
	count       int
	last        *journal.Transaction
}

// line returns the loop with its last change, without secrets: "reconciler/1.0 wrote configmaps
// default/a 41 times, the last time data.n 1 -> 2".
func (l *loop) line(s *scrub.Scrubber) string {
	text := fmt.Sprintf("%s wrote %s %d times", l.agent, l.what, l.count)
	if e := l.last.Changes; len(e) == 1 && e[0].Prev != nil && e[0].Type == mvcc.Put {
		resource, _, _ := journal.SplitKey(e[0].Item.Key)
		text += ", the last time " + changedFields(e[0].Prev.Value.JSON(), e[0].Item.Value.JSON(), resource, s)
	}
	return printable.Line(text)
}

const (
	minLoop  = 3 // writes of an object that are a loop
	maxLoops = 5 // in an error
)

// Loops returns lines that say which clients, of those whose user agent matches a pattern,
// wrote an object at least min times after a revision, and what the last write changed.
// The most frequent is first.
func (c *Control) Loops(since int64, min int, userAgent string) []string {
	var lines []string
	for _, l := range c.loops(mvcc.Revision(since), min, userAgent) {
		lines = append(lines, l.line(c.scrubber(false)))
	}
	return lines
}

// loops returns who wrote an object at least min times after a revision, the most frequent
// first.
func (c *Control) loops(since mvcc.Revision, min int, userAgent string) []*loop {
	found := map[[2]string]*loop{}
	for _, e := range c.cluster.Journal().Transactions() {
		tx := e.What
		if tx.Revision <= since || !glob.Match(userAgent, tx.Writer.UserAgent) {
			continue
		}
		for i := range tx.Changes {
			change := journal.NewChange(&tx.Changes[i])
			what := change.Resource + " " + strings.TrimPrefix(change.Namespace+"/"+change.Name, "/")
			key := [2]string{tx.Writer.UserAgent, what}
			if found[key] == nil {
				found[key] = &loop{agent: tx.Writer.UserAgent, what: what}
			}
			found[key].count++
			found[key].last = &tx
		}
	}
	out := slices.SortedFunc(maps.Values(found), func(a, b *loop) int {
		return cmp.Or(b.count-a.count, cmp.Compare(a.agent, b.agent), cmp.Compare(a.what, b.what))
	})
	out = slices.DeleteFunc(out, func(l *loop) bool { return l.count < min })
	if len(out) > maxLoops {
		out = out[:maxLoops]
	}
	return out
}

// A Settling says when a server has settled, and how far to move its clock.
type Settling struct {
	// Ahead is a duration, such as 90s or 10m. A manual clock moves up to that long ahead
	// to each next time at which a controller has something to do. The default is 0s.
	Ahead string `json:"ahead,omitempty"`
	// Quiet is how long clients must ask for nothing. The default is 50ms. Clients that start
	// or try again have longer.
	Quiet string `json:"quiet,omitempty"`
	// Timeout is how long to wait. The default is 30s. The server answers 504 then, and
	// says what is left.
	Timeout string `json:"timeout,omitempty"`
}

func (c *Control) settle(r *Request, in Settling) (Revision, error) {
	o := Settlement{Quiet: DefaultQuiet}
	timeout := 30 * time.Second
	for _, f := range []struct {
		name, text string
		value      *time.Duration
	}{{"ahead", in.Ahead, &o.Ahead}, {"quiet", in.Quiet, &o.Quiet}, {"timeout", in.Timeout, &timeout}} {
		if f.text == "" {
			continue
		}
		d, err := time.ParseDuration(f.text)
		if err != nil || d < 0 {
			return Revision{}, status.BadRequest(fmt.Sprintf("%s: %q is not a duration, such as 90s", f.name, f.text))
		}
		*f.value = d
	}
	ctx, cancel := context.WithTimeout(r.Context, timeout)
	defer cancel()
	err := c.Settle(ctx, o)
	if errors.Is(err, ErrUnsettled) {
		err = status.Timeout(err.Error(), 0)
	}
	return c.revision(err)
}
