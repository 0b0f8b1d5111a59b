package journal

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/mvcc"
)

// A Watch is a watch request.
type Watch struct {
	// Began and Ended are its positions in the journal. Began identifies the
	// watch. Ended is 0 while it is open.
	Began, Ended int64
	// Opened and Closed are the times of Began and Ended.
	Opened, Closed time.Time

	User, UserAgent string
	URI             string
	// Resource is the watched resource: "pods", "deployments.apps". Namespace and
	// Name restrict the watch unless they are "".
	Resource, Namespace, Name string
	// From is the revision after which the watch began.
	From mvcc.Revision
	// End is why the server ended the watch; "" if the client did. Code is the status code
	// of the error that it has sent then, 0 without.
	End  string
	Code int
}

// Progress is a step of a watch: every matching change up to Revision has been
// sent.
type Progress struct {
	Watch    int64 // Watch.Began
	Time     time.Time
	Revision mvcc.Revision
}

// An OpenWatch records the progress of a watch. It is safe for concurrent use.
type OpenWatch struct {
	journal *Journal
	watch   Watch
	reached atomic.Int64
}

// Open adds a watch and sets its Began and Opened. The caller must call End.
func (j *Journal) Open(w Watch) *OpenWatch {
	j.mu.Lock()
	defer j.mu.Unlock()
	w.Began, w.Opened = j.order.next(), j.now()
	o := &OpenWatch{journal: j, watch: w}
	o.reached.Store(int64(w.From))
	j.open[o] = struct{}{}
	return o
}

// Reached records that the watch has sent every change up to a revision. It does
// nothing if the watch has reached that revision before.
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
	o.journal.progress.add(o.journal.order, Progress{o.watch.Began, at, rev})
}

// End records the end of the watch. reason is why the server ended it, or "" if
// the client did, and code the status code of the error that it has sent, 0 without.
func (o *OpenWatch) End(reason string, code int) {
	j := o.journal
	w := o.watch
	w.Closed, w.End, w.Code = j.now(), reason, code
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.open, o)
	j.ended.add(j.order, w)
}

// Progress returns the newest steps of watches, oldest first.
func (j *Journal) Progress() []Entry[Progress] { return j.progress.all() }

// Watches returns the open watches and the newest ended watches, in the order in
// which they began.
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
