// Package journal records what happens on a server: the requests that it has
// responded to, the transactions that they made, the progress of each watch, and
// other actions on the server. It keeps the newest entries of each sort, bounded by
// their number and by their size in memory.
//
// A journal is written while requests are served. It stores the values at hand
// and derives nothing from them; package story does that.
package journal

import (
	"cmp"
	"math"
	"slices"
	"sort"
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
	began time.Time
	order *Order // of its entries

	requests     ring[CompletedRequest]
	transactions ring[Transaction]
	progress     ring[Progress]
	notes        ring[Note]
	ended        ring[Watch]

	mu   sync.Mutex              // guards open
	open map[*OpenWatch]struct{} // watches that have not ended
}

// An Order gives the entries of journals their positions. Journals that share it have one order
// of all entries. Its zero value is ready to use. It is safe for concurrent use.
type Order struct{ newest atomic.Int64 }

// next returns the position of a new entry.
func (o *Order) next() int64 { return o.newest.Add(1) }

// New returns an empty journal. It calls now for the times of entries.
func New(now func() time.Time) *Journal { return NewIn(&Order{}, now) }

// NewIn is New for a journal whose entries are in an Order, which other journals may share.
func NewIn(order *Order, now func() time.Time) *Journal {
	return &Journal{
		order:        order,
		now:          now,
		began:        now(),
		requests:     newRing(maxEntries, (*CompletedRequest).size),
		transactions: newRing(maxEntries, (*Transaction).size),
		progress:     newRing[Progress](maxProgress, nil),
		notes:        newRing(maxEntries, (*Note).size),
		ended:        newRing(maxEntries, (*Watch).size),
		open:         map[*OpenWatch]struct{}{},
	}
}

// Limit bounds the size of the entries by a number of bytes, which includes the versions
// of objects that transactions refer to. Half of it is for transactions, and an eighth
// for each other sort with texts. The newest entry of a sort is kept whatever its size.
// Without Limit only the number of entries is bounded. It must be called before the
// journal is used.
func (j *Journal) Limit(bytes int64) {
	j.transactions.limit(max(bytes/2, 1))
	j.requests.limit(max(bytes/8, 1))
	j.notes.limit(max(bytes/8, 1))
	j.ended.limit(max(bytes/8, 1))
}

// Bytes returns the size of the entries, as Limit counts it.
func (j *Journal) Bytes() int64 {
	return j.requests.totalBytes() + j.transactions.totalBytes() + j.notes.totalBytes() + j.ended.totalBytes()
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
	First    mvcc.Revision // of the first change
	Revision mvcc.Revision // of the last change
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
	// resources. Of an Injection and a Removal it is the Resource of the fault, with patterns.
	Resource string
	// UserAgent is the User-Agent of the client concerned; "" if there is none.
	UserAgent string
	// Revision is the revision concerned; 0 if there is none. For a restored state it is
	// that of the last change, and First that of the first one.
	First, Revision mvcc.Revision
	// Came is the position of the newest entry when what took time began: a wait until the
	// server had settled.
	Came int64
	// Fault is the ID of the fault of an Injection or a Removal, and Until when it ends by itself;
	// zero if it does not.
	Fault string
	Until time.Time
}

// A NoteKind is the kind of a Note.
type NoteKind string

const (
	Fault      NoteKind = "fault"      // a fault hit a client
	Injection  NoteKind = "injection"  // a fault can hit clients from now on
	Removal    NoteKind = "removal"    // it was removed, or has hit as often as it may
	Lag        NoteKind = "lag"        // a watch cache began to lag
	Thaw       NoteKind = "thaw"       // a watch cache stopped lagging
	Compaction NoteKind = "compaction" // history was compacted up to a revision
	Clock      NoteKind = "clock"      // the clock was advanced
	State      NoteKind = "state"      // an earlier state was restored
	Upgrade    NoteKind = "upgrade"    // an API server restarted with another release
	Controller NoteKind = "controller" // a controller has failed
	Fork       NoteKind = "fork"       // another server began with the state of this one
	Settle     NoteKind = "settle"     // a wait until the server had settled ended
)

// entryBytes is about what an entry occupies apart from its texts and objects.
const entryBytes = 256

func (r *CompletedRequest) size() int64 {
	n := entryBytes + int64(len(r.URI)+len(r.User)+len(r.UserAgent)+len(r.Message)+len(r.Panic)+len(r.AuditID))
	for key, value := range r.Annotations {
		n += int64(len(key) + len(value))
	}
	return n
}

func (n *Note) size() int64 {
	return entryBytes + int64(len(n.Text)+len(n.Resource)+len(n.UserAgent)+len(n.Fault))
}

func (w *Watch) size() int64 {
	return entryBytes + int64(len(w.URI)+len(w.User)+len(w.UserAgent)+len(w.Namespace)+len(w.Name)+len(w.End))
}

// size counts the versions that the transaction has replaced, and created objects. It
// does not count the versions that it has put in their place: a later transaction has
// replaced them, unless they are the newest.
func (t *Transaction) size() int64 {
	n := entryBytes + int64(len(t.Changes))*entryBytes
	for i := range t.Changes {
		if e := &t.Changes[i]; e.Prev != nil {
			n += e.ReplacedBytes()
		} else {
			n += e.Item.Value.Size()
		}
	}
	return n
}

// Order returns the position of the newest entry, of all journals that share the Order.
func (j *Journal) Order() int64 { return j.order.newest.Load() }

// RecordRequest adds a request whose response has ended. came is the value of
// Order when it arrived.
func (j *Journal) RecordRequest(r Request, came int64) {
	j.requests.add(j.order, CompletedRequest{r, came})
}

// RecordTransaction adds a transaction. The caller calls it inside the
// transaction after the last change, so that the entry precedes every entry of a
// reader that has seen the change. A transaction without changes is not added.
func (j *Journal) RecordTransaction(tx storage.Txn, by Writer) {
	changes := tx.Events()
	n := len(changes)
	if n == 0 {
		return
	}
	what := Transaction{First: changes[0].Revision(), Revision: changes[n-1].Revision(), Time: j.now(), Writer: by}
	if n <= maxChanges {
		what.Changes = changes
	}
	j.transactions.add(j.order, what)
}

// RecordNote adds a note and sets its Time.
func (j *Journal) RecordNote(n Note) {
	n.Time = j.now()
	j.notes.add(j.order, n)
}

// Requests returns the newest requests, in the order in which their responses
// ended.
func (j *Journal) Requests() []Entry[CompletedRequest] { return j.requests.all() }

// Transactions returns the newest transactions, oldest first.
func (j *Journal) Transactions() []Entry[Transaction] { return j.transactions.all() }

// Dropped reports whether the journal has had transactions that it has not any more.
func (j *Journal) Dropped() bool { return j.transactions.newestDropped() > 0 }

// Began returns when the journal was made.
func (j *Journal) Began() time.Time { return j.began }

// A Batch has the entries between two positions, each sort in its order.
type Batch struct {
	Requests     []Entry[CompletedRequest]
	Transactions []Entry[Transaction]
	Progress     []Entry[Progress]
	Notes        []Entry[Note]
	Opened       []Watch // watches that began
	Ended        []Watch // watches that ended
	// Dropped reports that the journal has had more transactions or requests there.
	Dropped bool
}

// Empty reports whether nothing has happened.
func (b *Batch) Empty() bool {
	return !b.Dropped && len(b.Requests)+len(b.Transactions)+len(b.Progress)+len(b.Notes)+len(b.Opened)+len(b.Ended) == 0
}

// Between returns the entries after a position, up to another one. It copies only these.
func (j *Journal) Between(after, upTo int64) Batch {
	b := Batch{
		Requests:     j.requests.between(after, upTo),
		Transactions: j.transactions.between(after, upTo),
		Progress:     j.progress.between(after, upTo),
		Notes:        j.notes.between(after, upTo),
		Dropped:      j.transactions.newestDropped() > after || j.requests.newestDropped() > after,
	}
	opened := func(w Watch) {
		if w.Began > after && w.Began <= upTo {
			b.Opened = append(b.Opened, w)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.ended.between(after, math.MaxInt64) {
		e.What.Ended = e.Order
		opened(e.What)
		if e.Order <= upTo {
			b.Ended = append(b.Ended, e.What)
		}
	}
	for o := range j.open {
		opened(o.watch)
	}
	slices.SortFunc(b.Opened, func(a, b Watch) int { return cmp.Compare(a.Began, b.Began) })
	return b
}

// Notes returns the newest notes, oldest first.
func (j *Journal) Notes() []Entry[Note] { return j.notes.all() }

// A ring keeps the newest entries of one sort. It is safe for concurrent use. It is an interface
// because Go compiles the methods of a generic type again in each package whose types lead to it.
type ring[T any] interface {
	// add adds an entry at the next position, which it takes under the lock of the ring, so that
	// entries are sorted by position.
	add(order *Order, what T)
	// limit bounds the size of the entries. It must be called before add.
	limit(bytes int64)
	// all returns the entries, oldest first.
	all() []Entry[T]
	// between returns the entries after a position, up to another one, oldest first.
	between(after, upTo int64) []Entry[T]
	// totalBytes returns the size of the entries.
	totalBytes() int64
	// newestDropped returns the position of the newest entry that was removed, 0 if none was.
	newestDropped() int64
}

// newRing returns an empty ring. size is nil if entries have the same size.
func newRing[T any](maxEntries int, size func(*T) int64) ring[T] {
	return &circle[T]{maxEntries: maxEntries, size: size}
}

// A circle implements ring.
type circle[T any] struct {
	maxEntries int
	maxBytes   int64          // 0 for no limit
	size       func(*T) int64 // nil if entries have the same size

	mu      sync.Mutex // guards the fields below
	entries []Entry[T] // circular; the oldest one is at first
	first   int
	count   int
	bytes   int64 // of the entries
	dropped int64 // position of the newest entry that was removed; 0 if none was
}

func (c *circle[T]) add(order *Order, what T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == len(c.entries) {
		if c.count < c.maxEntries {
			c.growLocked()
		} else {
			c.dropLocked()
		}
	}
	e := &c.entries[(c.first+c.count)%len(c.entries)]
	*e = Entry[T]{order.next(), what}
	c.count++
	if c.size == nil {
		return
	}
	c.bytes += c.size(&e.What)
	for c.maxBytes > 0 && c.bytes > c.maxBytes && c.count > 1 {
		c.dropLocked()
	}
}

// growLocked makes room for more entries.
func (c *circle[T]) growLocked() {
	more := make([]Entry[T], min(max(2*len(c.entries), 8), c.maxEntries))
	copy(more[copy(more, c.entries[c.first:]):], c.entries[:c.first])
	c.entries, c.first = more, 0
}

// dropLocked removes the oldest entry.
func (c *circle[T]) dropLocked() {
	e := &c.entries[c.first]
	if c.size != nil {
		c.bytes -= c.size(&e.What)
	}
	c.dropped = e.Order
	*e = Entry[T]{}
	c.first = (c.first + 1) % len(c.entries)
	c.count--
}

func (c *circle[T]) all() []Entry[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Entry[T], 0, c.count)
	end := c.first + c.count
	out = append(out, c.entries[c.first:min(end, len(c.entries))]...)
	return append(out, c.entries[:max(0, end-len(c.entries))]...)
}

func (c *circle[T]) between(after, upTo int64) []Entry[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := func(i int) *Entry[T] { return &c.entries[(c.first+i)%len(c.entries)] }
	from := sort.Search(c.count, func(i int) bool { return at(i).Order > after })
	var out []Entry[T]
	for i := from; i < c.count && at(i).Order <= upTo; i++ {
		out = append(out, *at(i))
	}
	return out
}

func (c *circle[T]) limit(bytes int64) { c.maxBytes = bytes }

func (c *circle[T]) totalBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *circle[T]) newestDropped() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}
