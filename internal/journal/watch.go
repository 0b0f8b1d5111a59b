package journal

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/mvcc"
)

// A Watch is the answer to a request that watches.
type Watch struct {
	// Began and Ended are the places of its begin and its end in the order of
	// the journal. Began is its name, Ended is 0 while it is open.
	Began, Ended int64
	// Opened and Closed are the times of these.
	Opened, Closed time.Time

	User, UserAgent string
	URI             string
	// Resource is what is watched, as the store's keys begin: "pods",
	// "deployments.apps". Namespace and Name bound it, unless "".
	Resource, Namespace, Name string
	// From is the revision after which it began.
	From mvcc.Revision
	// End says why the server ended it; "" if the client did.
	End string
}

// Progress is a step of a watch: everything up to a revision that it was to
// tell has been sent.
type Progress struct {
	Watch    int64 // its Began
	Time     time.Time
	Revision mvcc.Revision
}

// An OpenWatch is a watch that tells the journal how far it has come.
type OpenWatch struct {
	journal *Journal
	watch   Watch
	reached atomic.Int64
}

// Open adds a watch. Its Began and Opened are filled in. The caller must end it.
func (j *Journal) Open(w Watch) *OpenWatch {
	w.Began, w.Opened = j.order.Add(1), j.now()
	o := &OpenWatch{journal: j, watch: w}
	o.reached.Store(int64(w.From))
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open[o] = struct{}{}
	return o
}

// Reached tells that the watch has sent what there was up to a revision. A
// revision that it has reached before is not news.
func (o *OpenWatch) Reached(rev mvcc.Revision, at time.Time) {
	for {
		before := o.reached.Load()
		if int64(rev) <= before {
			return
		}
		if o.reached.CompareAndSwap(before, int64(rev)) {
			break
		}
	}
	o.journal.progress.add(&o.journal.order, Progress{o.watch.Began, at, rev})
}

// End tells that the watch has ended: why the server ended it, or "" if the
// client did.
func (o *OpenWatch) End(why string) {
	j := o.journal
	w := o.watch
	w.Closed, w.End = j.now(), why
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.open, o)
	j.ended.add(&j.order, w)
}

// Progress is how far watches came, oldest first.
func (j *Journal) Progress() []Entry[Progress] { return j.progress.all() }

// Watches are those that are open and the newest of those that have ended, in
// the order in which they began.
func (j *Journal) Watches() []Watch {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Watch
	for _, e := range j.ended.all() {
		e.What.Ended = e.Order
		out = append(out, e.What)
	}
	for o := range j.open {
		out = append(out, o.watch)
	}
	slices.SortFunc(out, func(a, b Watch) int { return cmp.Compare(a.Began, b.Began) })
	return out
}
