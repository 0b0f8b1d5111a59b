package clientsuite

import (
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

type action string

const (
	added   action = "added"
	updated action = "updated"
	deleted action = "deleted"
)

// A change is one step in the life of the objects of one name. A deletion that
// a client did not see itself has no version.
type change struct {
	action  action
	version string
}

// A history is a handler that records what an informer tells and checks that
// each step follows from the one before.
type history struct {
	// relists says that the informer may list again. Then it tells objects
	// that did not change as updated to what they were, and the deletions
	// that it missed with the last state it knows.
	relists bool

	mu      sync.Mutex
	changes map[string][]change // by object name
	errors  []string
}

var _ cache.ResourceEventHandler = (*history)(nil)

func newHistory(relists bool) *history {
	return &history{relists: relists, changes: map[string][]change{}}
}

func (h *history) OnAdd(obj any, _ bool) { h.record(added, nil, obj) }

func (h *history) OnUpdate(before, obj any) { h.record(updated, before, obj) }

func (h *history) OnDelete(obj any) {
	if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = lost.Obj
	}
	h.record(deleted, nil, obj)
}

func (h *history) record(act action, before, obj any) {
	o, err := meta.Accessor(obj)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.errors = append(h.errors, err.Error())
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	name, version := o.GetName(), o.GetResourceVersion()
	past := h.changes[name]
	fail := func(format string, args ...any) {
		h.errors = append(h.errors, fmt.Sprintf("%s %s@%s after %v: ", act, name, version, past)+fmt.Sprintf(format, args...))
	}
	if exists := len(past) > 0 && past[len(past)-1].action != deleted; exists != (act != added) {
		fail("the object exists: %t", exists)
	}
	if len(past) > 0 {
		last := past[len(past)-1].version
		if !newer(version, last) && !(act != added && version == last && h.relists) {
			fail("not newer than %s", last)
		}
		if before != nil {
			if b, err := meta.Accessor(before); err != nil || b.GetResourceVersion() != last {
				fail("the state before is not the one told last")
			}
		}
	}
	h.changes[name] = append(past, change{act, version})
}

// newer compares versions of objects of one resource, which the API lets
// clients order as numbers.
func newer(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x > y
}

// caughtUp reports whether the last that was told of each object is what the
// writer left.
func (h *history) caughtUp(writer *churn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	live := 0
	for name, changes := range h.changes {
		last := changes[len(changes)-1]
		if last.action == deleted {
			continue
		}
		live++
		if cm := writer.live[name]; cm == nil || cm.ResourceVersion != last.version {
			return false
		}
	}
	return live == len(writer.live)
}

// result returns what was recorded, the versions of deletions left out, and
// what was wrong with it.
func (h *history) result() (map[string][]change, []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string][]change{}
	for name, changes := range h.changes {
		for _, c := range changes {
			if c.action == deleted {
				c.version = ""
			}
			out[name] = append(out[name], c)
		}
	}
	return out, h.errors
}
