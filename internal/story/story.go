// Package story reports what happened on a server, so that a person sees why a
// test failed: who wrote which revision, what it changed, which clients saw it
// when, which requests failed, and what else was done to the server.
//
// [New] builds a story from a server's journal and store, and [Join] one of several stories, of
// clusters that share a clock. A story is data that
// encodes to JSON. [Story.Text] returns the end of it as lines, [Story.WritePage]
// the whole of it as an HTML page. A [Follower] returns the story of a server while it
// happens, to the same page.
package story

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/journal"
)

// Format is the version of the JSON encoding of a story.
const Format = 1

// A Story is what happened on a server.
type Story struct {
	Format int    `json:"format"`
	Title  string `json:"title,omitempty"`

	// Began is the time of the first event. Ended is the moment at which the story
	// was built.
	Began time.Time `json:"began"`
	Ended Moment    `json:"ended"`

	// Revision is the newest revision of the store. Compacted is the oldest one
	// that could still be read; 0 if every one could. A story of several clusters has neither.
	Revision  int64 `json:"revision"`
	Compacted int64 `json:"compacted,omitempty"`

	// Earlier is how many revisions before the first one are omitted.
	Earlier int `json:"earlier,omitempty"`
	// Gap reports that events between the part before and this one are omitted.
	Gap bool `json:"gap,omitempty"`

	Revisions []Revision `json:"revisions"`
	Readers   []Reader   `json:"readers"`
	Requests  []Request  `json:"requests"`
	Notes     []Note     `json:"notes"`
	Loops     []Loop     `json:"loops,omitempty"`
	Folds     []Fold     `json:"folds,omitempty"`

	// Objects are those that the story changes and does not create, as they are at its end. A story
	// has them if Source.WithObjects is set.
	Objects []Object `json:"objects,omitempty"`

	// Findings are what clients do that is better done in another way, the worst first. [New] does
	// not set them.
	Findings []usage.Finding `json:"findings,omitempty"`
}

// An Object is an object at the end of a story, without managed fields.
type Object struct {
	Place
	Target
	Object map[string]any `json:"object"`
}

// Read reads a story from JSON. It fails if the story has another format.
func Read(r io.Reader) (*Story, error) {
	s := &Story{}
	in := json.NewDecoder(r)
	in.UseNumber() // keeps the digits of numbers
	if err := in.Decode(s); err != nil {
		return nil, err
	}
	if s.Format != Format {
		return nil, fmt.Errorf("the story has format %d, not %d", s.Format, Format)
	}
	return s, nil
}

// A Moment is when something happened. Order is the position in the journal. At is
// the time in microseconds since Story.Began.
type Moment struct {
	Order int64 `json:"order"`
	At    int64 `json:"at"`
}

// A Place is the cluster in which something happened, in a story of several clusters.
type Place struct {
	Cluster string `json:"cluster,omitempty"`
}

// A Target is the object, or the set of objects, of a request, a watch or a change.
type Target struct {
	Resource  string `json:"resource,omitempty"` // "pods", "deployments.apps"
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// A Revision is one transaction. Its number is that of its last change.
type Revision struct {
	Moment
	Place
	Revision int64  `json:"revision"`
	Verb     string `json:"verb"` // as in "update", "update status", "apply", "bind"
	Client   Client `json:"client"`
	// Brief describes the changes on one line.
	Brief   string   `json:"brief"`
	Changes []Change `json:"changes"`
	// Omitted is how many changes of a large transaction are omitted.
	Omitted int `json:"omitted,omitempty"`
	// Lean reports that Brief and the changes are without fields.
	Lean bool `json:"lean,omitempty"`
	// Seen has an entry for each reader that saw the revision or should have.
	Seen []Sighting `json:"seen,omitempty"`
}

// A Change is what a transaction did to one object.
type Change struct {
	Type journal.ChangeType `json:"type"`
	Target
	// Fields are the fields that differ, in the stored form of the object. For an
	// added or deleted object they are its top-level fields.
	Fields []Field `json:"fields,omitempty"`

	object map[string]any // after the change; nil if it is deleted, and in a story that was read
}

// A Field is a field that differs.
type Field struct {
	Path string `json:"path"`
	// Old and New are the values before and after; nil if the field is absent.
	Old any `json:"old,omitempty"`
	New any `json:"new,omitempty"`
}

// A Sighting is when a reader saw a revision. A story has many of them, so their
// JSON is short: [reader, order, at], or [reader] if the reader did not see it.
type Sighting struct {
	Reader int // index in Story.Readers
	Moment     // Order is 0 if the reader did not see the revision
}

// Missed reports whether the reader did not see the revision.
func (s Sighting) Missed() bool { return s.Order == 0 }

// MarshalJSON implements [json.Marshaler].
func (s Sighting) MarshalJSON() ([]byte, error) {
	if s.Missed() {
		return fmt.Appendf(nil, "[%d]", s.Reader), nil
	}
	return fmt.Appendf(nil, "[%d,%d,%d]", s.Reader, s.Order, s.At), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Sighting) UnmarshalJSON(b []byte) error {
	var list []int64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	switch len(list) {
	case 1:
		*s = Sighting{Reader: int(list[0])}
	case 3:
		*s = Sighting{int(list[0]), Moment{list[1], list[2]}}
	default:
		return fmt.Errorf("a sighting has one number or three, not %d", len(list))
	}
	return nil
}

// A Reader is a client that reads or watches a set of objects. It combines all its
// requests for that set.
type Reader struct {
	Place
	Client Client `json:"client"`
	// Kind is watch for a client that watches, and may list in between; list for one
	// that only lists; get for one that gets objects by name.
	Kind ReaderKind `json:"kind"`
	Target
	Selector string `json:"selector,omitempty"`
	Marks    []Mark `json:"marks"`
}

// A ReaderKind is the kind of a Reader.
type ReaderKind string

const (
	WatchReader ReaderKind = "watch"
	ListReader  ReaderKind = "list"
	GetReader   ReaderKind = "get"
)

// A Mark is an event in the life of a reader.
type Mark struct {
	Moment
	// Kind is list or get for a read, watch for the begin of a watch, step for its
	// progress, and end for its end.
	Kind MarkKind `json:"kind"`
	// Revision is the revision of the state that the reader has now seen.
	Revision int64 `json:"revision,omitempty"`
	// Newest is, for a read, the revision of the store when the request arrived.
	Newest int64 `json:"newest,omitempty"`
	// Name is the object of a get: "namespace/name" or "name".
	Name string `json:"name,omitempty"`
	// Text is why the server ended a watch; "" if the client did.
	Text string `json:"text,omitempty"`
}

// A MarkKind is the kind of a Mark.
type MarkKind string

const (
	ListMark  MarkKind = "list"
	GetMark   MarkKind = "get"
	WatchMark MarkKind = "watch" // begin of a watch
	StepMark  MarkKind = "step"  // progress of a watch
	EndMark   MarkKind = "end"   // end of a watch
)

// A Request is a request that failed, or a write that changed nothing. Revisions
// and marks show the others.
type Request struct {
	Moment
	Place
	Duration int64  `json:"duration"` // in microseconds
	Client   Client `json:"client"`
	Method   string `json:"method"`
	URI      string `json:"uri"`
	Verb     string `json:"verb"` // as in Revision
	Target
	Code int `json:"code"`
	// Fault is the order of the note of the fault that made the request fail; 0 if none did.
	Fault         int64  `json:"fault,omitempty"`
	Message       string `json:"message,omitempty"`
	Unimplemented bool   `json:"unimplemented,omitempty"`
	Panic         string `json:"panic,omitempty"`
}

// A Note is an action on the server, or one that the server was asked to do to a
// client.
type Note struct {
	Moment
	Place
	Kind     journal.NoteKind `json:"kind"`
	Text     string           `json:"text"`
	Resource string           `json:"resource,omitempty"`
	Client   *Client          `json:"client,omitempty"` // nil for an action on the server
	Revision int64            `json:"revision,omitempty"`
	// Came is the position in the journal at which it began, if it took time.
	Came int64 `json:"came,omitempty"`
	// Fault identifies the fault of an injection and its removal among those that there are at the time.
	// Until is the Moment.At at which it ends by itself; 0 if it does not.
	Fault string `json:"fault,omitempty"`
	Until int64  `json:"until,omitempty"`
}

// changes reports whether the note is about something that was done to the server or to a client.
// Forks and waits change neither, and of faults their hits do.
func (n *Note) changes() bool {
	switch n.Kind {
	case journal.Fork, journal.Settle, journal.Injection, journal.Removal:
		return false
	}
	return true
}
