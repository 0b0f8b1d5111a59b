package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A search is the exploration of one system.
type search struct {
	system   *System
	pace     Pace
	base     *fakeapi.Server
	real     *realCluster // in place of forks of base; nil without
	enclose  enclosure    // calls a function, in a bubble if there is one
	bubbles  bool         // enclose calls it in a bubble
	began    time.Time
	deadline time.Time
	report   *Report
	ref      *outcome
	files    planFiles

	mu      sync.Mutex            // guards cuts and patient
	cuts    map[int]*outcome      // runs without decisions that end with a pause; nil for one that does not settle
	patient map[*outcome]*outcome // for each of them and ref a run that goes on for Pace.Patience
	states  map[uint64]bool       // states that runs have reached
	lively  map[Decision]bool     // decisions that have led to new states
	done    map[string]bool       // pairs, and random plans that were run

	earlier *earlier // what is not tried again
	number  int      // of plans, with those of other shards
	ran     digests  // plans

	running runningFile
}

// maxDecisions is the number of decisions of a random plan.
const maxDecisions = 3

// run makes the reference run, plays the saved plans, and searches.
func (s *search) run(ctx context.Context) error {
	files, err := s.files.load()
	if err != nil {
		return err
	}
	if usable, err := s.reference(); err != nil || !usable || len(s.report.Findings) > 0 && !s.system.All {
		return err
	}
	if failed, err := s.saved(files); err != nil || failed && !s.system.Resume || s.files.only != "" {
		return err
	}
	for _, stage := range []struct {
		name  string
		plans func() []Plan
	}{{singlesStage, s.singles}, {pairsStage, s.pairs}} {
		plans := stage.plans()
		s.system.logf("%d plans are next, after %d", len(plans), s.report.Plans)
		if more, err := s.all(ctx, stage.name, plans); err != nil || !more {
			return err
		}
	}
	return s.random(ctx)
}

// reference makes the reference run twice. Without decisions the second run must end as
// the first one. It reports whether other runs can be compared with them.
func (s *search) reference() (usable bool, err error) {
	if s.ref, err = s.try(nil, false); err != nil {
		return false, err
	}
	var step *stepError
	if errors.As(s.ref.workload, &step) && step.own {
		return false, fmt.Errorf("explore: the workload fails without any fault: %w", step)
	}
	if len(s.ref.points) == 0 {
		return false, noRequest(s.ref)
	}
	for _, q := range s.ref.requests {
		if q.isWrite() && q.code >= http.StatusBadRequest && q.code != http.StatusConflict {
			s.system.logf("in the reference run the server answers the system's %s of %s with %d", q.route.Verb, q.path, q.code)
			break
		}
	}
	s.report.Points = countPoints(s.ref.points)
	s.report.asked(s.ref, true)
	violations, err := s.violations(s.ref, nil)
	if err != nil {
		return false, err
	}
	for _, v := range violations {
		if err := s.found(&Finding{Violation: v}, nil); err != nil {
			return false, err
		}
		if !comparable(v.Oracle) || !s.system.All {
			return false, nil
		}
	}
	again, err := s.try(nil, false)
	if err != nil {
		return false, err
	}
	violations, err = s.violations(again, s.ref)
	if err != nil {
		return false, err
	}
	if len(violations) > 0 {
		return false, s.found(&Finding{Violation: violations[0]}, s.ref)
	}
	if s.ref.generated {
		return s.judgeCourses()
	}
	return true, nil
}

// comparable reports whether other runs can be compared with a reference run that an oracle has
// reported.
func comparable(oracle Oracle) bool {
	return oracle == Orphans || oracle == Duplicates || oracle == WriteBudget || oracle == Holds
}

// A NoRequestError is the error of Search for a system that makes no request to its server.
type NoRequestError struct {
	Exit string // the error that Start has returned; "" if none
}

// Error implements error.
func (e *NoRequestError) Error() string {
	text := "explore: the system makes no request to the server that Start gets; "
	if e.Exit != "" {
		return text + "Start has returned: " + e.Exit
	}
	return text + "its clients need the transport of that server"
}

// noRequest returns why a system has made no request.
func noRequest(o *outcome) error {
	switch {
	case len(o.exits) > 0:
		return &NoRequestError{o.exits[0]}
	case o.workload != nil: // it has ended before the system has begun
		return fmt.Errorf("explore: the workload fails without any fault: %w", o.workload)
	}
	return &NoRequestError{}
}

// saved plays the plans of files and reports whether one fails.
func (s *search) saved(files []*planFile) (failed bool, err error) {
	for _, f := range files {
		if s.files.only == "" && !s.system.Shard.has(digestOf(f.Plan)) {
			continue
		}
		ref := s.ref
		if f.Pause > 0 {
			if ref, err = s.referenceUntil(f.Pause); err != nil {
				return false, err
			}
			if ref == nil {
				return false, fmt.Errorf("%s: without decisions the system does not settle after pause %d of the workload", f.name, f.Pause)
			}
		}
		o, err := s.tryUntil(f.Pause, f.Plan, true)
		if err != nil {
			return false, err
		}
		if s.files.only != "" {
			s.report.Unmade = o.unmade
		}
		v, err := s.violations(o, ref)
		if err != nil {
			return false, err
		}
		if len(v) > 0 {
			failed = true
			finding := &Finding{Violation: v[0], Plan: f.Plan, Pause: f.Pause, File: f.name, Saved: true, pages: o.pages, ref: ref}
			if s.real != nil {
				finding.Server = s.report.Server
			}
			if s.files.only != "" {
				if err := s.confirm(finding); err != nil {
					return false, err
				}
			}
			if err := s.files.saveStory(finding); err != nil {
				return false, err
			}
			s.report.Findings = append(s.report.Findings, finding)
		}
		s.report.Saved++
	}
	return failed, nil
}

// try runs a plan.
func (s *search) try(plan Plan, page bool) (*outcome, error) { return s.tryUntil(0, plan, page) }

// tryUntil runs a plan with a workload that ends with a pause, 0 for the whole workload.
func (s *search) tryUntil(pause int, plan Plan, page bool) (*outcome, error) {
	return s.follow(course{pause: pause}, plan, page)
}

// follow runs a plan with a course of the workload.
func (s *search) follow(c course, plan Plan, page bool) (*outcome, error) {
	var o *outcome
	var err error
	ref := s.measureOf(c, plan)
	start := time.Now()
	if s.bubbles {
		start = bubbleEpoch.next(4*s.pace.Limit + maxPatience*max(0, s.pace.Patience))
	}
	var steps stepCounter
	leaked := s.enclose(&steps, func() {
		time.Sleep(time.Until(start))
		t := &trial{system: s.system, pace: s.pace, plan: plan, course: c, ref: ref}
		if s.bubbles {
			t.turns = newTurns(&steps)
		}
		var on target
		if on, err = s.newTarget(); err == nil {
			o, err = t.run(on, page)
		}
		if s.bubbles {
			time.Sleep(2 * stopTimeout) // for goroutines that look now and then whether they should end
		}
	})
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, fmt.Errorf("explore: the run did not end: %w", leaked)
	}
	if leaked != nil {
		o.leaked = leaked.Error()
		var remain *remainError
		if errors.As(leaked, &remain) {
			o.remain = remain.places
		}
	}
	return o, nil
}

// measureOf returns the run with which a run of a plan and a course is compared, nil if that is none.
func (s *search) measureOf(c course, plan Plan) *outcome {
	switch {
	case plan == nil && c == course{pause: c.pause, patient: c.patient}:
		return nil // it is a reference run itself
	case c.pause == 0:
		return s.ref
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cuts[c.pause]
}

// asLongAs returns the reference run for a run that was compared with ref: another one that has gone
// on for Pace.Patience if the run has.
func (s *search) asLongAs(o, ref *outcome) (*outcome, error) {
	if !o.patient {
		return ref, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if long, ok := s.patient[ref]; ok {
		return long, nil
	}
	long, err := s.follow(course{pause: ref.course.pause, patient: true}, nil, false)
	if err != nil {
		return nil, err
	}
	s.patient[ref] = long
	return long, nil
}

// newTarget returns the server of a run.
func (s *search) newTarget() (target, error) {
	if s.real != nil {
		return s.real.newTarget()
	}
	return newFork(s.base)
}

// An epoch gives each run in a bubble a later time than the one before. A bubble starts in
// the year 2000, but what a process keeps between runs, such as the time of client-go's
// last error, must not be in the future; nor must the objects of the base. Runs begin at a
// whole second, so that timestamps of objects, which have no fractions, differ in all runs
// by the same, and a day after the base, so that none finds its objects young.
type epoch struct {
	mu     sync.Mutex // guards newest
	newest time.Time  // of the runs
}

// bubbleEpoch is that of the process, as is what the runs share.
var bubbleEpoch epoch

// baseAge is the age of the base when the first run begins.
const baseAge = 24 * time.Hour

// next returns the time at which a run starts that takes at most d.
func (e *epoch) next(d time.Duration) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	start := e.newest
	if earliest := time.Now().Add(baseAge).Truncate(time.Second); start.Before(earliest) {
		start = earliest
	}
	e.newest = start.Add(d).Truncate(time.Second)
	return start
}

// singles returns the plans with one decision. Actions take turns.
func (s *search) singles() []Plan {
	by := map[Action][]Plan{}
	crashed := map[uint64]bool{} // states of the server in which the system has ended
	tried := map[Action]map[uint64]bool{Crash: crashed, CrashAfter: crashed, Stop: {}, Rewind: {}}
	for _, p := range s.diverse(s.ref.points) {
		for _, do := range s.system.actionsAt(p.Point) {
			cover := s.report.coverage(p.sort(), do)
			cover.Points++
			revision := p.revision
			if do == CrashAfter {
				revision = max(revision, p.committed)
			}
			state := s.ref.stateAt(revision)
			if states := tried[do]; states[state] { // all that is left is the state of the server
				cover.Equal++
				continue
			} else if states != nil {
				states[state] = true
			}
			if s.isNew(p.Point) {
				by[do] = append(by[do], Plan{{do, p.Point}})
			}
		}
	}
	var out []Plan
	for i := 0; ; i++ {
		before := len(out)
		for _, do := range actions {
			if i < len(by[do]) {
				out = append(out, by[do][i])
			}
		}
		if len(out) == before {
			return out
		}
	}
}

// diverse returns points in the order in which plans try them. Points that are alike take
// turns: first comes one of each sort, then a second one of each. Two points are alike if
// they have the same verb or event, resource and client, and the workload does nothing
// between them. Of each turn, those of the resources that the workload changes are first:
// what a system does follows from them.
func (s *search) diverse(points []seenPoint) []seenPoint {
	type sort struct {
		phase                         int
		client, verb, event, resource string
	}
	type ranked struct {
		seenPoint
		turn, rank int
	}
	workload := s.ref.workloadChanges()
	seen := map[sort]int{}
	all := make([]ranked, len(points))
	for i, p := range points {
		phase, _ := slices.BinarySearchFunc(workload, p.revision+1, func(c *change, revision int64) int { return cmp.Compare(c.revision, revision) })
		key := sort{phase, p.Client, p.Verb, p.Event, p.Resource}
		all[i] = ranked{p, seen[key], 1}
		seen[key]++
		if slices.ContainsFunc(workload, func(c *change) bool { return c.what.Resource == p.Resource }) {
			all[i].rank = 0
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.rank, b.rank)) })
	out := make([]seenPoint, len(all))
	for i, r := range all {
		out[i] = r.seenPoint
	}
	return out
}

// pairs returns the plans with two decisions that concern the same objects, of which one
// leads to states that no other run has reached. Those of two such decisions come first. A shard
// does not know where the decisions of others lead: it has all pairs, those first of which earlier
// searches know it.
func (s *search) pairs() []Plan {
	decisions := s.decisions()
	sharded := s.system.Shard.Count > 0
	lively := make([]bool, len(decisions))
	for i, d := range decisions {
		lively[i] = !sharded && s.lively[d] || s.earlier.lively[digestOf(d)]
	}
	var both, one, none []Plan
	for i, a := range decisions {
		for j, b := range decisions[i+1:] {
			if a.At == b.At || !a.At.touches(b.At) || !s.isNew(a.At) && !s.isNew(b.At) {
				continue
			}
			plan := Plan{a, b}
			s.done[plan.String()] = true
			switch la, lb := lively[i], lively[i+1+j]; {
			case la && lb:
				both = append(both, plan)
			case la || lb:
				one = append(one, plan)
			case sharded:
				none = append(none, plan)
			}
		}
	}
	return slices.Concat(both, one, none)
}

// isNew reports whether plans may have decisions at a point only: with NewOnly those that no
// earlier search had.
func (s *search) isNew(p Point) bool { return !s.system.NewOnly || !s.earlier.points[digestOf(p)] }

// decisions returns the decisions at the points of the reference run, in their order.
func (s *search) decisions() []Decision {
	var out []Decision
	for _, p := range s.ref.points {
		for _, do := range s.system.actionsAt(p.Point) {
			out = append(out, Decision{do, p.Point})
		}
	}
	return out
}

// random runs random plans until the time is over.
func (s *search) random(ctx context.Context) error {
	all := s.decisions()
	if len(all) == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(s.system.Seed, 0))
	for misses := 0; misses < maxMisses; {
		plan := make(Plan, 0, maxDecisions)
		for range 2 + rng.IntN(maxDecisions-1) {
			d := all[rng.IntN(len(all))]
			if !slices.ContainsFunc(plan, func(other Decision) bool { return other.At == d.At }) {
				plan = append(plan, d)
			}
		}
		slices.SortFunc(plan, func(a, b Decision) int { return cmp.Compare(slices.Index(all, a), slices.Index(all, b)) })
		text := plan.String()
		isNew := slices.ContainsFunc(plan, func(d Decision) bool { return s.isNew(d.At) })
		if misses++; len(plan) == 1 || s.done[text] || !isNew {
			continue
		}
		misses = 0
		s.done[text] = true
		if more, err := s.all(ctx, randomStage, []Plan{plan}); err != nil || !more {
			return err
		}
	}
	return nil
}

// maxMisses is how many random plans in a row were run before until the search ends.
const maxMisses = 1000

// A numbered is a plan with its number among all plans of the search.
type numbered struct {
	Plan
	number int
}

// own returns those of plans that this search runs, and whether there may be more: not of other
// shards, and not those that an earlier search has run.
func (s *search) own(plans []Plan) (own []numbered, more bool) {
	for _, plan := range plans {
		d := digestOf(plan)
		if s.earlier.plans[d] {
			continue
		}
		if s.system.Plans > 0 && s.number >= s.system.Plans {
			return own, false
		}
		s.number++
		if s.system.Shard.has(d) {
			own = append(own, numbered{plan, s.number})
		}
	}
	return own, true
}

// all runs plans of a stage. It returns false when the search is over.
func (s *search) all(ctx context.Context, stage string, plans []Plan) (more bool, err error) {
	n := max(1, s.system.Parallel)
	own, more := s.own(plans)
	s.running.begin(stage, len(own))
	for batch := range slices.Chunk(own, n) {
		if ctx.Err() != nil || time.Now().After(s.deadline) {
			return false, nil
		}
		outcomes, errs := make([]*outcome, len(batch)), make([]error, len(batch))
		var wg sync.WaitGroup
		for i := range batch {
			forget := s.files.pending(batch[i].Plan, s.system.Seed)
			work := func() { outcomes[i], errs[i] = s.try(batch[i].Plan, false); forget() }
			if n == 1 {
				work()
				continue
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				work()
			}()
		}
		wg.Wait()
		for i, o := range outcomes {
			if errs[i] != nil {
				return false, errs[i]
			}
			if err := s.examine(o, batch[i].number); err != nil {
				return false, err
			}
			s.running.Done++
			s.say()
			if len(s.report.Findings) > 0 && !s.system.All {
				return false, nil
			}
		}
	}
	return more, nil
}

// examine checks the run of a plan with a number. Each violation is a finding of its own, whatever
// plans of other shards have had, unless the search ends with the first.
func (s *search) examine(o *outcome, number int) error {
	s.report.Plans++
	s.ran[digestOf(o.plan)] = true
	s.report.asked(o, false)
	fresh := false
	for state := range o.states {
		fresh = fresh || !s.states[state] && !s.ref.states[state]
		s.states[state] = true
	}
	if len(o.plan) == 1 {
		d := o.plan[0]
		s.lively[d] = fresh
		if o.fired[0] {
			s.report.coverage(d.At.sort(), d.Do).did(digestOf(d))
		}
	}
	violations, err := s.violations(o, s.ref)
	if err != nil {
		return err
	}
	for _, v := range violations {
		if s.known(o.plan, v) {
			continue
		}
		if err := s.found(&Finding{Violation: v, Plan: o.plan, first: number}, s.ref); err != nil || !s.system.All {
			return err
		}
	}
	if len(violations) > 0 {
		return nil
	}
	f, ref, err := s.wrongAtPause(o)
	if err != nil || f == nil || s.known(o.plan, f.Violation) {
		return err
	}
	f.first = number
	return s.found(f, ref)
}

// known counts a plan for the finding of a violation, and reports whether there is one.
func (s *search) known(plan Plan, v Violation) bool {
	for _, f := range slices.Concat(s.report.Findings, s.report.Unrepeated) {
		if f.Violation.same(v) && (f.Repeated > 0 || f.Saved || f.Plan.String() == plan.String()) {
			f.Plans++
			return true
		}
	}
	return false
}

// found adds a finding, with the decisions that it needs, and saves it. The run was compared
// with ref.
func (s *search) found(f *Finding, ref *outcome) error {
	f.Plans, f.Seed, f.ref, f.Server = 1, s.system.Seed, ref, s.report.Server
	if err := s.shrink(f); err != nil {
		return err
	}
	if err := s.confirm(f); err != nil {
		return err
	}
	if f.Repeated == 0 && len(f.Plan) > 0 {
		s.report.Unrepeated = append(s.report.Unrepeated, f)
		return nil
	}
	s.report.Findings = append(s.report.Findings, f)
	if s.system.All { // a search for one finding ends with its report
		s.system.logf("found after %d plans in %v: %s: %s, by %s", s.report.Plans, time.Since(s.began).Round(time.Millisecond), f.Oracle, f.Subject,
			strings.ReplaceAll(f.Plan.String(), "\n", ", and "))
	}
	if len(f.Plan) == 0 {
		return s.files.saveStory(f)
	}
	return s.files.save(f)
}

// shrink removes the decisions without which the violation happens too.
func (s *search) shrink(f *Finding) error {
	for i := 0; i < len(f.Plan) && len(f.Plan) > 1; {
		smaller := f.Plan.without(i)
		fails, err := s.fails(smaller, f)
		if err != nil {
			return err
		}
		if !fails {
			i++
			continue
		}
		f.Plan, i = smaller, 0
	}
	return nil
}

// confirm repeats the plan of a finding and counts how often it fails.
func (s *search) confirm(f *Finding) error {
	f.Tried = s.system.Repeat
	for range f.Tried {
		fails, err := s.fails(f.Plan, f)
		if err != nil {
			return err
		}
		if fails {
			f.Repeated++
		}
	}
	return nil
}

// violations returns what is wrong with a run whose workload ends with a pause, or at its own end.
// ref is nil for a reference run.
func (s *search) violations(o, ref *outcome) ([]Violation, error) {
	if ref != nil {
		var err error
		if ref, err = s.asLongAs(o, ref); err != nil {
			return nil, err
		}
	}
	if o.course.pause > 0 {
		return s.system.judgeUntil(o, ref), nil
	}
	found := s.system.judge(o, ref, s.pace)
	if ref == nil {
		leaks, err := s.growingLeaks(o)
		return append(found, leaks...), err
	}
	return found, nil
}

// fails runs a plan and reports whether it has the violation of a finding, whose detail
// and story it updates.
func (s *search) fails(plan Plan, f *Finding) (bool, error) {
	if f.course != (course{}) {
		v, o, err := s.judgeCourse(f.course)
		if err != nil || v == nil || !v.same(f.Violation) {
			return false, err
		}
		f.Violation, f.pages = *v, o.pages
		return true, nil
	}
	o, err := s.tryUntil(f.Pause, plan, true)
	if err != nil {
		return false, err
	}
	violations, err := s.violations(o, f.ref)
	if err != nil {
		return false, err
	}
	for _, v := range violations {
		if v.same(f.Violation) {
			f.Violation, f.pages = v, o.pages
			return true, nil
		}
	}
	return false, nil
}
