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

// A change is one change of the object with some name. The version of a deletion is
// "" where the client did not see the deleted object.
type change struct {
	action  action
	version string
}

// A history is an event handler of an informer. It records the events and checks
// that each is consistent with the previous one of the same object.
type history struct {
	// relists permits the events of an informer that lists again: updates of
	// objects that did not change, and deletions with the last known state.
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
				fail("the old object is not the one of the previous event")
			}
		}
	}
	h.changes[name] = append(past, change{act, version})
}

// newer reports whether a is newer than b. Clients may compare the versions of the
// objects of one resource as numbers.
func newer(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x > y
}

// caughtUp reports whether the last event of each object has the state that the
// writer stored last.
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

// result returns the recorded changes by object name, without the versions of
// deletions, and the inconsistencies.
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
