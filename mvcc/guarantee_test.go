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

// A history is the committed transactions, by revision.
type history []*mvcc.Transaction[int]

// matching returns the events of keys with a prefix in [from, to].
func (h history) matching(prefix string, from, to mvcc.Revision) []mvcc.Event[int] {
	var events []mvcc.Event[int]
	for rev := max(from, 2); rev <= to; rev++ {
		for _, e := range h[rev].Events {
			if strings.HasPrefix(e.Item.Key, prefix) {
				events = append(events, e)
			}
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
		// The revisions of events do not decrease.
		for _, o := range seen {
			last := mvcc.Revision(0)
			for _, e := range o.events() {
				if e.Item.Modified < last {
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
	{"atomic", func(h history, seen []observation) error {
		// The events of a transaction are returned together.
		for _, o := range seen {
			for _, p := range o.polls {
				for _, e := range p.events {
					rev := e.Item.Modified
					n := 0
					for _, other := range p.events {
						if other.Item.Modified == rev {
							n++
						}
					}
					if all := len(h.matching(o.prefix, rev, rev)); n != all {
						return fmt.Errorf("%d events of %d at revision %d", n, all, rev)
					}
				}
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
// Half of them watch replicas whose lag keeps changing. A watcher sometimes closes and
// continues with a new one, and starts again at the compacted revision when its events
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
	h := history{nil, nil}
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
			h = slices.AppendSeq(h, s.Log(rev))
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
//	2: +a/1 +a/2   3: +b/1   4: +a/1
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
	h := slices.AppendSeq(history{nil, nil}, s.Log(0))
	all := h.matching("a/", 2, 4)
	a1, a2, a4 := all[0], all[1], all[2]
	type events = []mvcc.Event[int]
	watcher := func(from mvcc.Revision, polls ...polled) observation {
		return observation{prefix: "a/", from: from, polls: polls}
	}

	for _, row := range []struct {
		name     string
		seen     []observation
		violated []string
	}{
		{"correct", []observation{watcher(2, polled{events{a1, a2}, 3}), watcher(4, polled{events{a4}, 4})}, nil},
		{"backwards", []observation{watcher(2, polled{events{a4, a1, a2}, 4})}, []string{"ordered", "reliable", "resumable"}},
		{"twice", []observation{watcher(2, polled{events{a1, a2, a4}, 4}, polled{events{a4}, 4})}, []string{"unique", "reliable", "resumable", "bookmarkable"}},
		{"missing event", []observation{watcher(2, polled{events{a1, a2}, 4})}, []string{"reliable", "resumable"}},
		{"unexpected event", []observation{watcher(3, polled{events{a4}, 3})}, []string{"reliable", "resumable", "bookmarkable"}},
		{"transaction split", []observation{watcher(2, polled{events{a1}, 2}, polled{events{a2}, 3})}, []string{"atomic", "bookmarkable"}},
		{"gap between watchers", []observation{watcher(2, polled{events{a1, a2}, 3}), watcher(5, polled{nil, 4})}, []string{"resumable"}},
		{"bookmark goes back", []observation{watcher(3, polled{nil, 3}, polled{nil, 2})}, []string{"bookmarkable"}},
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
