package storage

import (
	"context"
	"time"

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
	ctx       context.Context
	typ       *resource.Type
	selection Selection
	cursor    *mvcc.Watcher[*Object]
	changes   []Change
}

// Watch follows a selection, as the watch cache shows it, from the first change
// after version; close it when done. The context is for converting objects. Errors: *ExpiredError.
func (s *Store) Watch(ctx context.Context, t *resource.Type, sel Selection, after mvcc.Revision) (*Watch, error) {
	cache := s.replica(t)
	if after < max(s.oldest(t), mvcc.Revision(t.Since)) && after < cache.Revision() {
		return nil, &ExpiredError{}
	}
	prefix, _ := sel.prefix(t)
	cursor, err := cache.Watch(prefix, after+1)
	if err != nil {
		return nil, &ExpiredError{}
	}
	return &Watch{ctx: ctx, typ: t, selection: sel, cursor: cursor}, nil
}

// Poll returns the next changes, about max at most, without waiting; none if
// there are none. The slice is valid until the next call. It fails with an
// *ExpiredError once compaction has overtaken the cursor, and when an object
// cannot be converted.
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
			c, ok, err := w.change(&events[i])
			if err != nil {
				return nil, err
			}
			if ok {
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

// Polled is Revision as it was when Poll last returned, and when that was
// called. It costs nothing.
func (w *Watch) Polled() (mvcc.Revision, time.Time) { return w.cursor.Polled() }

// Close releases the cursor.
func (w *Watch) Close() { w.cursor.Close() }

// change is what an event of the store means to the selection.
func (w *Watch) change(e *mvcc.Event[*Object]) (c Change, ok bool, err error) {
	var before, after *Object
	if e.Prev != nil {
		if before, err = w.selected(e.Prev.Value); err != nil {
			return c, false, err
		}
	}
	if e.Type == mvcc.Put {
		if after, err = w.selected(e.Item.Value); err != nil {
			return c, false, err
		}
	}
	c.Revision = e.Item.Modified
	switch {
	case after != nil && before != nil:
		c.Type, c.Object = Modified, after
	case after != nil:
		c.Type, c.Object = Added, after
	case before != nil:
		c.Type, c.Object = Deleted, before
	default:
		return c, false, nil
	}
	return c, true, nil
}

// selected is the object as the watch shows it, nil if the selection is without
// it.
func (w *Watch) selected(o *Object) (*Object, error) {
	o, err := o.In(w.ctx, w.typ)
	if err != nil || !w.selection.matches(o) {
		return nil, err
	}
	return o, nil
}
