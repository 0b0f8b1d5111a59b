// Package journal records what happens on a server: the requests that it has
// responded to, the transactions that they made, the progress of each watch, and
// other actions on the server. It keeps the newest entries of each sort.
//
// A journal is written while requests are served. It stores the values at hand
// and derives nothing from them; package story does that.
package journal

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

const (
	// maxEntries is how many entries of a sort a journal keeps.
	maxEntries = 4096
	// maxProgress is that number for watch progress: one write makes an entry for each
	// watch.
	maxProgress = 4 * maxEntries
)

// A Journal holds the entries of one server. It is safe for concurrent use.
type Journal struct {
	now   func() time.Time
	order atomic.Int64 // position of the newest entry

	requests     ring[CompletedRequest]
	transactions ring[Transaction]
	progress     ring[Progress]
	notes        ring[Note]
	ended        ring[Watch]

	mu   sync.Mutex              // guards open
	open map[*OpenWatch]struct{} // watches that have not ended
}

// New returns an empty journal. It calls now for the times of entries.
func New(now func() time.Time) *Journal {
	return &Journal{
		now:          now,
		requests:     ring[CompletedRequest]{size: maxEntries},
		transactions: ring[Transaction]{size: maxEntries},
		progress:     ring[Progress]{size: maxProgress},
		notes:        ring[Note]{size: maxEntries},
		ended:        ring[Watch]{size: maxEntries},
		open:         map[*OpenWatch]struct{}{},
	}
}

// An Entry is a value with its position in the journal. Positions order all
// entries, of every sort; times do not, because on a manual clock many entries
// have the same time.
type Entry[T any] struct {
	Order int64
	What  T
}

// A CompletedRequest is a request whose response has ended.
type CompletedRequest struct {
	Request
	// Came is the position of the newest entry when the request arrived: the
	// request could see every entry up to it.
	Came int64
}

// A Transaction is one transaction of the store.
type Transaction struct {
	Revision mvcc.Revision
	Time     time.Time
	Writer   Writer
	// Changes are the events of the transaction; nil for more than maxChanges.
	Changes []mvcc.Event[*storage.Object]
}

// maxChanges limits the changes that a Transaction holds, because they keep
// compacted objects in memory.
const maxChanges = 1000

// A Note is an action on the server, or one that the server was asked to do to a
// client.
type Note struct {
	Time time.Time
	Kind NoteKind
	// Text describes it in a few words: "3s behind".
	Text string
	// Resource is the resource concerned: "pods", "deployments.apps"; "" is all
	// resources.
	Resource string
	// UserAgent is the User-Agent of the client concerned; "" if there is none.
	UserAgent string
	// Revision is the revision concerned; 0 if there is none.
	Revision mvcc.Revision
}

// A NoteKind is the kind of a Note.
type NoteKind string

const (
	Fault      NoteKind = "fault"      // a fault hit a client
	Lag        NoteKind = "lag"        // a watch cache began to lag
	Thaw       NoteKind = "thaw"       // a watch cache stopped lagging
	Compaction NoteKind = "compaction" // history was compacted up to a revision
	Clock      NoteKind = "clock"      // the clock was advanced
	State      NoteKind = "state"      // an earlier state was restored
)

// Order returns the position of the newest entry.
func (j *Journal) Order() int64 { return j.order.Load() }

// RecordRequest adds a request whose response has ended. came is the value of
// Order when it arrived.
func (j *Journal) RecordRequest(r Request, came int64) {
	j.requests.add(&j.order, CompletedRequest{r, came})
}

// RecordTransaction adds a transaction. The caller calls it inside the
// transaction after the last change, so that the entry precedes every entry of a
// reader that has seen the change. A transaction without changes is not added.
func (j *Journal) RecordTransaction(tx *mvcc.Txn[*storage.Object], by Writer) {
	changes := tx.Events()
	switch n := len(changes); {
	case n == 0:
		return
	case n > maxChanges:
		changes = nil
	}
	j.transactions.add(&j.order, Transaction{Revision: tx.Revision(), Time: j.now(), Writer: by, Changes: changes})
}

// RecordNote adds a note and sets its Time.
func (j *Journal) RecordNote(n Note) {
	n.Time = j.now()
	j.notes.add(&j.order, n)
}

// Requests returns the newest requests, in the order in which their responses
// ended.
func (j *Journal) Requests() []Entry[CompletedRequest] { return j.requests.all() }

// Transactions returns the newest transactions, oldest first.
func (j *Journal) Transactions() []Entry[Transaction] { return j.transactions.all() }

// Notes returns the newest notes, oldest first.
func (j *Journal) Notes() []Entry[Note] { return j.notes.all() }

// A ring keeps the newest entries.
type ring[T any] struct {
	size int // maximum number of entries

	mu      sync.Mutex // guards the fields below
	entries []Entry[T]
	next    int // index of the oldest entry, once entries has its maximum size
}

// add takes the next position under the ring's lock, so that entries are sorted
// by position.
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
