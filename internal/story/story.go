// Package story tells what happened on a server so that a person sees why a
// test failed: which revision was written by whom and what it changed, who had
// seen it by when, what was refused, and what was done to the server meanwhile.
//
// [Tell] makes a story of a server's journal and store. A story is data, which
// travels as JSON; [Story.Text] is the end of it in a few lines, and
// [Story.WritePage] all of it as one page for a browser.
package story

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Format is the version of the form that a story has in JSON.
const Format = 1

// A Story is what happened on a server, in order.
type Story struct {
	Format int    `json:"format"`
	Title  string `json:"title,omitempty"`

	// Began is the time from which moments count, and Told the moment at which
	// the story ends.
	Began time.Time `json:"began"`
	Told  Moment    `json:"told"`

	// Revision is the newest of the store, Compacted the oldest that could be
	// read at the end, 0 if all could.
	Revision  int64 `json:"revision"`
	Compacted int64 `json:"compacted,omitempty"`

	// Earlier is how many revisions are left out before the first.
	Earlier int `json:"earlier,omitempty"`

	Revisions []Revision `json:"revisions"`
	Readers   []Reader   `json:"readers"`
	Requests  []Request  `json:"requests"`
	Notes     []Note     `json:"notes"`
}

// Read reads a story in JSON. It fails for one of another format.
func Read(r io.Reader) (*Story, error) {
	s := &Story{}
	in := json.NewDecoder(r)
	in.UseNumber() // values keep their digits
	if err := in.Decode(s); err != nil {
		return nil, err
	}
	if s.Format != Format {
		return nil, fmt.Errorf("its format is %d, not %d", s.Format, Format)
	}
	return s, nil
}

// A Moment is when something happened. Order counts what happened, whatever it
// was; At is in microseconds since the story began.
type Moment struct {
	Order int64 `json:"order"`
	At    int64 `json:"at"`
}

// A Client is who did something.
type Client struct {
	// Name is what the client is called for short: the beginning of its user
	// agent, or its field manager if that is of another name.
	Name      string `json:"name"`
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	Manager   string `json:"manager,omitempty"`
}

// A Target is what a request, a watch or a change is about.
type Target struct {
	Resource  string `json:"resource,omitempty"` // "pods", "deployments.apps"
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// A Revision is one transaction.
type Revision struct {
	Moment
	Revision int64  `json:"revision"`
	Verb     string `json:"verb"`
	Client   Client `json:"client"`
	// Brief is what it changed, on one line.
	Brief   string   `json:"brief"`
	Changes []Change `json:"changes"`
	// Omitted is how many changes are left out of a large transaction.
	Omitted int `json:"omitted,omitempty"`
	// Seen is who had a part in seeing it: the readers that saw it, and those
	// that should have.
	Seen []Sight `json:"seen,omitempty"`
}

// A Change is what a transaction did to one object.
type Change struct {
	Type string `json:"type"` // ADDED, MODIFIED or DELETED
	Target
	// Fields are what differs, in the object as it is stored. An object that
	// was added or deleted has its fields at the top here.
	Fields []Field `json:"fields,omitempty"`
}

// A Field is a value that differs.
type Field struct {
	Path string `json:"path"`
	// Old and New are the value before and after, nil where there is none.
	Old any `json:"old,omitempty"`
	New any `json:"new,omitempty"`
}

// A Sight is when a reader saw a revision. There are many: in JSON it is a list
// of its fields in their order, without Moment if the revision was never seen.
type Sight struct {
	Reader int // an index of Story.Readers
	Moment     // Order is 0 if the revision was never seen
}

// Never reports whether the revision was not seen.
func (s Sight) Never() bool { return s.Order == 0 }

// MarshalJSON writes a list of one number, or of three.
func (s Sight) MarshalJSON() ([]byte, error) {
	if s.Never() {
		return fmt.Appendf(nil, "[%d]", s.Reader), nil
	}
	return fmt.Appendf(nil, "[%d,%d,%d]", s.Reader, s.Order, s.At), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Sight) UnmarshalJSON(b []byte) error {
	var list []int64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	switch len(list) {
	case 1:
		*s = Sight{Reader: int(list[0])}
	case 3:
		*s = Sight{int(list[0]), Moment{list[1], list[2]}}
	default:
		return fmt.Errorf("a sight is a list of one number or of three, not of %d", len(list))
	}
	return nil
}

// A Reader is a client that reads or watches a part of a resource, over all the
// requests that it made to that end.
type Reader struct {
	Client Client `json:"client"`
	// Kind is watch for a client that watches, and lists in between; list for
	// one that only lists, and get for one that gets objects by their names.
	Kind string `json:"kind"`
	Target
	Selector string `json:"selector,omitempty"`
	Marks    []Mark `json:"marks"`
}

// The kinds of readers, and marks of these names.
const (
	kindWatch = "watch"
	kindList  = "list"
	kindGet   = "get"
	markEnd   = "end"
)

// A Mark is a step of a reader.
type Mark struct {
	Moment
	// Kind is list or get for a read; watch where a watch began; step where it
	// told what there was up to a revision; end where it ended.
	Kind string `json:"kind"`
	// Revision is that of the state which the reader has seen with it.
	Revision int64 `json:"revision,omitempty"`
	// Newest is, of a read, the revision that the store was at when it came.
	Newest int64 `json:"newest,omitempty"`
	// Name is the object of a get: "namespace/name", or "name".
	Name string `json:"name,omitempty"`
	// Text says why the server ended a watch; "" if the client did.
	Text string `json:"text,omitempty"`
}

// A Request is one that made no revision, and did not tell a reader the state:
// it was refused, or changed nothing.
type Request struct {
	Moment
	Duration int64  `json:"duration"` // in microseconds
	Client   Client `json:"client"`
	Method   string `json:"method"`
	URI      string `json:"uri"`
	Verb     string `json:"verb"`
	Target
	Code          int    `json:"code"`
	Message       string `json:"message,omitempty"`
	Unimplemented bool   `json:"unimplemented,omitempty"`
	Panic         string `json:"panic,omitempty"`
}

// A Note is something that was done to the server, or that it was told to do
// to a client.
type Note struct {
	Moment
	Kind     string `json:"kind"` // fault, lag, thaw, compaction, clock or state
	Text     string `json:"text"`
	Resource string `json:"resource,omitempty"`
	Client   Client `json:"client,omitzero"`
	Revision int64  `json:"revision,omitempty"`
}
