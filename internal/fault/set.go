package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/route"
)

// Options configure a [Set].
type Options struct {
	// Clock measures delays and lifetimes. It must be set.
	Clock *clock.Clock
	// Seed is the default of Fault.Seed; 0 draws a random seed for each fault.
	Seed uint64
	// Context ends all waiting. Nil is a context that does not end.
	Context context.Context
	// OnHit, if not nil, is called for every hit. It must not call the Set.
	OnHit func(Hit)
	// OnInject, if not nil, is called when a fault can hit from now on, and OnEnd when it can no more,
	// with why: it was removed, or has hit as often as it may. until is the end of the Lifetime, zero without
	// one; a fault that has reached it has no OnEnd. Faults of which nobody sees more than what Do does
	// have neither. They must not call the Set.
	OnInject func(f faults.Fault, until time.Time)
	OnEnd    func(f faults.Fault, why string)
	// OnDo, if not nil, is called before Fault.Do for a watch, and what it returns
	// after it. The requests of which the caller of Serve knows do not need it.
	OnDo func(*http.Request) (done func())
	// Cluster is the name of the cluster of the server, which faults may name; "" for none.
	Cluster string
	// Act does an action of a fault, and CheckAction fails for one that cannot succeed.
	// Both are nil if faults have no actions.
	Act         func(context.Context, faults.Action) error
	CheckAction func(faults.Action) error
	// FindResource reports whether the server serves a resource, such as "pods" or
	// "deployments.apps", and returns the resource that is meant if the name is a singular, a
	// kind or a short name, otherwise "". Nil if the resources are not known.
	FindResource func(name string) (served bool, meant string)
}

// A Hit is one request, watch or webhook call that a fault has hit.
type Hit struct {
	Fault faults.Fault
	// Route is the route of the request; zero for a webhook call.
	Route route.Route
	// UserAgent is the User-Agent header of the request.
	UserAgent string
	// Webhook is the URL of the webhook; "" for a request.
	Webhook string
	// Note is what Do notes about the request; "" for the effect of the fault.
	Note string
}

// String returns the hit on one line: "409: update of /apis/apps/v1/...".
func (h Hit) String() string {
	what := h.Route.Verb + " of " + h.Route.Path
	if h.Webhook != "" {
		what = "webhook " + h.Webhook
	}
	if h.Note != "" {
		return h.Note
	}
	return h.Fault.Effect() + ": " + what
}

// A Set holds the faults of one server. It is safe for concurrent use.
type Set struct {
	options Options
	// active are the rules that can hit new requests, in the order of their
	// injection; nil if there are none. Requests read it without the lock.
	active atomic.Pointer[[]*Rule]

	mu      sync.Mutex           // guards the fields below, and stores to active
	rules   []*Rule              // rules that are not removed
	streams map[*stream]struct{} // open watches
	visits  map[*visit]struct{}  // requests that faults have hit, while they are served
	opened  int                  // number of watches opened so far
	lastID  int                  // number of the last assigned ID
}

// NewSet returns a Set without faults.
func NewSet(o Options) *Set {
	if o.Context == nil {
		o.Context = context.Background()
	}
	return &Set{options: o, streams: map[*stream]struct{}{}, visits: map[*visit]struct{}{}}
}

// Active reports whether a fault can hit a new request. It costs one atomic load.
func (s *Set) Active() bool { return s.active.Load() != nil }

func (s *Set) activeRules() []*Rule {
	if rules := s.active.Load(); rules != nil {
		return *rules
	}
	return nil
}

// Inject adds faults after those that are there, and applies watch faults to the
// watches that are open. It returns a Rule for each fault, in their order.
//
// It injects either all faults or none. The error is an [faults.ErrInvalid] if a fault
// is invalid, names a resource by its singular, kind or short name, or has the ID of
// another fault.
func (s *Set) Inject(list ...faults.Fault) ([]*Rule, error) {
	for i := range list {
		if err := errors.Join(s.checkCluster(&list[i]), s.checkResources(&list[i])); err != nil {
			return nil, fmt.Errorf("%w (%s): %w", faults.ErrInvalid, list[i], err)
		}
	}
	return s.inject(list)
}

// checkCluster returns an error for a fault of another cluster.
func (s *Set) checkCluster(f *faults.Fault) error {
	if f.In != "" && f.In != s.options.Cluster {
		return fmt.Errorf("in: there is no cluster %q", f.In)
	}
	return nil
}

// inject is Inject whatever the clusters and resources of the faults.
func (s *Set) inject(list []faults.Fault) ([]*Rule, error) {
	rules, open, err := s.add(list)
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if r.fault.HitsWatches() && r.fault.Watches != faults.NewWatches {
			for _, st := range open {
				s.apply(r, st)
			}
		}
	}
	return rules, nil
}

// add adds faults. It returns their rules and the watches that were open before, to
// which the caller applies them.
func (s *Set) add(list []faults.Fault) (rules []*Rule, open []*stream, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := map[string]bool{}
	for _, r := range s.rules {
		ids[r.fault.ID] = true
	}
	for _, f := range list {
		if err := errors.Join(f.Check(), s.checkActions(&f)); err != nil {
			return nil, nil, fmt.Errorf("%w (%s): %w", faults.ErrInvalid, f, err)
		}
		if f.ID != "" && ids[f.ID] {
			return nil, nil, fmt.Errorf("%w (%s): id: another fault has the ID %q", faults.ErrInvalid, f, f.ID)
		}
		ids[f.ID] = true
	}
	rules = make([]*Rule, len(list))
	for i, f := range list {
		for f.ID == "" {
			s.lastID++
			if id := strconv.Itoa(s.lastID); !ids[id] {
				f.ID = id
			}
		}
		rules[i] = s.newRuleLocked(f)
		s.addLocked(rules[i])
	}
	return rules, s.streamsLocked(), nil
}

// newRuleLocked returns a rule for a fault, whose ID is set.
func (s *Set) newRuleLocked(f faults.Fault) *Rule {
	if f.Seed == 0 {
		f.Seed = s.options.Seed
	}
	if f.Seed == 0 {
		f.Seed = 1 + rand.Uint64N(1<<53-1) // a JSON number holds 53 bits
	}
	r := &Rule{set: s, fault: f, matcher: newMatcher(&f)}
	r.ctx, r.cancel = context.WithCancelCause(s.options.Context)
	if f.Lifetime > 0 {
		r.until = s.options.Clock.Now().Add(f.Lifetime)
	}
	if f.Probability > 0 && f.Probability < 1 {
		r.seen = map[uint64]uint64{}
		r.key = keyOf(f, 0)
		for copies := 1; slices.ContainsFunc(s.rules, func(other *Rule) bool { return other.key == r.key }); copies++ {
			r.key = keyOf(f, copies)
		}
	}
	return r
}

func (s *Set) addLocked(r *Rule) {
	if len(s.rules) >= maxRules {
		active := s.activeRules()
		if oldest := slices.IndexFunc(s.rules, func(r *Rule) bool { return !slices.Contains(active, r) }); oldest >= 0 {
			s.removeLocked(s.rules[oldest])
		}
	}
	s.rules = append(s.rules, r)
	if r.fault.Watches != faults.OpenWatches {
		s.activateLocked(append(slices.Clone(s.activeRules()), r))
		if s.options.OnInject != nil && !r.onlyDoes() {
			s.options.OnInject(r.fault, r.until)
		}
	}
}

// maxRules limits the rules that a Set keeps: beyond it, adding a rule removes the
// oldest rule that can hit nothing more, and ends its effects.
const maxRules = 4096

// Rules returns the rules that are not removed, in the order of their injection.
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

// Inherit injects the faults of another Set with their counts at zero, except those for
// open watches, and those with Do, which acts on the other server. The error is that of
// Inject.
func (s *Set) Inherit(from *Set) error {
	var list []faults.Fault
	for _, r := range from.Rules() {
		if r.fault.Watches != faults.OpenWatches && r.fault.Do == nil {
			list = append(list, r.fault)
		}
	}
	_, err := s.inject(list) // definitions may have changed since
	return err
}

func (s *Set) remove(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(r)
}

func (s *Set) removeLocked(r *Rule) {
	r.mu.Lock()
	removed := r.removed
	r.removed = true
	r.mu.Unlock()
	if removed {
		return
	}
	r.cancel(errRemoved)
	s.rules = without(s.rules, r)
	s.deactivateLocked(r, "removed")
	for st := range s.streams {
		st.detach(r)
	}
}

// retire removes a rule from the active ones: it can hit nothing more.
func (s *Set) retire(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retireLocked(r)
}

func (s *Set) retireLocked(r *Rule) { s.deactivateLocked(r, "used up") }

// deactivateLocked removes a rule from the active ones, if it is one of them.
func (s *Set) deactivateLocked(r *Rule, why string) {
	active := s.activeRules()
	if !slices.Contains(active, r) {
		return
	}
	s.activateLocked(without(active, r))
	if s.options.OnEnd != nil && !r.onlyDoes() && !r.expired() {
		s.options.OnEnd(r.fault, why)
	}
}

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

// open adds a watch that has begun, and applies watch faults to it.
func (s *Set) open(st *stream) {
	for _, r := range s.register(st) {
		if r.fault.HitsWatches() {
			s.apply(r, st)
		}
	}
}

// register adds a watch. It returns the rules that were active before: Inject applies
// later ones.
func (s *Set) register(st *stream) []*Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	st.number = s.opened
	s.streams[st] = struct{}{}
	return s.activeRules()
}

func (s *Set) closed(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st)
}

// streamsLocked returns the open watches, oldest first.
func (s *Set) streamsLocked() []*stream {
	return slices.SortedFunc(maps.Keys(s.streams), func(a, b *stream) int { return cmp.Compare(a.number, b.number) })
}

// apply attaches a watch fault to a watch if it matches and claims it. Fault.Matches is
// called without the lock: it may use the Set.
func (s *Set) apply(r *Rule, st *stream) {
	if r.expired() {
		s.retire(r)
		return
	}
	events := r.fault.HitsEvents()
	if events && !r.matcher.requestOf(&st.request) || !events && !r.matcher.request(&st.request) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.isRemoved() {
		return
	}
	if events {
		st.attach(r)
		return
	}
	n, last := r.claim(st.request.identity(), st.ended())
	if last {
		s.retireLocked(r)
	}
	if n > 0 {
		st.attach(r)
	}
}

// A hit is a rule that hits a request.
type hit struct {
	*Rule
	n int // the requests that the matcher has accepted, with this one
}

// hits returns the rules that hit a request, in order. Only the last one may
// respond to it, unless Do does.
func (s *Set) hits(r *Request) []hit {
	var out []hit
	responded := false
	for _, rule := range s.activeRules() {
		f := &rule.fault
		if f.Webhook != "" || f.HitsWatches() || f.ExpireContinue && !r.hasContinueToken() || f.ActsAfterServing() && r.IsLongRunning() || !rule.matcher.request(r) {
			continue
		}
		if rule.expired() {
			s.retire(rule)
			continue
		}
		n, last := rule.claim(r.identity(), responded)
		if last {
			s.retire(rule)
		}
		if n > 0 {
			out = append(out, hit{rule, n})
			responded = f.Responds()
		}
	}
	return out
}

// hasContinueToken reports whether the request is a list with a continue token.
func (r *Request) hasContinueToken() bool {
	return r.Verb == "list" && r.HTTP.URL.Query().Get("continue") != ""
}

// wait waits for d on the clock. It returns early if the rule is removed, the
// server closes, or ctx ends; then it returns the cause of ctx.
func (s *Set) wait(ctx context.Context, r *Rule, d time.Duration) error {
	timer := s.options.Clock.After(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Handler returns a handler that applies the faults. It calls next with the
// requests that no fault responds to.
func (s *Set) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		s.Serve(w, &Request{hr, route.Parse(hr.Method, hr.URL)}, handler{next})
	})
}
