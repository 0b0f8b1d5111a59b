package fault

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/codec"
)

// A Rule is an injected fault. It is safe for concurrent use.
type Rule struct {
	set     *Set
	fault   faults.Fault
	matcher *matcher
	key     uint64    // seeds the draws
	until   time.Time // end of the Lifetime; zero if it has none

	// ctx ends with Remove, and with the Set.
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards the fields below
	removed bool
	matched int               // requests that the matcher accepted
	claimed int               // requests that it was chosen to hit, at most Times
	hits    int               // requests that it has hit
	seen    map[uint64]uint64 // draws per request identity; nil without a probability
	unseen  uint64            // draws of all identities that seen has no room for
}

// maxSeen limits the identities of requests whose draws a Rule counts apart.
const maxSeen = 1 << 16

// Fault returns the injected fault. Its ID and Seed are set.
func (r *Rule) Fault() faults.Fault { return r.fault }

// Matched returns how many requests, watches or webhook calls the matcher has
// accepted.
func (r *Rule) Matched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.matched
}

// Hits returns how many of these the fault has hit.
func (r *Rule) Hits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hits
}

// Remove ends the fault and its effects: delayed requests and paused watches
// continue. Further calls do nothing.
func (r *Rule) Remove() { r.set.remove(r) }

func (r *Rule) isRemoved() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.removed
}

// expired reports whether the Lifetime of the fault has passed.
func (r *Rule) expired() bool {
	return !r.until.IsZero() && !r.set.options.Clock.Now().Before(r.until)
}

// claim counts a request that the matcher has accepted. If the rule hits it, n is the
// number of requests counted so far, otherwise 0: it never does if an earlier rule has
// responded. last reports whether this is the last hit.
//
// Skip and draws count matched requests, not hits, so that other rules do not
// change which requests this one hits.
func (r *Rule) claim(identity uint64, responded bool) (n int, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.matched++
	lost := r.seen != nil && !r.drawLocked(identity)
	spent := r.fault.Times > 0 && r.claimed >= r.fault.Times
	if r.removed || responded || lost || spent || r.matched <= r.fault.Skip {
		return 0, false
	}
	r.claimed++
	return r.matched, r.claimed == r.fault.Times
}

// drawLocked draws with the fault's probability. Each of the first maxSeen identities
// has its own sequence of draws, so that the order of concurrent requests does not
// matter. The others share one.
func (r *Rule) drawLocked(identity uint64) bool {
	n, ok := r.seen[identity]
	if ok || len(r.seen) < maxSeen {
		r.seen[identity] = n + 1
	} else {
		n = r.unseen
		r.unseen++
	}
	source := rand.NewPCG(r.key, identity+n*0x9e3779b97f4a7c15)
	return rand.New(source).Float64() < r.fault.Probability
}

// countHit counts a hit and reports it, unless all that the fault does is to call Do.
func (r *Rule) countHit(h Hit) {
	r.mu.Lock()
	r.hits++
	r.mu.Unlock()
	if r.onlyDoes() {
		return
	}
	h.Fault = r.fault
	r.report(h)
}

// onlyDoes reports whether all that the fault does is to call Do.
func (r *Rule) onlyDoes() bool {
	f := &r.fault
	return f.Do != nil && f.Actions == nil && f.Delay == 0 && !f.Responds() && f.Watch == ""
}

// report reports a hit to Options.OnHit.
func (r *Rule) report(h Hit) {
	if onHit := r.set.options.OnHit; onHit != nil {
		onHit(h)
	}
}

// identity returns a hash of the words. A repeated request has the same identity.
func identity(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// identityOf returns a hash of the request of a watch and of an event.
func (r *Request) identityOf(typ string, o codec.Identity) uint64 {
	return identity(r.HTTP.UserAgent(), r.Path, typ, o.Namespace, o.Name)
}

func (r *Request) identity() uint64 {
	return identity(r.HTTP.UserAgent(), r.HTTP.Method, r.Verb, r.Path)
}

// keyOf returns the seed of the fault's draws: a hash of its fields, without the
// ID. copies is the number of equal faults injected before, so that equal faults
// draw differently.
func keyOf(f faults.Fault, copies int) uint64 {
	seed := f.Seed
	f.ID, f.Seed = "", 0
	text, err := json.Marshal(f)
	if err != nil {
		panic("fault: " + err.Error()) // unreachable: strings and numbers only
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(copies))
	return identity(string(b[:]), string(text))
}
