package fault

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// A Rule is a fault that was injected. It is safe for concurrent use.
type Rule struct {
	set     *Set
	fault   Fault
	matcher *matcher
	key     uint64        // of its draws
	until   time.Time     // when it is over; zero: never
	gone    chan struct{} // closed when it is removed

	mu      sync.Mutex // guards the fields below
	removed bool
	matched int               // those that it has met and matched
	claimed int               // those that it was to hit
	fired   int               // those that it has hit
	seen    map[uint64]uint64 // how often it has matched each identity; nil if it does not draw
}

// Fault is what was injected, with the ID and the seed that it was given.
func (r *Rule) Fault() Fault { return r.fault }

// Matched is how many requests, or watches, it was about.
func (r *Rule) Matched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.matched
}

// Fired is how many of them it has hit.
func (r *Rule) Fired() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fired
}

// Remove ends the fault, and what it is doing: what it delays goes on. Removing
// it again does nothing.
func (r *Rule) Remove() { r.set.remove(r) }

// over reports whether the time of the rule is up.
func (r *Rule) over() bool {
	return !r.until.IsZero() && !r.set.options.Clock.Now().Before(r.until)
}

// claim is called for whatever the rule matches and reports whether that is to
// be hit; never if it is taken, by a rule before this one. last tells that the
// rule will hit nothing more.
//
// Whom a rule meets counts, not whom it hits: what other rules do changes
// neither the draws of this one nor how many it skips.
func (r *Rule) claim(identity uint64, taken bool) (hit, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.matched++
	spared := r.seen != nil && !r.drawLocked(identity)
	spent := r.fault.Times > 0 && r.claimed >= r.fault.Times
	if r.removed || taken || spared || spent || r.matched <= r.fault.Skip {
		return false, false
	}
	r.claimed++
	return true, r.claimed == r.fault.Times
}

// drawLocked decides by the rule's probability. Each identity has draws of its
// own, so that the order in which concurrent clients come does not matter.
func (r *Rule) drawLocked(identity uint64) bool {
	n := r.seen[identity]
	r.seen[identity] = n + 1
	source := rand.NewPCG(r.key, identity+n*0x9e3779b97f4a7c15)
	return rand.New(source).Float64() < r.fault.Probability
}

// fire counts a hit.
func (r *Rule) fire(what Hit) {
	r.mu.Lock()
	r.fired++
	r.mu.Unlock()
	what.Fault = r.fault
	if tell := r.set.options.Fired; tell != nil {
		tell(what)
	}
}

// identity is what is the same for the requests that a client repeats.
func identity(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

func (r *Request) identity() uint64 {
	return identity(r.HTTP.UserAgent(), r.HTTP.Method, r.Verb, r.Path)
}

// keyOf is the key of the draws of a fault, of which there are same others like
// it: it depends on no other fault.
func keyOf(f Fault, same int) uint64 {
	seed := f.Seed
	f.ID, f.Seed = "", 0
	text, err := json.Marshal(f)
	if err != nil {
		panic("fault: " + err.Error()) // unreachable: strings and numbers only
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(same))
	return identity(string(b[:]), string(text))
}
