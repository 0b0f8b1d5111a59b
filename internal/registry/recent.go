package registry

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

const (
	// maxRecent is how many states a server keeps at most.
	maxRecent = 64
	// maxRecentBytes is the longest JSON of an object of them.
	maxRecentBytes = 16 << 10
	// maxRecentTexts is the length of the documents that the strings of one of them may keep.
	maxRecentTexts = 8 * maxRecentBytes
)

// recentStates are the states of the objects that were changed last: after the change or, if that
// is not known without decoding it, before. An object that was changed is often changed again soon,
// and most writes leave its spec or its status as it is: what has the same text as in the state
// before is not decoded again.
type recentStates struct {
	slots [maxRecent]atomic.Pointer[state] // by the hash of the key
}

var recentSeed = maphash.MakeSeed()

func (r *recentStates) slot(key string) *atomic.Pointer[state] {
	return &r.slots[maphash.String(recentSeed, key)%maxRecent]
}

// decode returns the state of an object, whose key only helps to find an earlier one; without an
// earlier one, the object may be like a prototype. The caller has the state, and the values that it
// shares with earlier ones, for itself until keep, except for those of a prototype: other operations
// read them at the same time.
func (r *recentStates) decode(key string, o *storage.Object, t *resource.Type, like *prototypes) *state {
	last := r.slot(key).Swap(nil)
	if last == nil || last.stored.UID != o.UID {
		s := like.decode(o, t)
		s.texts = o.Len()
		return s
	}
	if last.stored == o {
		return last
	}
	s := &state{stored: o, object: o.DecodeNext(t, last.object, last.stored), texts: last.texts + o.Len()}
	s.setValid(last)
	return s
}

// decodeRecent is decode for an object of the request's type.
func (op *operation) decodeRecent(key string, o *storage.Object) *state {
	return op.recent.decode(key, o, op.Type, op.prototypes.of(op.Type))
}

// setValid sets valid in the state that comes after another.
func (s *state) setValid(before *state) {
	s.valid = before.valid && resource.SharesMembers(s.object, before.object, "metadata", "status")
}

// keep keeps a state that decode or next returned. The caller must not use it any more.
func (r *recentStates) keep(key string, s *state) {
	if s.stored.Len() <= maxRecentBytes && s.texts <= maxRecentTexts {
		r.slot(key).Store(s)
	}
}

// next returns the state to keep after a change, which has stored obj in place of the object of
// present: that of obj or, if decoding the stored object would perhaps not return that, present.
func (op *operation) next(present *state, stored *storage.Object, obj map[string]any) *state {
	defer op.mustKeep(present.object)()
	if op.sent.data == nil || op.replaced || !stored.Complete(op.Type, obj, present.object) {
		return present
	}
	s := &state{stored: stored, object: obj, texts: present.texts + len(op.sent.data)}
	s.setValid(present)
	mustBeDecoded(s, op.Type)
	return s
}
