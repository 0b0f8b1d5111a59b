package registry

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

const (
	// maxRecent is how many states a server keeps at most.
	maxRecent = 1024
	// maxRecentBytes is the longest JSON of an object of them.
	maxRecentBytes = 16 << 10
	// maxRecentTexts is the length of the documents that the strings of one of them may keep.
	maxRecentTexts = 8 * maxRecentBytes
	// maxAllRecentTexts is the length of the documents that the strings of all of them may keep.
	maxAllRecentTexts = 4 << 20
)

// recentStates are the states of the objects that were changed last, each before its last change and
// with what that made of it. An object that was changed is often changed again soon, and then its
// new state need not be decoded if the object of the change is what decoding would return. Most
// writes leave the spec or the status as it is, too: what has the same text as in the state before
// is not decoded again.
type recentStates struct {
	slots [maxRecent]atomic.Pointer[state] // by the hash of the key
	texts atomic.Int64                     // of the states in slots
	hand  atomic.Uint32                    // counts the slots that were emptied for others
}

var recentSeed = maphash.MakeSeed()

func (r *recentStates) slot(key string) *atomic.Pointer[state] {
	return &r.slots[maphash.String(recentSeed, key)%maxRecent]
}

// swap puts a state, or nil, into a slot and returns the one that was there.
func (r *recentStates) swap(slot *atomic.Pointer[state], s *state) *state {
	old := slot.Swap(s)
	r.texts.Add(int64(s.allTexts() - old.allTexts()))
	return old
}

// allTexts is the length of the documents that have the strings of a state and of that after it.
func (s *state) allTexts() int {
	switch {
	case s == nil:
		return 0
	case s.after != nil:
		return s.after.texts // which includes those of s
	default:
		return s.texts
	}
}

// decode returns the state of an object, whose key only helps to find an earlier one; without an
// earlier one, the object may be like a prototype. The caller has the state, and the values that it
// shares with earlier ones, for itself until keep, except for those of a prototype: other operations
// read them at the same time.
func (r *recentStates) decode(key string, o *storage.Object, t *resource.Type, like *prototypes) *state {
	last := r.swap(r.slot(key), nil)
	if last == nil || last.stored.UID != o.UID {
		s := like.decode(o, t)
		s.texts = o.Len()
		return s
	}
	if last.stored == o {
		last.after = nil
		return last
	}
	s := last.completed(o, t)
	if s == nil {
		s = &state{stored: o, object: o.DecodeNext(t, last.object, last.stored), texts: last.texts + o.Len()}
	}
	s.valid = last.valid && resource.SharesMembers(s.object, last.object, "metadata", "status")
	return s
}

// completed returns the state after the change of a state, if that has stored o and its object can
// be made what decoding o returns, or nil.
func (s *state) completed(o *storage.Object, t *resource.Type) *state {
	after := s.after
	if after == nil || after.stored != o {
		return nil
	}
	defer mustKeep(t, s.object)()
	if !o.Complete(t, after.object, s.object) {
		return nil
	}
	mustBeDecoded(after, t)
	return after
}

// decodeRecent is decode for an object of the request's type.
func (op *operation) decodeRecent(key string, o *storage.Object) *state {
	return op.recent.decode(key, o, op.Type, op.prototypes.of(op.Type))
}

// keep keeps a state that decode returned, in place of others if there are too many; of other
// states it keeps none. The caller must not use it any more.
func (r *recentStates) keep(key string, s *state) {
	if s.texts == 0 || !s.isSmall() || s.after != nil && !s.after.isSmall() {
		return
	}
	r.swap(r.slot(key), s)
	for i := 0; r.texts.Load() > maxAllRecentTexts && i < maxRecent; i++ {
		r.swap(&r.slots[r.hand.Add(1)%maxRecent], nil)
	}
}

// isSmall reports whether a state is within the limits of those that are kept.
func (s *state) isSmall() bool {
	return s.stored.Len() <= maxRecentBytes && s.texts <= maxRecentTexts
}

// setAfter notes in a state that decode returned what a change made of it, unless that is stored in
// another version, or admission may have put values of its own into the object.
func (op *operation) setAfter(s, changed *state) {
	if op.sent.data != nil && !op.replaced && changed.stored.IsOf(op.Type) {
		changed.texts = s.texts + len(op.sent.data)
		s.after = changed
	}
}
