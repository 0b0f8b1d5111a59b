package fault

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/route"
)

// Options are what a Set needs of the server that it is for.
type Options struct {
	// Clock is the time by which faults wait and end.
	Clock *clock.Clock
	// Seed makes the draws of faults without a seed of their own; 0 makes them
	// random.
	Seed uint64
	// Done ends all waiting: the server closes. Nil never does.
	Done <-chan struct{}
	// Fired is told each time that a fault hits. It must not call the Set. Nil
	// is not told.
	Fired func(Hit)
}

// A Hit is a fault that hit somebody.
type Hit struct {
	Fault Fault
	// Route is the request's that was hit, the zero value for a webhook's.
	Route route.Route
	// UserAgent is whose request it was.
	UserAgent string
	// Webhook is the URL of the webhook whose call was hit.
	Webhook string
}

// String tells the hit in a line: "409: update of deployments.apps shop/web".
func (h Hit) String() string {
	what := h.Route.Verb + " of " + h.Route.Path
	if h.Webhook != "" {
		what = "webhook " + h.Webhook
	}
	return h.Fault.effect() + ": " + what
}

// A Set is the faults of one server. It is safe for concurrent use.
type Set struct {
	options Options
	// active are the rules that can hit those that come, in the order in which
	// they were injected; nil for none, so that those who find none look no
	// further.
	active atomic.Pointer[[]*Rule]

	mu      sync.Mutex // guards the fields below, and changes of active
	rules   []*Rule    // all that are not removed
	streams map[*stream]struct{}
	opened  int // streams
	named   int // rules
}

// NewSet returns a Set without faults.
func NewSet(o Options) *Set { return &Set{options: o, streams: map[*stream]struct{}{}} }

// Active reports whether a fault can hit a request that comes now. It costs next
// to nothing.
func (s *Set) Active() bool { return s.active.Load() != nil }

func (s *Set) activeRules() []*Rule {
	if rules := s.active.Load(); rules != nil {
		return *rules
	}
	return nil
}

// Inject makes faults happen from now on, to watches that are open too. A request
// that several faults match is hit in the order of their injection, up to one
// that answers it.
//
// It fails, and injects none, if there is something wrong with a fault, or its ID
// is taken.
func (s *Set) Inject(faults ...Fault) ([]*Rule, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := map[string]bool{}
	for _, r := range s.rules {
		ids[r.fault.ID] = true
	}
	for _, f := range faults {
		if err := f.Check(); err != nil {
			return nil, fmt.Errorf("fault %q: %w", f, err)
		}
		if f.ID != "" && ids[f.ID] {
			return nil, fmt.Errorf("fault %q: id: there is a fault %q already", f, f.ID)
		}
		ids[f.ID] = true
	}
	rules := make([]*Rule, len(faults))
	for i, f := range faults {
		for f.ID == "" {
			s.named++
			if id := strconv.Itoa(s.named); !ids[id] {
				f.ID = id
			}
		}
		rules[i] = s.newRuleLocked(f)
		s.addLocked(rules[i])
	}
	return rules, nil
}

// newRuleLocked makes a rule of a fault that has an ID.
func (s *Set) newRuleLocked(f Fault) *Rule {
	if f.Seed == 0 {
		f.Seed = s.options.Seed
	}
	if f.Seed == 0 {
		f.Seed = 1 + rand.Uint64N(1<<53-1) // what JSON has without loss
	}
	r := &Rule{set: s, fault: f, matcher: newMatcher(&f), gone: make(chan struct{})}
	if f.For > 0 {
		r.until = s.options.Clock.Now().Add(f.For)
	}
	if f.Probability > 0 && f.Probability < 1 {
		r.seen = map[uint64]uint64{}
		r.key = keyOf(f, 0)
		for same := 1; slices.ContainsFunc(s.rules, func(other *Rule) bool { return other.key == r.key }); same++ {
			r.key = keyOf(f, same)
		}
	}
	return r
}

func (s *Set) addLocked(r *Rule) {
	if len(s.rules) >= maxRules {
		active := s.activeRules()
		if oldest := slices.IndexFunc(s.rules, func(r *Rule) bool { return !slices.Contains(active, r) }); oldest >= 0 {
			s.rules = slices.Delete(s.rules, oldest, oldest+1)
		}
	}
	s.rules = append(s.rules, r)
	if r.fault.Watches != Open {
		s.activateLocked(append(slices.Clone(s.activeRules()), r))
	}
	if r.fault.ofWatch() && r.fault.Watches != New {
		for _, st := range s.streamsLocked() {
			s.meetLocked(r, st)
		}
	}
}

// maxRules is how many faults are told of, before those that can hit nothing more
// are forgotten.
const maxRules = 4096

// Rules are the faults that were injected and not removed, in that order.
func (s *Set) Rules() []*Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rules)
}

// Clear removes all faults.
func (s *Set) Clear() {
	for _, r := range s.Rules() {
		r.Remove()
	}
}

// Inherit injects the faults of another Set anew, but for those that were about
// watches open there. Their IDs must be free.
func (s *Set) Inherit(from *Set) error {
	var faults []Fault
	for _, r := range from.Rules() {
		if r.fault.Watches != Open {
			faults = append(faults, r.fault)
		}
	}
	_, err := s.Inject(faults...)
	return err
}

func (s *Set) remove(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	removed := r.removed
	r.removed = true
	r.mu.Unlock()
	if removed {
		return
	}
	close(r.gone)
	s.rules = without(s.rules, r)
	s.activateLocked(without(s.activeRules(), r))
	for st := range s.streams {
		st.detach(r)
	}
}

// retire takes a rule that can hit nothing more out of the way of requests.
func (s *Set) retire(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retireLocked(r)
}

func (s *Set) retireLocked(r *Rule) { s.activateLocked(without(s.activeRules(), r)) }

func (s *Set) activateLocked(rules []*Rule) {
	if len(rules) == 0 {
		s.active.Store(nil)
		return
	}
	s.active.Store(&rules)
}

func without(rules []*Rule, r *Rule) []*Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(other *Rule) bool { return other == r })
}

// open adds a watch that begins and lets the faults of watches meet it.
func (s *Set) open(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	st.number = s.opened
	s.streams[st] = struct{}{}
	for _, r := range s.activeRules() {
		if r.fault.ofWatch() {
			s.meetLocked(r, st)
		}
	}
}

func (s *Set) closed(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st)
}

// streamsLocked are the open watches, oldest first.
func (s *Set) streamsLocked() []*stream {
	return slices.SortedFunc(maps.Keys(s.streams), func(a, b *stream) int { return cmp.Compare(a.number, b.number) })
}

// meetLocked attaches a fault of watches to a watch, if it is to hit that.
func (s *Set) meetLocked(r *Rule, st *stream) {
	if r.over() {
		s.retireLocked(r)
		return
	}
	if !r.matcher.request(&st.request) {
		return
	}
	hit, last := r.claim(st.request.identity(), st.ended())
	if last {
		s.retireLocked(r)
	}
	if hit {
		st.attach(r)
	}
}

// hits are the faults that hit a request, in order: none after one that answers.
func (s *Set) hits(r *Request) []*Rule {
	var out []*Rule
	answered := false
	for _, rule := range s.activeRules() {
		f := &rule.fault
		if f.target() != requests || f.ExpireContinue && !r.goesOn() || f.After && r.Verb == "watch" || !rule.matcher.request(r) {
			continue
		}
		if rule.over() {
			s.retire(rule)
			continue
		}
		hit, last := rule.claim(r.identity(), answered)
		if last {
			s.retire(rule)
		}
		if hit {
			out = append(out, rule)
			answered = f.answers()
		}
	}
	return out
}

// goesOn reports whether a request lists on from a continue token.
func (r *Request) goesOn() bool {
	return r.Verb == "list" && r.HTTP.URL.Query().Get("continue") != ""
}

// wait waits for d on the clock. It ends early once the rule is removed, the
// server closes, or ctx ends, which it returns the cause of.
func (s *Set) wait(ctx context.Context, r *Rule, d time.Duration) error {
	timer := s.options.Clock.After(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.gone:
	case <-s.options.Done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Handler is a handler whose requests meet the faults. Those that none hits go
// to next as they are.
func (s *Set) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		s.Serve(w, &Request{hr, route.Parse(hr.Method, hr.URL)}, handler{next})
	})
}
