package storage

import (
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// A ChangeType is the type of a watch event.
type ChangeType string

// The types of the events that changes make.
const (
	Added    ChangeType = "ADDED"
	Modified ChangeType = "MODIFIED"
	Deleted  ChangeType = "DELETED"
)

// A Change is one step in the history of a selection. An object that leaves
// the selection is Deleted from it, in its last form that matched.
type Change struct {
	Type   ChangeType
	Object *Object
	// Revision is when the change happened. A deleted Object still carries the
	// version before it.
	Revision mvcc.Revision
}

// A Watch is a cursor on the history of a selection. It belongs to one
// goroutine.
type Watch struct {
	selection Selection
	cursor    *mvcc.Watcher[*Object]
	changes   []Change
}

// Watch follows a selection from the first change after version; close it when
// done. Errors: *ExpiredError.
func (s *Store) Watch(t *resource.Type, sel Selection, after mvcc.Revision) (*Watch, error) {
	if after < s.oldest(t) {
		return nil, &ExpiredError{}
	}
	prefix, _ := sel.prefix(t)
	cursor, err := s.Store.Watch(prefix, after+1)
	if err != nil {
		return nil, &ExpiredError{}
	}
	return &Watch{selection: sel, cursor: cursor}, nil
}

// Poll returns the next changes, about max at most, without waiting; none if
// there are none. The slice is valid until the next call. It fails with an
// *ExpiredError once compaction has overtaken the cursor.
func (w *Watch) Poll(max int) ([]Change, error) {
	w.changes = w.changes[:0]
	for len(w.changes) == 0 {
		events, err := w.cursor.Poll(max)
		if err != nil {
			return nil, &ExpiredError{}
		}
		if len(events) == 0 {
			break
		}
		for i := range events {
			if c, ok := w.selection.change(&events[i]); ok {
				w.changes = append(w.changes, c)
			}
		}
	}
	return w.changes, nil
}

// Wait returns a channel that is closed once Poll may have more to return. Call
// it anew each time Poll has returned nothing.
func (w *Watch) Wait() <-chan struct{} { return w.cursor.Wait() }

// Revision is the version up to which every change was returned by Poll.
func (w *Watch) Revision() mvcc.Revision { return w.cursor.Revision() }

// Close releases the cursor.
func (w *Watch) Close() { w.cursor.Close() }

// change is what an event of the store means to the selection.
func (s *Selection) change(e *mvcc.Event[*Object]) (Change, bool) {
	before := e.Prev != nil && s.matches(e.Prev.Value)
	after := e.Type == mvcc.Put && s.matches(e.Item.Value)
	c := Change{Revision: e.Item.Modified}
	switch {
	case after && before:
		c.Type, c.Object = Modified, e.Item.Value
	case after:
		c.Type, c.Object = Added, e.Item.Value
	case before:
		c.Type, c.Object = Deleted, e.Prev.Value
	default:
		return c, false
	}
	return c, true
}
