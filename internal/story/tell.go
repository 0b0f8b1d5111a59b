package story

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Source is what a story is told of.
type Source struct {
	Title   string // what the story is of: a test, a server
	Journal *journal.Journal
	Store   *storage.Store
	Now     time.Time
	// From is the revision after which the story begins.
	From mvcc.Revision
	// Hidden reports whether a request's path is not to be told of.
	Hidden func(path string) bool
}

const (
	// maxRevisions is how many revisions a story tells, the newest, and
	// maxChanges how many changes of one.
	maxRevisions = 2000
	maxChanges   = 200
)

// Tell makes the story of a server. It tells the newest few thousand revisions
// and what happened since the first of these.
func Tell(from Source) *Story {
	t := &teller{Source: from, readers: map[readerKey]int{}, story: &Story{
		Format: Format, Title: from.Title, Began: from.Now,
		Revisions: []Revision{}, Readers: []Reader{}, Requests: []Request{}, Notes: []Note{},
	}}
	writes := t.writes()
	notes, requests, watches, progress := from.Journal.Notes(), from.Journal.Requests(), from.Journal.Watches(), from.Journal.Progress()
	if skip := len(writes) - maxRevisions; skip > 0 {
		t.story.Earlier = skip
		writes = writes[skip:]
		t.first = writes[0].Order
	}
	t.begin(writes, notes, requests, watches)
	for _, e := range writes {
		t.revision(e)
	}
	for _, e := range notes {
		t.note(e)
	}
	t.watches(watches, progress)
	for _, e := range requests {
		t.request(e)
	}
	t.sights()
	t.story.Told = Moment{Order: t.last + 1, At: t.at(from.Now)}
	t.story.Revision = int64(from.Store.Revision())
	if c := from.Store.Compacted(); c > from.From {
		t.story.Compacted = int64(c)
	}
	return t.story
}

// A teller is a story in the making.
type teller struct {
	Source
	story       *Story
	first, last int64 // the order of what is told is from first on, and until last
	readers     map[readerKey]int
}

// writes are the transactions since the source's From, by their revisions.
func (t *teller) writes() []journal.Entry[journal.Transaction] {
	writes := t.Journal.Transactions()
	for _, e := range t.Journal.Notes() { // a state that was brought back is a write by nobody
		if n := e.What; n.Kind == journal.State {
			w := journal.Transaction{Revision: n.Revision, Time: n.Time, Writer: journal.Writer{Verb: "restore"}}
			writes = append(writes, journal.Entry[journal.Transaction]{Order: e.Order, What: w})
		}
	}
	writes = slices.DeleteFunc(writes, func(e journal.Entry[journal.Transaction]) bool { return e.What.Revision <= t.From })
	slices.SortStableFunc(writes, func(a, b journal.Entry[journal.Transaction]) int {
		return cmp.Compare(a.What.Revision, b.What.Revision)
	})
	return slices.CompactFunc(writes, func(a, b journal.Entry[journal.Transaction]) bool { return a.What.Revision == b.What.Revision })
}

// begin finds the time of the first thing that is told.
func (t *teller) begin(writes []journal.Entry[journal.Transaction], notes []journal.Entry[journal.Note], requests []journal.Entry[journal.CompletedRequest], watches []journal.Watch) {
	earlier := func(order int64, at time.Time) {
		if order >= t.first && at.Before(t.story.Began) {
			t.story.Began = at
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

// at is a time as moments have it.
func (t *teller) at(at time.Time) int64 { return max(0, at.Sub(t.story.Began).Microseconds()) }

// moment is that of an entry; false if it is before what is told.
func (t *teller) moment(order int64, at time.Time) (Moment, bool) {
	t.last = max(t.last, order)
	return Moment{Order: order, At: t.at(at)}, order >= t.first
}

func (t *teller) revision(e journal.Entry[journal.Transaction]) {
	w := e.What
	m, _ := t.moment(e.Order, w.Time)
	rev := Revision{Moment: m, Revision: int64(w.Revision), Verb: w.Writer.Verb, Client: writer(w.Writer), Changes: []Change{}}
	changes := w.Changes
	if changes == nil {
		for tx := range t.Store.Log(w.Revision) {
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
		rev.Changes = append(rev.Changes, change(&changes[i]))
	}
	rev.Brief = rev.brief()
	t.story.Revisions = append(t.story.Revisions, rev)
}

// change is what an event did to its object.
func change(e *mvcc.Event[*storage.Object]) Change {
	c := Change{Type: string(storage.Modified), Target: target(e.Item.Key)}
	var old, new map[string]any
	if e.Prev != nil {
		old = decode(e.Prev.Value.JSON())
	}
	if e.Type == mvcc.Put {
		new = decode(e.Item.Value.JSON())
	}
	switch {
	case new == nil:
		c.Type = string(storage.Deleted)
	case old == nil:
		c.Type = string(storage.Added)
	}
	c.Fields = diff(old, new)
	return c
}

// target is what a key of the store is of: "/pods/default/a", "/nodes/n1".
func target(key string) Target {
	parts := strings.SplitN(strings.TrimPrefix(key, "/"), "/", 3)
	switch len(parts) {
	case 3:
		return Target{Resource: parts[0], Namespace: parts[1], Name: parts[2]}
	case 2:
		return Target{Resource: parts[0], Name: parts[1]}
	}
	return Target{Resource: key}
}

func (t *teller) note(e journal.Entry[journal.Note]) {
	n := e.What
	m, ok := t.moment(e.Order, n.Time)
	if !ok {
		return
	}
	note := Note{Moment: m, Kind: string(n.Kind), Text: n.Text, Resource: n.Resource, Revision: int64(n.Revision)}
	if n.UserAgent != "" {
		note.Client = client("", n.UserAgent)
	}
	t.story.Notes = append(t.story.Notes, note)
}

// watches makes readers of the watches.
func (t *teller) watches(watches []journal.Watch, progress []journal.Entry[journal.Progress]) {
	readers := make(map[int64]int, len(watches)) // by the watch's name
	for _, w := range watches {
		if w.Ended != 0 && w.Ended < t.first {
			continue
		}
		_, selector := selection(w.URI)
		r := t.reader(kindWatch, client(w.User, w.UserAgent), Target{w.Resource, w.Namespace, w.Name}, selector)
		readers[w.Began] = r
		m, _ := t.moment(w.Began, w.Opened)
		t.mark(r, Mark{Moment: m, Kind: kindWatch, Revision: int64(w.From)})
		if w.Ended != 0 {
			m, _ = t.moment(w.Ended, w.Closed)
			t.mark(r, Mark{Moment: m, Kind: markEnd, Text: w.End})
		}
	}
	for _, e := range progress {
		if r, ok := readers[e.What.Watch]; ok {
			if m, ok := t.moment(e.Order, e.What.Time); ok {
				t.mark(r, Mark{Moment: m, Kind: "step", Revision: int64(e.What.Revision)})
			}
		}
	}
}

// request tells what a request read, or that it did nothing.
func (t *teller) request(e journal.Entry[journal.CompletedRequest]) {
	r := e.What.Request
	m, ok := t.moment(e.Order, r.Time.Add(r.Duration))
	u, err := url.ParseRequestURI(r.URI)
	if !ok || err != nil || t.Hidden != nil && t.Hidden(u.Path) {
		return
	}
	asked := route.Parse(r.Method, u)
	what := Target{asked.Resource, asked.Namespace, asked.Name}
	if asked.Group != "" {
		what.Resource += "." + asked.Group
	} else if asked.Resource == "namespaces" {
		what.Namespace = "" // its path has its own name
	}
	who := client(r.User, r.UserAgent)
	failed := r.Code >= http.StatusBadRequest || r.Panic != ""
	if asked.Verb == kindWatch && !failed {
		return // a reader's marks tell it
	}
	if read := asked.Verb == kindList || asked.Verb == kindGet; read && r.Revision != 0 {
		mark := Mark{Moment: m, Kind: asked.Verb, Revision: r.Revision, Newest: t.newest(e.What.Came)}
		of, selector := what, ""
		if asked.Verb == kindGet {
			mark.Name = what.path()
			of = Target{Resource: what.Resource}
		} else {
			of.Name, selector = selection(r.URI)
		}
		t.mark(t.reader(asked.Verb, who, of, selector), mark)
		if !failed {
			return
		}
	}
	if asked.IsResource && r.Revision != 0 && !failed || !asked.IsResource && !failed {
		return // a revision tells it, or it has nothing to do with the state
	}
	t.story.Requests = append(t.story.Requests, Request{
		Moment: m, Duration: r.Duration.Microseconds(), Client: who, Method: r.Method, URI: r.URI, Verb: asked.Verb, Target: what,
		Code: r.Code, Message: message(r), Unimplemented: r.Unimplemented, Panic: r.Panic,
	})
}

// message says why a request was refused; "" if it was not.
func message(r journal.Request) string {
	if r.Message == "" && r.Code >= http.StatusBadRequest {
		return http.StatusText(r.Code)
	}
	return r.Message
}

// A readerKey tells readers apart. A client that watches and lists the same is
// one.
type readerKey struct {
	name, user, kind, selector string
	target                     Target
}

// reader is the index of a reader, which is made if it is new.
func (t *teller) reader(kind string, who Client, what Target, selector string) int {
	k := readerKey{who.Name, who.User, kind, selector, what}
	if i, ok := t.readers[k]; ok {
		return i
	}
	if kind == kindList { // for a watch, perhaps
		k.kind = kindWatch
		if i, ok := t.readers[k]; ok {
			return i
		}
		k.kind = kindList
	}
	t.readers[k] = len(t.story.Readers)
	t.story.Readers = append(t.story.Readers, Reader{Client: who, Kind: kind, Target: what, Selector: selector})
	return t.readers[k]
}

func (t *teller) mark(reader int, m Mark) {
	r := &t.story.Readers[reader]
	r.Marks = append(r.Marks, m)
}

// selection is what the query of a list or a watch selects: an object by its
// name, or by other things.
func selection(uri string) (name, selector string) {
	_, query, _ := strings.Cut(uri, "?")
	values, _ := url.ParseQuery(query)
	fields := values.Get("fieldSelector")
	if only, ok := strings.CutPrefix(fields, "metadata.name="); ok && !strings.Contains(only, ",") {
		name, fields = only, ""
	}
	return name, strings.TrimSpace(values.Get("labelSelector") + " " + fields)
}

// writer is who made a transaction.
func writer(w journal.Writer) Client {
	c := client(w.User, w.UserAgent)
	switch {
	case w.Manager != "":
		c.Manager = w.Manager
		if !strings.HasPrefix(w.Manager, c.Name) { // as kubectl-edit with kubectl
			c.Name = w.Manager
		}
	case w.UserAgent != "":
	case w.Verb == "put", w.Verb == "remove", w.Verb == "restore":
		c.Name = "the test"
	default:
		c.Name = "the server"
	}
	return c
}

// client is who has a user agent, such as "kubectl/v1.36.0 (linux/amd64)".
func client(user, userAgent string) Client {
	name, _, _ := strings.Cut(userAgent, "/")
	if name = strings.TrimSpace(name); name == "" {
		name = "an unnamed client"
	}
	return Client{Name: name, User: user, UserAgent: userAgent}
}
