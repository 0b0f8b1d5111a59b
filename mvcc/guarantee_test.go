//go:build go1.25

package mvcc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

// An observation is what one watcher returned.
type observation struct {
	prefix string
	from   mvcc.Revision
	polls  []polled
	err    error // the error of the last Poll, if any
}

// polled is the result of one Poll, and the watcher's revision after it.
type polled struct {
	events   []mvcc.Event[int]
	progress mvcc.Revision
}

func (o observation) events() []mvcc.Event[int] {
	var events []mvcc.Event[int]
	for _, p := range o.polls {
		events = append(events, p.events...)
	}
	return events
}

// progress returns the last revision of the watcher.
func (o observation) progress() mvcc.Revision {
	if len(o.polls) == 0 {
		return o.from - 1
	}
	return o.polls[len(o.polls)-1].progress
}

// A history is the committed changes, by revision.
type history []mvcc.Event[int]

// add adds the transactions from a revision on.
func (h *history) add(s *mvcc.Store[int], from mvcc.Revision) {
	for tx := range s.Log(from) {
		*h = append(*h, tx.Events...)
	}
}

// matching returns the events of keys with a prefix in [from, to].
func (h history) matching(prefix string, from, to mvcc.Revision) []mvcc.Event[int] {
	var events []mvcc.Event[int]
	for rev := max(from, 2); rev <= to; rev++ {
		if e := h[rev]; strings.HasPrefix(e.Item.Key, prefix) {
			events = append(events, e)
		}
	}
	return events
}

// guarantees are the guarantees of watchers. Each check gets the observations of
// consecutive watchers, each started where the previous one ended.
var guarantees = []struct {
	name  string
	check func(h history, seen []observation) error
}{
	{"ordered", func(_ history, seen []observation) error {
		// The revisions of events increase, so that a watcher can be continued after each.
		for _, o := range seen {
			last := mvcc.Revision(0)
			for _, e := range o.events() {
				if e.Item.Modified <= last {
					return fmt.Errorf("revision %d after %d", e.Item.Modified, last)
				}
				last = e.Item.Modified
			}
		}
		return nil
	}},
	{"unique", func(_ history, seen []observation) error {
		// No event is returned twice.
		type change struct {
			key string
			rev mvcc.Revision
		}
		for _, o := range seen {
			had := make(map[change]bool)
			for _, e := range o.events() {
				c := change{e.Item.Key, e.Item.Modified}
				if had[c] {
					return fmt.Errorf("%v twice", c)
				}
				had[c] = true
			}
		}
		return nil
	}},
	{"reliable", func(h history, seen []observation) error {
		// A watcher has returned exactly the events from its start to its revision.
		for _, o := range seen {
			if err := same(h.matching(o.prefix, o.from, o.progress()), o.events()); err != nil {
				return err
			}
		}
		return nil
	}},
	{"resumable", func(h history, seen []observation) error {
		// Watchers that each start after the revision of the previous one return
		// together the events that one watcher would return.
		if len(seen) == 0 {
			return nil
		}
		var together []mvcc.Event[int]
		for i, o := range seen {
			if i > 0 && o.from != seen[i-1].progress()+1 {
				return fmt.Errorf("resumed at %d after %d", o.from, seen[i-1].progress())
			}
			together = append(together, o.events()...)
		}
		return same(h.matching(seen[0].prefix, seen[0].from, seen[len(seen)-1].progress()), together)
	}},
	{"bookmarkable", func(_ history, seen []observation) error {
		// A watcher's revision does not decrease, is not below a returned event, and
		// no event at or below it is returned later.
		for _, o := range seen {
			last := o.from - 1
			for _, p := range o.polls {
				for _, e := range p.events {
					if rev := e.Item.Modified; rev <= last || rev > p.progress {
						return fmt.Errorf("event at %d between bookmarks %d and %d", rev, last, p.progress)
					}
				}
				if p.progress < last {
					return fmt.Errorf("bookmark %d after %d", p.progress, last)
				}
				last = p.progress
			}
		}
		return nil
	}},
}

func same(want, got []mvcc.Event[int]) error {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] { // the items are shared, so the pointers are equal
			return fmt.Errorf("event %d is %v of %v, not %v of %v", i, got[i].Type, got[i].Item, want[i].Type, want[i].Item)
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d events, not %d", len(got), len(want))
	}
	return nil
}

// TestWatchGuarantees runs watchers concurrently with a random writer that also compacts.
// Half of them watch replicas whose lag keeps changing. A watcher sometimes closes, also after
// some of the events of a poll, and continues with a new one, and starts again at the compacted revision when its events
// were compacted. The writer depends only on the seed; when watchers see its changes
// depends on the scheduler.
func TestWatchGuarantees(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			s := mvcc.New[int](mvcc.Options{})
			var group sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			runs := make([][][]observation, 16)
			var replicas []*mvcc.Replica[int]
			for i := range runs {
				random := rand.New(rand.NewPCG(seed, uint64(i)+1))
				prefix := []string{"", "a/", "b/", "a/1"}[i/2%4]
				watched := watchable(s)
				if i%2 == 1 {
					r := s.Replica()
					replicas = append(replicas, r)
					watched = r
				}
				group.Go(func() { runs[i] = follow(ctx, s, watched, prefix, random) })
			}
			stop := make(chan struct{})
			var lagging sync.WaitGroup
			lagging.Go(func() { changeLags(stop, s, replicas, rand.New(rand.NewPCG(seed, 100))) })
			h := write(t, s, rand.New(rand.NewPCG(seed, 0)))
			close(stop)
			lagging.Wait()
			cancel()
			group.Wait()
			for i, run := range runs {
				for _, seen := range run {
					for _, g := range guarantees {
						assert.NoError(t, g.check(h, seen), "watcher %d is not %s", i, g.name)
					}
				}
				last := run[len(run)-1]
				assert.Equal(t, s.Revision(), last[len(last)-1].progress(), "watcher %d has returned all events", i)
			}
		})
	}
}

// A watchable is a store or a replica.
type watchable interface {
	Watch(prefix string, from mvcc.Revision) (*mvcc.Watcher[int], error)
}

// changeLags changes the lags of replicas until stop is closed, and finally removes them.
func changeLags(stop <-chan struct{}, s *mvcc.Store[int], replicas []*mvcc.Replica[int], random *rand.Rand) {
	for {
		select {
		case <-stop:
			for _, r := range replicas {
				r.SetLag(mvcc.Lag{})
			}
			return
		default:
		}
		r := replicas[random.IntN(len(replicas))]
		switch random.IntN(5) {
		case 0:
			r.SetLag(mvcc.Lag{Revisions: random.Int64N(10)})
		case 1:
			r.SetLag(mvcc.Lag{By: time.Duration(random.IntN(300)) * time.Microsecond})
		case 2:
			r.SetLag(mvcc.Lag{Until: s.Revision() - 5 + mvcc.Revision(random.IntN(10))})
		case 3:
			r.Advance()
		case 4:
			r.Skip(s.Revision() - mvcc.Revision(random.IntN(10)))
		}
		runtime.Gosched()
	}
}

// write writes a random history.
func write(t *testing.T, s *mvcc.Store[int], random *rand.Rand) history {
	h := make(history, 2) // no change has revision 0 or 1
	for i := range 400 {
		before := s.Revision()
		rev, err := s.Update(func(tx *mvcc.Txn[int]) error {
			for range 1 + random.IntN(4) {
				key := fmt.Sprintf("%c/%d", 'a'+random.IntN(3), random.IntN(4))
				if random.IntN(3) == 0 {
					tx.Delete(key)
				} else {
					tx.Put(key, i)
				}
			}
			return nil
		})
		require.NoError(t, err)
		if rev > before {
			h.add(s, before+1)
		}
		if random.IntN(20) == 0 {
			// This fails for a compacted revision.
			_ = s.Compact(rev - mvcc.Revision(random.IntN(20)))
		}
	}
	return h
}

// follow watches until ctx is done and no events are left. It returns runs of
// observations, each resumed from the previous one; a new run starts after a compaction
// error.
func follow(ctx context.Context, s *mvcc.Store[int], watched watchable, prefix string, random *rand.Rand) [][]observation {
	var runs [][]observation
	var run []observation
	from := mvcc.Revision(1)
	for {
		o := observe(ctx, watched, prefix, from, random)
		run = append(run, o)
		from = o.progress() + 1
		switch {
		case errors.Is(o.err, mvcc.ErrCompacted):
			runs = append(runs, run)
			run = nil
			from = s.Compacted()
		case o.err != nil:
			return append(runs, run)
		}
	}
}

// observe watches for a random number of polls.
func observe(ctx context.Context, watched watchable, prefix string, from mvcc.Revision, random *rand.Rand) observation {
	o := observation{prefix: prefix, from: from}
	w, err := watched.Watch(prefix, from)
	if err != nil {
		o.err = err
		return o
	}
	defer w.Close()
	for range 1 + random.IntN(30) {
		stopped := ctx.Err()
		events, err := w.Poll(random.IntN(6))
		if err != nil {
			o.err = err
			return o
		}
		if n := len(events); n > 0 && random.IntN(10) == 0 { // the watch breaks after an event
			events = events[:1+random.IntN(n)]
			o.polls = append(o.polls, polled{slices.Clone(events), events[len(events)-1].Revision()})
			return o
		}
		o.polls = append(o.polls, polled{slices.Clone(events), w.Revision()})
		if len(events) > 0 {
			continue
		}
		if stopped != nil {
			o.err = stopped
			return o
		}
		select {
		case <-w.Wait():
		case <-ctx.Done():
		}
	}
	return o
}

// TestGuaranteesFindFaults checks that each guarantee detects a faulty watcher of "a/"
// of this history:
//
//	2: +a/1   3: +a/2   4: +b/1   5: +a/1
//
// Revisions 2 and 3 are one transaction.
func TestGuaranteesFindFaults(t *testing.T) {
	s := mvcc.New[int](mvcc.Options{})
	for _, keys := range [][]string{{"a/1", "a/2"}, {"b/1"}, {"a/1"}} {
		_, err := s.Update(func(tx *mvcc.Txn[int]) error {
			for _, key := range keys {
				tx.Put(key, 0)
			}
			return nil
		})
		require.NoError(t, err)
	}
	h := make(history, 2)
	h.add(s, 0)
	all := h.matching("a/", 2, 5)
	a2, a3, a5 := all[0], all[1], all[2]
	type events = []mvcc.Event[int]
	watcher := func(from mvcc.Revision, polls ...polled) observation {
		return observation{prefix: "a/", from: from, polls: polls}
	}

	for _, row := range []struct {
		name     string
		seen     []observation
		violated []string
	}{
		{"correct", []observation{watcher(2, polled{events{a2}, 2}, polled{events{a3}, 4}), watcher(5, polled{events{a5}, 5})}, nil},
		{"backwards", []observation{watcher(2, polled{events{a5, a2, a3}, 5})}, []string{"ordered", "reliable", "resumable"}},
		{"twice", []observation{watcher(2, polled{events{a2, a3, a5}, 5}, polled{events{a5}, 5})}, []string{"ordered", "unique", "reliable", "resumable", "bookmarkable"}},
		{"missing event", []observation{watcher(2, polled{events{a2, a3}, 5})}, []string{"reliable", "resumable"}},
		{"unexpected event", []observation{watcher(4, polled{events{a5}, 4})}, []string{"reliable", "resumable", "bookmarkable"}},
		{"bookmark in a transaction", []observation{watcher(2, polled{events{a2}, 3}, polled{events{a3}, 4})}, []string{"bookmarkable"}},
		{"gap between watchers", []observation{watcher(2, polled{events{a2}, 2}), watcher(4, polled{nil, 4})}, []string{"resumable"}},
		{"bookmark goes back", []observation{watcher(4, polled{nil, 4}, polled{nil, 3})}, []string{"bookmarkable"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var violated []string
			for _, g := range guarantees {
				if g.check(h, row.seen) != nil {
					violated = append(violated, g.name)
				}
			}
			assert.Equal(t, row.violated, violated)
		})
	}
}
