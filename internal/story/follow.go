package story

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/mvcc"
)

const (
	// maxDetailed is how many revisions of a part have fields. A client reads those of
	// others when it needs them, so that a busy server spends little on its followers.
	maxDetailed = 20
	// maxWritten is how many revisions a Follower remembers to tell that a read was stale,
	// and maxFaults how many faults to tell that a request met one.
	maxWritten = 4096
	maxFaults  = 256
)

// A Follower returns the story of a server while it happens, in parts. A part is a Story
// that has only what happened after the one before: its readers have their new marks only,
// and a reader is the same in two parts if it has the same client, target and selector. Parts
// have no sightings, loops and folds.
//
// A Follower keeps the open watches and a bounded number of revisions and faults. It is for
// one goroutine.
type Follower struct {
	from    Source
	since   int64
	begun   bool
	open    map[int64]journal.Watch // by Watch.Began
	written []written
	faults  []Note
}

// Follow returns a Follower of what happens after a position of the journal.
func Follow(from Source, since int64) *Follower {
	f := &Follower{from: from, since: since, open: map[int64]journal.Watch{}}
	for _, w := range from.Journal.Watches() {
		if w.Began <= since && (w.Ended == 0 || w.Ended > since) {
			f.open[w.Began] = w
		}
	}
	return f
}

// Position returns the position in the journal up to which the parts go.
func (f *Follower) Position() int64 { return f.since }

// Next returns the next part, at the server's time now. It returns nil if nothing has
// happened, except the first time.
func (f *Follower) Next(now time.Time) *Story {
	upTo := f.from.Journal.Order()
	if upTo == f.since && f.begun {
		return nil
	}
	batch := f.from.Journal.Between(f.since, upTo)
	if f.begun && batch.Empty() { // what has happened is that of another cluster
		f.since = upTo
		return nil
	}
	b := newBuilder(f.from, f.from.Journal.Began())
	b.written, b.faults = f.written, f.faults
	writes := b.transactions(batch.Transactions, batch.Notes)
	for i, e := range writes {
		b.lean = i < len(writes)-maxDetailed
		b.revision(e)
	}
	for _, e := range batch.Notes {
		b.note(e)
	}
	f.watches(b, batch)
	for _, e := range batch.Requests {
		b.request(e)
	}
	for i := range b.story.Readers {
		slices.SortFunc(b.story.Readers[i].Marks, func(a, b Mark) int { return cmp.Compare(a.Order, b.Order) })
	}
	s := b.story
	s.Gap = batch.Dropped && f.since > 0
	if batch.Dropped && f.since == 0 && len(writes) > 0 {
		s.Earlier = max(0, int(writes[0].What.Revision-f.from.From-1))
	}
	s.Ended = Moment{Order: upTo, At: b.at(now)}
	s.Revision, s.Compacted = int64(f.from.Store.Revision()), int64(f.from.Store.Compacted())
	f.since, f.begun = upTo, true
	f.written, f.faults = newest(b.written, maxWritten), newest(b.faults, maxFaults)
	return s
}

// watches adds the marks of watches.
func (f *Follower) watches(b *builder, batch journal.Batch) {
	for _, w := range batch.Opened {
		f.open[w.Began] = w
		b.opened(b.watcher(&w), &w)
	}
	for _, e := range batch.Progress {
		if w, ok := f.open[e.What.Watch]; ok {
			b.step(b.watcher(&w), e)
		}
	}
	for _, w := range batch.Ended {
		delete(f.open, w.Began)
		b.ended(b.watcher(&w), &w)
	}
}

// newest returns a copy of the last n elements of a list, or the list if it is not longer.
func newest[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}

// Revisions returns those of the revisions that the journal of a server still has.
func Revisions(from Source, of map[mvcc.Revision]bool) []Revision {
	b := newBuilder(from, from.Journal.Began())
	for _, e := range b.transactions(from.Journal.Transactions(), from.Journal.Notes()) {
		if of[e.What.Revision] {
			b.revision(e)
		}
	}
	return b.story.Revisions
}
