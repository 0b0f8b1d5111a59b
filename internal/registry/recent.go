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
)

// recentStates are the states in which the last changes found their objects. An object that was
// changed is often changed again soon, and most writes leave its spec or its status as it is: what
// has the same text as in the state before is not decoded again.
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
		return like.decode(o, t)
	}
	s := &state{stored: o, object: o.DecodeNext(t, last.object, last.stored)}
	s.valid = last.valid && resource.SharesMembers(s.object, last.object, "metadata", "status")
	return s
}

// keep keeps a state that decode returned. The caller must not use it any more.
func (r *recentStates) keep(key string, s *state) {
	if s.stored.Len() <= maxRecentBytes {
		r.slot(key).Store(s)
	}
}
