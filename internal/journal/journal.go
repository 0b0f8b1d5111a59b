// Package journal is what happened on a server, in the order in which it
// happened: the requests that it answered, the transactions that they made, how
// far each watch came, and what was done to the server beside that. Of each it
// keeps the newest.
//
// A journal is written while requests are served, so an entry is what is at
// hand then, and nothing is made for it. What the entries mean is found out by
// who tells the story of them.
package journal

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Size is how many entries of a sort a journal keeps, and progressSize how many
// steps of watches, of which one write makes many.
const (
	Size         = 4096
	progressSize = 4 * Size
)

// A Journal is the log of one server. It is safe for concurrent use.
type Journal struct {
	now   func() time.Time
	order atomic.Int64 // that of the newest entry

	requests ring[Answer]
	writes   ring[Write]
	progress ring[Progress]
	notes    ring[Note]
	ended    ring[Watch]

	mu   sync.Mutex              // guards open
	open map[*OpenWatch]struct{} // those that have not ended
}

// New returns an empty journal whose entries have the time of now.
func New(now func() time.Time) *Journal {
	return &Journal{
		now:      now,
		requests: ring[Answer]{size: Size},
		writes:   ring[Write]{size: Size},
		progress: ring[Progress]{size: progressSize},
		notes:    ring[Note]{size: Size},
		ended:    ring[Watch]{size: Size},
		open:     map[*OpenWatch]struct{}{},
	}
}

// An Entry is something that happened, and its place among all entries of the
// journal: on a clock that stands still, many are of one time.
type Entry[T any] struct {
	Order int64
	What  T
}

// A Request is one that has been answered.
type Request struct {
	Time      time.Time     `json:"time"` // when it came
	Method    string        `json:"method"`
	URI       string        `json:"uri"`
	User      string        `json:"user,omitempty"`
	UserAgent string        `json:"userAgent,omitempty"`
	Code      int           `json:"code"`
	Bytes     int64         `json:"bytes"` // of the answer's body
	Duration  time.Duration `json:"duration"`
	// Revision is that of the state which it read, or of its newest write.
	Revision int64 `json:"revision,omitempty"`
	// Message is that of the failure, if it was one.
	Message string `json:"message,omitempty"`
	// Unimplemented marks a request that a kube-apiserver would have answered.
	Unimplemented bool `json:"unimplemented,omitempty"`
	// Panic is the trace of a bug of the server that the request hit.
	Panic string `json:"panic,omitempty"`
}

// An Answer is a request, and what came before it.
type Answer struct {
	Request
	// Came is the place of the newest entry when the request came: what has no
	// later place, it could see.
	Came int64
}

// A Write is a transaction and who made it.
type Write struct {
	Revision mvcc.Revision
	Time     time.Time
	Writer   Writer
	// Changes are what it did; nil for very many.
	Changes []mvcc.Event[*storage.Object]
}

// maxChanges is how many changes of a transaction are kept from being freed
// once the store has been compacted.
const maxChanges = 1000

// A Writer is who made a transaction.
type Writer struct {
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Manager is the field manager that the write was made as.
	Manager string `json:"manager,omitempty"`
	Verb    string `json:"verb"`
}

// A Note is something that was done to the server, or that the server was told
// to do to a client.
type Note struct {
	Time time.Time
	Kind Kind
	// Text says it in a few words: "a read of pods is 3s behind".
	Text string
	// Resource is what it is about: "pods", "deployments.apps"; "" is all of
	// them.
	Resource string
	// UserAgent is the client that it happened to, "" if to none.
	UserAgent string
	// Revision is what it is about, 0 if there is none.
	Revision mvcc.Revision
}

// A Kind is what a note is about.
type Kind string

// The kinds of notes.
const (
	Fault      Kind = "fault"      // a fault hit a client
	Lag        Kind = "lag"        // a view of a resource trails, from here on
	Thaw       Kind = "thaw"       // and does so no more
	Compaction Kind = "compaction" // history up to a revision was forgotten
	Clock      Kind = "clock"      // the clock was moved
	State      Kind = "state"      // a state was brought back
)

// Order is the place of the newest entry.
func (j *Journal) Order() int64 { return j.order.Load() }

// Answered adds a request whose answer has ended; came is what Order was when
// it came.
func (j *Journal) Answered(r Request, came int64) { j.requests.add(&j.order, Answer{r, came}) }

// Wrote adds a transaction. It is to be called in it, when all changes are made,
// so that nobody can have seen them before.
func (j *Journal) Wrote(tx *mvcc.Txn[*storage.Object], by Writer) {
	changes := tx.Events()
	switch n := len(changes); {
	case n == 0:
		return // it comes to nothing
	case n > maxChanges:
		changes = nil
	}
	j.writes.add(&j.order, Write{Revision: tx.Revision(), Time: j.now(), Writer: by, Changes: changes})
}

// Note adds a note. Its Time is filled in.
func (j *Journal) Note(n Note) {
	n.Time = j.now()
	j.notes.add(&j.order, n)
}

// Requests are the newest requests, in the order in which their answers ended.
func (j *Journal) Requests() []Entry[Answer] { return j.requests.all() }

// Writes are the newest transactions, oldest first.
func (j *Journal) Writes() []Entry[Write] { return j.writes.all() }

// Notes are the newest notes, oldest first.
func (j *Journal) Notes() []Entry[Note] { return j.notes.all() }

// A ring keeps the newest of what was added to it.
type ring[T any] struct {
	size int // how many

	mu      sync.Mutex // guards the fields below
	entries []Entry[T] // up to size
	next    int        // where the next one goes, once entries is full
}

// add takes the next place in the order under the ring's lock: its entries are
// in order.
func (r *ring[T]) add(order *atomic.Int64, what T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := Entry[T]{order.Add(1), what}
	if len(r.entries) < r.size {
		r.entries = append(r.entries, e)
		return
	}
	r.entries[r.next] = e
	r.next = (r.next + 1) % r.size
}

// all returns the entries, oldest first.
func (r *ring[T]) all() []Entry[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.entries[r.next:], r.entries[:r.next])
}
