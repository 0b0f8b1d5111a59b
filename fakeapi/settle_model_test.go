//go:build go1.25

package fakeapi_test

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

var settleSystems = flag.Int("settle.systems", 200, "compare Settle with its model for this number of random systems")

// A clockwork is a random system of clients: writers with timers, and reactors, which
// watch a ConfigMap and write another one. All times are since the start.
type clockwork struct {
	seed     uint64
	writers  []writer
	reactors []reactor
	quiet    time.Duration
	call     time.Duration // when Settle is called
	limit    time.Duration // when its context ends
}

// A writer writes a ConfigMap once. The request is in flight for a time.
type writer struct {
	at, flight time.Duration
	object     int
}

// A reactor opens a watch of a ConfigMap, and after each event waits and writes another
// ConfigMap, up to a number of times; 0 times is a client that only watches. Its view lags,
// and its connection is slow.
type reactor struct {
	opens, lag, slow time.Duration
	watches, writes  int
	delay            time.Duration
	times            int
}

const clockworkObjects = 4

// newClockwork returns the system of a seed. Its times are whole microseconds, so that
// hardly two things happen at the same time.
func newClockwork(seed uint64) *clockwork {
	rng := rand.New(rand.NewPCG(seed, 0))
	upTo := func(d time.Duration) time.Duration {
		return 1 + time.Duration(rng.Int64N(int64(d/time.Microsecond)))*time.Microsecond
	}
	sometimes := func(d time.Duration) time.Duration {
		if rng.IntN(3) > 0 {
			return 0
		}
		return upTo(d)
	}
	c := &clockwork{seed: seed, call: sometimes(300 * time.Millisecond), limit: time.Second}
	c.quiet = []time.Duration{5, 20, 50, 100}[rng.IntN(4)] * time.Millisecond
	for range rng.IntN(12) {
		c.writers = append(c.writers, writer{upTo(400 * time.Millisecond), sometimes(100 * time.Millisecond), rng.IntN(clockworkObjects)})
	}
	for range rng.IntN(5) {
		r := reactor{
			opens: sometimes(200 * time.Millisecond), lag: sometimes(100 * time.Millisecond), slow: sometimes(100 * time.Millisecond),
			watches: rng.IntN(clockworkObjects), writes: rng.IntN(clockworkObjects), delay: upTo(c.quiet * time.Duration(1+rng.IntN(3)) / 2),
			times: rng.IntN(4) * rng.IntN(4),
		}
		if rng.IntN(4) == 0 {
			r.times = 1 << 30
		}
		if rng.IntN(3) == 0 {
			r.writes = r.watches
		}
		c.reactors = append(c.reactors, r)
	}
	return c
}

// A span is a time from begin up to end, without end.
type span struct{ begin, end time.Duration }

const (
	connectTime = 100 * time.Millisecond // without a watch, a client may be about to connect
	startTime   = 400 * time.Millisecond // after a client has opened a watch, it may be about to start
)

// settled returns when the system has settled, according to the model: no request is in
// flight, and, if there was a client, for the quiet time no request has begun or ended, and no
// event was written or sent. The quiet time is longer without a watch, and after one was
// opened.
func (c *clockwork) settled() []span {
	type step struct {
		at time.Duration
		do func(now time.Duration)
	}
	var steps []step
	at := func(t time.Duration, do func(time.Duration)) {
		i, _ := slices.BinarySearchFunc(steps, t, func(s step, t time.Duration) int { return cmp.Or(cmp.Compare(s.at, t), -1) })
		steps = slices.Insert(steps, i, step{t, do})
	}
	var out []span
	inFlight, watches, last, opened := 0, 0, time.Duration(0), time.Duration(0)
	connected := false
	var committed []func(now time.Duration, object int)
	write := func(t, flight time.Duration, object int) {
		at(t, func(now time.Duration) {
			inFlight++
			last, connected = now, true
			at(now+flight, func(now time.Duration) {
				inFlight--
				last = now
				for _, f := range committed {
					f(now, object)
				}
			})
		})
	}
	for _, w := range c.writers {
		write(w.at, w.flight, w.object)
	}
	for _, r := range c.reactors {
		left, free := r.times, time.Duration(0)
		at(r.opens, func(now time.Duration) {
			last, opened, connected = now, now, true
			watches++
			committed = append(committed, func(now time.Duration, object int) {
				if object != r.watches {
					return
				}
				at(now+r.lag, func(now time.Duration) {
					last = now // the event is written, and waits
					at(now+r.slow, func(now time.Duration) {
						last = now
						if left > 0 {
							left--
							free = max(free, now) + r.delay
							write(free, 0, r.writes)
						}
					})
				})
			})
		})
	}
	now := time.Duration(0)
	for now < c.limit {
		next := c.limit
		if len(steps) > 0 {
			next = min(next, steps[0].at)
		}
		begin := now
		switch {
		case watches > 0:
			begin = max(now, last+c.quiet, c.call+c.quiet, opened+max(c.quiet, startTime))
		case connected:
			begin = max(now, max(last, c.call)+max(c.quiet, connectTime))
		}
		if inFlight == 0 && begin < next {
			out = append(out, span{begin, next})
		}
		if now = next; len(steps) > 0 && steps[0].at <= now {
			do := steps[0].do
			steps = steps[1:]
			do(now)
		}
	}
	return out
}

// run runs the system on a server and returns when Settle has returned, and its error.
func (c *clockwork) run(t *testing.T, base *fakeapi.Server) (at time.Duration, err error) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(began)) // a lag must not find objects of the future
		srv, failed := base.NewFork()
		require.NoError(t, failed)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer srv.Close()
		defer running.Wait()
		defer cancel()
		start := time.Now()
		for i, w := range c.writers {
			agent := fmt.Sprintf("writer-%d", i)
			injectIf(t, srv, w.flight, faults.Fault{UserAgent: agent, Delay: w.flight, Verb: "patch"})
			running.Go(func() {
				if sleepUntil(ctx, start.Add(w.at)) {
					patch(srv, agent, fmt.Sprint("o", w.object), fmt.Sprintf(`{"data":{"by-%s":"x"}}`, agent))
				}
			})
		}
		for i, r := range c.reactors {
			agent := fmt.Sprintf("reactor-%d", i)
			injectIf(t, srv, r.slow, faults.Fault{UserAgent: agent, EventDelay: r.slow})
			if r.lag > 0 {
				require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{By: r.lag, UserAgent: agent}))
			}
			running.Go(func() {
				if sleepUntil(ctx, start.Add(r.opens)) {
					r.run(ctx, srv, agent)
				}
			})
		}
		limited, stop := context.WithDeadline(ctx, start.Add(c.limit))
		defer stop()
		sleepUntil(ctx, start.Add(c.call))
		synctest.Wait()
		err = srv.Settle(limited, fakeapi.SettleOptions{Quiet: c.quiet})
		at = time.Since(start)
	})
	return at, err
}

// injectIf injects a fault if its delay is positive.
func injectIf(t *testing.T, srv *fakeapi.Server, delay time.Duration, f faults.Fault) {
	t.Helper()
	if delay > 0 {
		_, err := srv.Inject(f)
		require.NoError(t, err)
	}
}

func sleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// run watches and reacts until ctx ends. It reads events while it waits.
func (r *reactor) run(ctx context.Context, srv *fakeapi.Server, agent string) {
	uri := fmt.Sprintf("%s%s?watch=1&resourceVersion=%d&fieldSelector=metadata.name=o%d", srv.URL, apitest.ConfigMapsPath, srv.Revision(), r.watches)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, uri, nil)
	if err != nil {
		panic(err) // unreachable: the URL is valid
	}
	req.Header.Set("User-Agent", agent)
	resp, err := srv.Client().Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	events := make(chan struct{}, 10_000)
	var reacting sync.WaitGroup
	defer reacting.Wait()
	defer close(events)
	reacting.Go(func() {
		n := 0
		for range events {
			if n == r.times {
				continue
			}
			if n++; !sleepUntil(ctx, time.Now().Add(r.delay)) {
				return
			}
			patch(srv, agent, fmt.Sprint("o", r.writes), fmt.Sprintf(`{"data":{"by-%s":"%d"}}`, agent, n))
		}
	})
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"MODIFIED"`) {
			events <- struct{}{}
		}
	}
}

// pollSlack is how much later than the model Settle may return.
const pollSlack = time.Millisecond

// check compares when Settle has returned with the model.
func (c *clockwork) check(t assert.TestingT, at time.Duration, err error) {
	for _, s := range c.settled() {
		if s.end <= c.call {
			continue
		}
		s.begin = max(s.begin, c.call)
		if err == nil && at >= s.begin && at < s.end && at <= s.begin+pollSlack {
			return
		}
		if s.end-s.begin > pollSlack && s.begin+pollSlack < c.limit {
			assert.Failf(t, "wrong", "seed %d: Settle returns at %v (%v); the model has settled from %v to %v\n%+v", c.seed, at, err, s.begin, s.end, *c)
			return
		}
	}
	if err == nil {
		assert.Failf(t, "early", "seed %d: Settle returns at %v; the model has not settled before %v\n%+v", c.seed, at, c.limit, *c)
	} else {
		assert.ErrorIs(t, err, fakeapi.ErrUnsettled)
	}
}

// Settle returns when a model says that the clients and the server have settled, for random
// systems of timers, watches and writers.
func TestSettleModel(t *testing.T) {
	base := fakeapi.Start(t, fakeapi.WithInMemory())
	for i := range clockworkObjects {
		_, err := base.Store(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o%d"}}`, i))
		require.NoError(t, err)
	}
	settled := 0
	for seed := range uint64(*settleSystems) {
		c := newClockwork(seed)
		at, err := c.run(t, base)
		if c.check(t, at, err); t.Failed() {
			return
		}
		if err == nil {
			settled++
		}
	}
	t.Logf("%d of %d systems have settled", settled, *settleSystems)
	assert.NotZero(t, settled)
	assert.Less(t, settled, *settleSystems)
}

// On a manual clock Settle moves to each next time at which a controller has something to
// do, and not beyond Ahead: Jobs are deleted when their times are over.
func TestSettleModelAhead(t *testing.T) {
	start := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	base := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(start),
		fakeapi.WithControllers("ttl-after-finished-controller", "garbage-collector-controller"))
	for seed := range uint64(min(*settleSystems, 500)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		srv, err := base.NewFork()
		require.NoError(t, err)
		due := map[string]time.Time{}
		for i := range rng.IntN(8) {
			ended, ttl := start.Add(-time.Duration(rng.IntN(60))*time.Second), rng.IntN(300)
			name := fmt.Sprint("job-", i)
			due[name] = ended.Add(time.Duration(ttl) * time.Second)
			_, err := srv.Store(fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":%q},"spec":{"ttlSecondsAfterFinished":%d,"manualSelector":true,
				"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},
				"status":{"conditions":[{"type":"Complete","status":"True","lastTransitionTime":%q}]}}`, name, ttl, ended.Format(time.RFC3339)))
			require.NoError(t, err)
		}
		end := start
		for range 3 {
			ahead := time.Duration(rng.IntN(100)) * time.Second
			end = srv.Clock().Now().Add(ahead)
			require.NoError(t, srv.Settle(t.Context(), fakeapi.SettleOptions{Ahead: ahead}), "seed %d", seed)
			now, want := srv.Clock().Now(), []string(nil)
			for name, at := range due {
				if at.After(end) {
					want = append(want, name)
				} else {
					assert.False(t, at.After(now), "seed %d: the clock stands at %v, before the end of %s at %v", seed, now, name, at)
				}
			}
			assert.False(t, now.After(end), "seed %d: the clock is at %v, later than %v", seed, now, end)
			jobs, err := srv.List("jobs.batch", "")
			require.NoError(t, err)
			var got []string
			for _, job := range jobs {
				got = append(got, job.Name())
			}
			assert.ElementsMatch(t, want, got, "seed %d: Jobs that are left at %v", seed, end)
		}
		if srv.Close(); t.Failed() {
			return
		}
	}
}
