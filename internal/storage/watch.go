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

// A Change is an event of a watch. If an object stops matching the selection, it is
// Deleted, in its last state that matched.
type Change struct {
	Type   ChangeType
	Object *Object
	// Revision is the revision of the change. The version of a deleted Object is
	// an older one.
	Revision mvcc.Revision
}

// A Watch returns the changes of a selection in order. Its methods must not be called
// concurrently.
type Watch struct {
	ctx       context.Context
	typ       *resource.Type
	selection Selection
	watcher   Watcher
	changes   []Change
}

// Watch returns a watch of a selection, from the first change after a version, as the
// watch cache shows it. The caller must close it. The context is used to convert
// objects. It fails with an *ExpiredError if the version is compacted.
func (s *Store) Watch(ctx context.Context, t *resource.Type, sel Selection, after mvcc.Revision) (*Watch, error) {
	cache := s.watchCache(t)
	if after < s.Watchable(t) && after < cache.Revision() {
		return nil, &ExpiredError{}
	}
	prefix, _ := sel.prefix(t)
	watcher, err := cache.Watch(prefix, after+1)
	if err != nil {
		return nil, &ExpiredError{}
	}
	return &Watch{ctx: ctx, typ: t, selection: sel, watcher: watcher}, nil
}

// Events returns a watcher of the events of all objects whose keys begin with a prefix, from a
// revision on. The caller must close it.
func (s *Store) Events(prefix string, from mvcc.Revision) (Watcher, error) {
	return s.database.Watch(prefix, from)
}

// Poll returns the next changes without waiting, about max at most, or none. The slice
// is valid until the next call of Poll or Wait. It fails with an *ExpiredError if changes
// were compacted before the watch has returned them, and with a *ConversionError.
func (w *Watch) Poll(max int) ([]Change, error) {
	clear(w.changes)
	w.changes = w.changes[:0]
	for len(w.changes) == 0 {
		events, err := w.watcher.Poll(max)
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

// keptChanges is the capacity of changes that a waiting watch keeps.
const keptChanges = 16

// Wait returns a channel that is closed when Poll may have more changes. Call it again
// after each Poll.
func (w *Watch) Wait() <-chan struct{} {
	clear(w.changes) // a watch that waits keeps no objects in memory
	if w.changes = w.changes[:0]; cap(w.changes) > keptChanges {
		w.changes = nil
	}
	return w.watcher.Wait()
}

// Revision returns the revision up to which Poll has returned all changes.
func (w *Watch) Revision() mvcc.Revision { return w.watcher.Revision() }

// Polled returns what Revision was when Poll last returned, and the time of that call.
// It takes no lock.
func (w *Watch) Polled() (mvcc.Revision, time.Time) { return w.watcher.Polled() }

// Peers returns the number of open watches that a change wakes together with this one.
func (w *Watch) Peers() int { return w.watcher.Peers() }

// Close releases the watcher.
func (w *Watch) Close() { w.watcher.Close() }

// change returns the change of the selection that an event causes, if any.
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

// selected returns the object in the version of the watch, or nil if it does not match
// the selection.
func (w *Watch) selected(o *Object) (*Object, error) {
	o, err := o.In(w.ctx, w.typ)
	if err != nil || !w.selection.matches(o) {
		return nil, err
	}
	return o, nil
}
