package story

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/scrub"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Source is the server that a story is about.
type Source struct {
	Title   string // name of the test or server
	Journal *journal.Journal
	Store   *storage.Store
	Now     time.Time
	// From is the revision after which the story begins.
	From mvcc.Revision
	// Hidden, if not nil, reports whether the story omits requests for a path.
	Hidden func(path string) bool
	// Scrubber replaces secrets; nil shows them.
	Scrubber *scrub.Scrubber
	// WithObjects includes objects, so that a page can show objects at a revision.
	WithObjects bool
}

const (
	maxRevisions = 2000 // in a story
	maxChanges   = 200  // in a revision

	// maxObjects and maxObjectBytes bound Story.Objects. The objects that were changed last are in it.
	maxObjects     = 500
	maxObjectBytes = 1 << 20
)

// New builds the story of a server: its newest 2,000 revisions and everything since
// the first of them.
func New(from Source) *Story {
	b := newBuilder(from, from.Now)
	notes, requests, watches, progress := from.Journal.Notes(), from.Journal.Requests(), from.Journal.Watches(), from.Journal.Progress()
	writes := b.transactions(from.Journal.Transactions(), notes)
	if skip := len(writes) - maxRevisions; skip > 0 {
		b.story.Earlier = skip
		writes = writes[skip:]
		b.first = writes[0].Order
	}
	if len(writes) > 0 && from.Journal.Dropped() {
		if earlier := int(writes[0].What.Revision - from.From - 1); earlier > 0 {
			b.story.Earlier = earlier
			b.first = writes[0].Order
		}
	}
	b.begin(writes, notes, requests, watches)
	for _, e := range writes {
		b.revision(e)
	}
	for _, e := range notes {
		b.note(e)
	}
	b.watches(watches, progress)
	for _, e := range requests {
		b.request(e)
	}
	b.addSightings()
	if from.WithObjects {
		b.addObjects()
	}
	b.story.Loops = b.story.loops()
	b.story.Folds = b.story.folds()
	b.story.Ended = Moment{Order: b.last + 1, At: b.at(from.Now)}
	b.story.Revision = int64(from.Store.Revision())
	if c := from.Store.Compacted(); c > from.From {
		b.story.Compacted = int64(c)
	}
	return b.story
}

// newBuilder returns a builder of an empty story.
func newBuilder(from Source, began time.Time) *builder {
	return &builder{Source: from, readers: map[readerKey]int{}, story: &Story{
		Format: Format, Title: from.Title, Began: began,
		Revisions: []Revision{}, Readers: []Reader{}, Requests: []Request{}, Notes: []Note{},
	}}
}

// A builder builds a story.
type builder struct {
	Source
	story *Story
	// The story has the entries from position first on; last is the highest one.
	first, last int64
	readers     map[readerKey]int
	written     []written // the revisions, by their positions
	faults      []Note    // the notes of faults
	// lean omits the fields of changes, which take most of the time.
	lean bool
}

// A written is where the journal has a revision.
type written struct{ order, revision int64 }

// transactions returns the transactions after Source.From, sorted by revision. A
// restored state is a transaction that the journal has as a note.
func (b *builder) transactions(writes []journal.Entry[journal.Transaction], notes []journal.Entry[journal.Note]) []journal.Entry[journal.Transaction] {
	for _, e := range notes {
		if n := e.What; n.Kind == journal.State {
			w := journal.Transaction{First: n.First, Revision: n.Revision, Time: n.Time, Writer: journal.Writer{Verb: "restore"}}
			writes = append(writes, journal.Entry[journal.Transaction]{Order: e.Order, What: w})
		}
	}
	writes = slices.DeleteFunc(writes, func(e journal.Entry[journal.Transaction]) bool { return e.What.Revision <= b.From })
	slices.SortStableFunc(writes, func(a, b journal.Entry[journal.Transaction]) int {
		return cmp.Compare(a.What.Revision, b.What.Revision)
	})
	return slices.CompactFunc(writes, func(a, b journal.Entry[journal.Transaction]) bool { return a.What.Revision == b.What.Revision })
}

// begin sets Story.Began to the time of the first entry.
func (b *builder) begin(writes []journal.Entry[journal.Transaction], notes []journal.Entry[journal.Note], requests []journal.Entry[journal.CompletedRequest], watches []journal.Watch) {
	earlier := func(order int64, at time.Time) {
		if order >= b.first && at.Before(b.story.Began) {
			b.story.Began = at
		}
	}
	for _, e := range writes {
		earlier(e.Order, e.What.Time)
	}
	for _, e := range notes {
		earlier(e.Order, e.What.Time)
	}
	for _, e := range requests {
		earlier(e.Order, e.What.Time)
	}
	for _, w := range watches {
		earlier(w.Began, w.Opened)
	}
}

// addObjects sets Story.Objects.
func (b *builder) addObjects() {
	created, known := map[Target]bool{}, map[Target]bool{}
	for i := range b.story.Revisions {
		for _, c := range b.story.Revisions[i].Changes {
			created[c.Target] = created[c.Target] || c.Type == journal.Added && !known[c.Target]
			known[c.Target] = true
		}
	}
	left := maxObjectBytes
	for i := len(b.story.Revisions) - 1; i >= 0; i-- {
		for _, c := range b.story.Revisions[i].Changes {
			if created[c.Target] || !known[c.Target] {
				continue
			}
			known[c.Target] = false // an older version is not at the end
			if c.object == nil {
				continue
			}
			obj := fieldmanager.WithoutManagedFields(c.object)
			if left -= len(encode(obj)); left < 0 || len(b.story.Objects) == maxObjects {
				return
			}
			b.story.Objects = append(b.story.Objects, Object{Target: c.Target, Object: obj})
		}
	}
}

// at returns a time as Moment.At.
func (b *builder) at(at time.Time) int64 { return max(0, at.Sub(b.story.Began).Microseconds()) }

// moment returns the moment of an entry. It reports false if the entry is older
// than the story.
func (b *builder) moment(order int64, at time.Time) (Moment, bool) {
	b.last = max(b.last, order)
	return Moment{Order: order, At: b.at(at)}, order >= b.first
}

func (b *builder) revision(e journal.Entry[journal.Transaction]) {
	w := e.What
	m, _ := b.moment(e.Order, w.Time)
	rev := Revision{Moment: m, Revision: int64(w.Revision), Verb: action(verbOf(w.Writer.Verb, w.Writer.Apply), w.Writer.Subresource), Client: b.writer(w.Writer), Changes: []Change{}, Lean: b.lean}
	changes := w.Changes
	if changes == nil {
		for tx := range b.Store.Log(w.First) {
			if tx.Revision == w.Revision {
				changes = tx.Events
			}
			break
		}
	}
	if rev.Omitted = max(0, len(changes)-maxChanges); rev.Omitted > 0 {
		changes = changes[:maxChanges]
	}
	for i := range changes {
		rev.Changes = append(rev.Changes, b.change(&changes[i]))
	}
	rev.Brief = rev.brief()
	b.story.Revisions = append(b.story.Revisions, rev)
	b.written = append(b.written, written{m.Order, rev.Revision})
}

// change returns the Change of an event of the store.
func (b *builder) change(e *mvcc.Event[*storage.Object]) Change {
	of := journal.NewChange(e)
	c := Change{Type: of.Type, Target: Target{of.Resource, of.Namespace, of.Name}}
	if b.lean {
		return c
	}
	var old, new map[string]any
	if e.Prev != nil {
		old = b.decode(c.Resource, e.Prev.Value)
	}
	if e.Type == mvcc.Put {
		new = b.decode(c.Resource, e.Item.Value)
	}
	c.Fields, c.object = diff(old, new), new
	return c
}

// client and writer are the functions of these names, without secrets.
func (b *builder) client(user, userAgent string) Client {
	return client(user, b.Scrubber.Text(userAgent))
}

func (b *builder) writer(w journal.Writer) Client {
	w.UserAgent = b.Scrubber.Text(w.UserAgent)
	return writer(w)
}

// decode decodes a stored object of a resource, without secrets.
func (b *builder) decode(resource string, o *storage.Object) map[string]any {
	obj := decode(o.JSON())
	b.Scrubber.Body(resource, obj)
	return obj
}

func (b *builder) note(e journal.Entry[journal.Note]) {
	n := e.What
	m, ok := b.moment(e.Order, n.Time)
	if !ok {
		return
	}
	note := Note{Moment: m, Kind: n.Kind, Text: b.Scrubber.Text(n.Text), Resource: n.Resource, Revision: int64(n.Revision), Came: n.Came}
	if note.Fault = n.Fault; !n.Until.IsZero() {
		note.Until = b.at(n.Until)
	}
	if n.UserAgent != "" {
		c := b.client("", n.UserAgent)
		note.Client = &c
	}
	b.story.Notes = append(b.story.Notes, note)
	if n.Kind == journal.Fault {
		b.faults = append(b.faults, note)
	}
}

// watches adds the watches to the readers.
func (b *builder) watches(watches []journal.Watch, progress []journal.Entry[journal.Progress]) {
	readers := make(map[int64]int, len(watches)) // by Watch.Began
	for _, w := range watches {
		if w.Ended != 0 && w.Ended < b.first {
			continue
		}
		r := b.watcher(&w)
		readers[w.Began] = r
		b.opened(r, &w)
		if w.Ended != 0 {
			b.ended(r, &w)
		}
	}
	for _, e := range progress {
		if r, ok := readers[e.What.Watch]; ok {
			b.step(r, e)
		}
	}
}

// watcher returns the index of the reader of a watch.
func (b *builder) watcher(w *journal.Watch) int {
	_, selector := selection(w.URI)
	return b.reader(WatchReader, b.client(w.User, w.UserAgent), Target{w.Resource, w.Namespace, w.Name}, selector)
}

// opened, step and ended add a mark to the reader of a watch.
func (b *builder) opened(reader int, w *journal.Watch) {
	m, _ := b.moment(w.Began, w.Opened)
	b.mark(reader, Mark{Moment: m, Kind: WatchMark, Revision: int64(w.From)})
}

func (b *builder) step(reader int, e journal.Entry[journal.Progress]) {
	if m, ok := b.moment(e.Order, e.What.Time); ok {
		b.mark(reader, Mark{Moment: m, Kind: StepMark, Revision: int64(e.What.Revision)})
	}
}

func (b *builder) ended(reader int, w *journal.Watch) {
	m, _ := b.moment(w.Ended, w.Closed)
	b.mark(reader, Mark{Moment: m, Kind: EndMark, Text: b.Scrubber.Text(w.End)})
}

// request adds a read to its reader, or a request that failed or changed nothing.
func (b *builder) request(e journal.Entry[journal.CompletedRequest]) {
	r := e.What.Request
	m, ok := b.moment(e.Order, r.Time.Add(r.Duration))
	u, err := url.ParseRequestURI(r.URI)
	if !ok || err != nil || isIcon(u.Path) || b.Hidden != nil && b.Hidden(u.Path) {
		return
	}
	rt := route.Parse(r.Method, u)
	what := targetOf(&rt)
	who := b.client(r.User, r.UserAgent)
	failed := r.Code >= http.StatusBadRequest || r.Panic != ""
	if rt.Verb == "watch" && !failed {
		return // the marks of its reader show it
	}
	if read := rt.Verb == "list" || rt.Verb == "get"; read && r.Revision != 0 {
		mark := Mark{Moment: m, Kind: MarkKind(rt.Verb), Revision: r.Revision, Newest: b.newest(e.What.Came)}
		of, selector := what, ""
		if rt.Verb == "get" {
			mark.Name = what.path()
			of = Target{Resource: what.Resource}
		} else {
			of.Name, selector = selection(r.URI)
		}
		b.mark(b.reader(ReaderKind(rt.Verb), who, of, selector), mark)
		if !failed {
			return
		}
	}
	if !failed && (r.Revision != 0 || !rt.IsResource || !mayWrite(&rt, u)) {
		return // a revision shows it, or it is not about stored objects
	}
	b.story.Requests = append(b.story.Requests, Request{
		Moment: m, Duration: r.Duration.Microseconds(), Client: who, Method: r.Method, URI: b.Scrubber.URI(r.URI), Verb: action(verbOf(rt.Verb, r.Apply), rt.Subresource), Target: what,
		Code: r.Code, Fault: b.fault(e, u.Path), Message: b.Scrubber.Text(message(r)), Unimplemented: r.Unimplemented, Panic: b.Scrubber.Text(r.Panic),
	})
}

// isIcon reports whether browsers read a path by themselves, whatever page they show.
func isIcon(path string) bool {
	return path == "/favicon.ico" || strings.HasPrefix(path, "/apple-touch-icon") || strings.HasPrefix(path, "/.well-known/appspecific/")
}

// mayWrite reports whether a request can change stored objects. Creates that succeed have a
// revision, except dry runs, and those of objects that are not stored, such as a TokenReview.
func mayWrite(r *route.Route, u *url.URL) bool {
	switch r.Verb {
	case "update", "patch", "delete", "deletecollection":
		return true
	case "create":
		return u.Query().Has("dryRun")
	}
	return false
}

// fault returns the order of the note of the fault that made a request fail; 0 if none did.
func (b *builder) fault(e journal.Entry[journal.CompletedRequest], path string) int64 {
	if e.What.Code < http.StatusBadRequest {
		return 0
	}
	agent, path := b.Scrubber.Text(e.What.UserAgent), b.Scrubber.Text(path)
	for _, n := range b.faults {
		if n.Order > e.What.Came && n.Order < e.Order && n.Client != nil && n.Client.UserAgent == agent && strings.HasSuffix(n.Text, " of "+path) {
			return n.Order
		}
	}
	return 0
}

// verbOf returns the verb of a request, which is apply for a server-side apply.
func verbOf(verb string, apply bool) string {
	if apply {
		return "apply"
	}
	return verb
}

// action returns the verb of a request in words: "update", "update status", "scale", "bind".
func action(verb, subresource string) string {
	switch {
	case subresource == "":
		return verb
	case subresource == "binding" && verb == "create":
		return "bind"
	case subresource == "eviction" && verb == "create":
		return "evict"
	case subresource == "scale" && (verb == "update" || verb == "patch" || verb == "apply"):
		return "scale"
	}
	return verb + " " + subresource
}

// message returns why a request failed; "" if it did not.
func message(r journal.Request) string {
	if r.Message == "" && r.Code >= http.StatusBadRequest {
		return http.StatusText(r.Code)
	}
	return r.Message
}

// A readerKey identifies a reader. A client that watches and lists the same set of
// objects is one reader.
type readerKey struct {
	name, user, selector string
	kind                 ReaderKind
	target               Target
}

// reader returns the index of a reader. It adds the reader if it is new.
func (b *builder) reader(kind ReaderKind, who Client, what Target, selector string) int {
	k := readerKey{who.Name, who.User, selector, kind, what}
	if i, ok := b.readers[k]; ok {
		return i
	}
	if kind == ListReader { // lists of a watching client belong to its watch
		k.kind = WatchReader
		if i, ok := b.readers[k]; ok {
			return i
		}
		k.kind = ListReader
	}
	b.readers[k] = len(b.story.Readers)
	b.story.Readers = append(b.story.Readers, Reader{Client: who, Kind: kind, Target: what, Selector: selector})
	return b.readers[k]
}

func (b *builder) mark(reader int, m Mark) {
	r := &b.story.Readers[reader]
	r.Marks = append(r.Marks, m)
}

// selection returns the object name or the selectors in the query of a list or
// watch.
func selection(uri string) (name, selector string) {
	_, query, _ := strings.Cut(uri, "?")
	values, _ := url.ParseQuery(query)
	fields := values.Get("fieldSelector")
	if only, ok := strings.CutPrefix(fields, "metadata.name="); ok && !strings.Contains(only, ",") {
		name, fields = only, ""
	}
	return name, strings.TrimSpace(values.Get("labelSelector") + " " + fields)
}
