package explore

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/journal"
)

// A trial is one run of the system: the reference run, or a run with a plan.
type trial struct {
	system *System
	pace   Pace
	plan   Plan
	course course   // its pause is 0 for a workload that ends by itself
	ref    *outcome // the run with which this one is compared; nil for none
	target target
	base   int64 // revision of the target at the start

	life  *supervisor
	turns *turns // of requests and deliveries; nil without a bubble

	inForce atomic.Int32 // decisions that still have an effect

	mu        sync.Mutex // guards the fields below
	pauses    []pause    // of the workload
	generated bool       // the workload is one of Changes
	versions  []string   // of the objects of Changes, beside the storage version
	healed    bool       // no decision is made any more
	requests  []*request // of the system
	tells     []tell
	points    []seenPoint
	counts    map[Point]int // points seen, by their fields without Nth
	fired     []bool        // decisions of the plan that were made
	names     map[objectKey]string
	releases  []func()            // of held watches
	stale     view                // of which the next incarnation has a front end; nil for the present state
	unmade    map[Decision]string // why, of decisions that the target could not make
	views     map[Decision]view
	changes   []change // as far as they are harvested
	next      int64    // revision of the first change that is not harvested
}

// A seenPoint is a point that a run has reached.
type seenPoint struct {
	Point
	time      time.Time
	revision  int64 // of the server
	committed int64 // revision of the server after a write; 0 if it was not served
}

// harvestInterval is the number of requests of the system after which the changes are read: the
// server does not remember for long who has made them.
const harvestInterval = 256

// runControllers lets the controllers of the server finish what they have to do now, so that
// they do not race with the system. They may wait for the system, if it serves webhooks.
func (t *trial) runControllers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	t.target.runControllers(ctx)
}

// run runs the trial. The outcome is complete, except that nothing is judged.
func (t *trial) run(on target, page bool) (*outcome, error) {
	o, err := t.runOn(on, page)
	return o, errors.Join(err, on.close())
}

func (t *trial) runOn(on target, page bool) (*outcome, error) {
	t.target, t.base = on, on.revision()
	t.next = t.base + 1
	t.counts, t.names, t.fired = map[Point]int{}, map[objectKey]string{}, make([]bool, len(t.plan))
	t.unmade, t.views = map[Decision]string{}, map[Decision]view{}
	if _, err := on.inject(t.probes()...); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if t.turns != nil {
		go t.turns.run(ctx)
	}
	t.life = newSupervisor(ctx, t)
	go t.life.run()
	o := &outcome{before: on.before, plan: t.plan, course: t.course}
	t.started()

	working, finish := context.WithTimeout(ctx, t.pace.Limit)
	if t.system.Workload != nil {
		time.Sleep(skew)
		o.workload = t.system.Workload(context.WithValue(working, pauseKey{}, t), on.users())
	}
	if errors.Is(o.workload, errPaused) {
		o.workload = nil
	}
	finish()
	t.calm(min(t.pace.Hold, t.pace.Quiet), t.pace.Limit)
	if t.rewound() {
		t.life.restart()
		t.calm(min(t.pace.Hold, t.pace.Quiet), t.pace.Limit)
	}
	t.heal()
	if !t.calm(t.pace.Quiet, t.pace.Limit) {
		o.unsettled = true
	}
	if t.course.restart && !o.unsettled {
		o.restarted = t.harvest()
		t.life.restart()
		o.unsettled = !t.calm(t.pace.Quiet, t.pace.Limit)
	}
	t.read(o)
	if !o.unsettled && t.course.patient || t.isOther(o) {
		o.patient = true
		t.calm(t.pace.Patience, maxPatience*t.pace.Patience)
		t.read(o)
	}
	if page {
		var err error
		if o.pages, err = on.story(); err != nil {
			return nil, err
		}
	}
	cancel()
	<-t.life.done
	o.exits, o.panics, o.starts = t.life.exits, t.life.panics, t.life.starts
	o.unmade = t.whyUnmade()
	t.release()
	return o, nil
}

// maxPatience is how many times Pace.Patience a run may go on that ends in another state than the
// reference run.
const maxPatience = 3

// isOther reports whether a run that has settled is in another state than the one with which it is
// compared, and may come to the same later.
func (t *trial) isOther(o *outcome) bool {
	return t.ref != nil && t.pace.Patience > 0 && !o.unsettled && len(t.system.differences(o, t.ref)) > 0
}

// read sets what is known of the run so far as its outcome.
func (t *trial) read(o *outcome) {
	o.end = time.Now()
	t.harvest()
	t.mu.Lock() // requests may still be served
	defer t.mu.Unlock()
	o.requests, o.points, o.changes = slices.Clone(t.requests), slices.Clone(t.points), slices.Clone(t.changes)
	o.fired, o.pauses, o.tells = t.fired, slices.Clone(t.pauses), t.tells
	o.generated, o.versions = t.generated, t.versions
	o.watches = nil
	o.begun = map[string]bool{}
	for _, q := range o.requests {
		if q.route.Verb != "watch" {
			continue
		}
		if q.watchesAt(o.end, t.pace) {
			o.watches = append(o.watches, q.client+" "+q.path)
		}
		if q.of == o.requests[len(o.requests)-1].of {
			o.begun[q.client+" "+q.path] = true
		}
	}
	o.summarize(t.pace)
}

// whyUnmade returns the decisions that were not made, with the reasons.
func (t *trial) whyUnmade() []Unmade {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Unmade
	for i, d := range t.plan {
		why := t.unmade[d]
		switch v := t.views[d]; {
		case !t.fired[i]:
			why = "the run did not come to this point"
		case v != nil && !v.used():
			why = "the system has demanded the present state in each list after its start, which no API server answers from an older one"
		}
		if why != "" {
			out = append(out, Unmade{d, why})
		}
	}
	return out
}

const (
	// startTimeout is how long the start of a system may take before its workload begins.
	startTimeout = time.Minute
	// startNotice is the time after which a reference run outside of a bubble logs that the
	// system has made no request yet.
	startNotice = 5 * time.Second
)

// started waits until the system has started and asks for nothing. It ends early if the
// system fails until it is not started again.
func (t *trial) started() {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	began, silent := time.Now(), t.turns == nil && t.plan == nil
	for {
		t.target.settle(ctx)
		for t.turns != nil && !t.turns.steps.idle() && ctx.Err() == nil {
			time.Sleep(stepTime)
		}
		t.mu.Lock()
		asked := len(t.requests) > 0
		t.mu.Unlock()
		if asked || t.life.isDone() || t.target.users().Clock().Sleep(ctx, t.pace.Restart) != nil {
			return
		}
		if silent && time.Since(began) >= startNotice {
			t.system.logf("the system has made no request to its server for %v; a run waits %v for the first one", startNotice, startTimeout)
			silent = false
		}
	}
}

// heal ends all that decisions have caused: events that are held are sent, and a stopped
// system starts.
func (t *trial) heal() {
	t.mu.Lock()
	t.healed = true
	t.mu.Unlock()
	t.release()
	t.life.resume()
}

// release sends what is held.
func (t *trial) release() {
	t.mu.Lock()
	releases := t.releases
	t.releases = nil
	t.mu.Unlock()
	for _, release := range releases {
		release()
	}
}

// calm waits until nothing has been written for some time. It returns false if that takes
// longer than limit.
func (t *trial) calm(quiet, limit time.Duration) bool {
	began := time.Now()
	last, seen := began, t.target.revision()
	for {
		now := time.Now()
		if writes := t.target.writes(seen + 1); len(writes) > 0 {
			seen = writes[len(writes)-1].Revision
			for _, w := range writes {
				if len(progress(w.Write)) > 0 || len(w.Changes) == 0 {
					last = now
				}
			}
		}
		t.mu.Lock()
		for i := len(t.requests) - 1; i >= 0; i-- {
			q := t.requests[i]
			if q.isWrite() && q.counts() && q.began.After(last) {
				last = q.began
			}
			if !q.began.After(last) {
				break
			}
		}
		t.mu.Unlock()
		switch left := quiet - now.Sub(last); {
		case left <= 0:
			return true
		case now.Sub(began) > limit:
			return false
		default:
			time.Sleep(max(left, time.Millisecond))
		}
	}
}

// progress returns the changes of a write without those in the background, to which the
// heartbeats of Nodes belong.
func progress(w journal.Write) []journal.Change {
	kubelet := strings.HasPrefix(w.Writer.UserAgent, "kubelet/")
	return slices.DeleteFunc(slices.Clone(w.Changes), func(c journal.Change) bool {
		return isBackground(c.Resource) || kubelet && c.Resource == "nodes" && c.Type == journal.Modified
	})
}

// observe records the point of a request or of an event, and makes the decisions for it.
func (t *trial) observe(p *faults.Point) {
	q := requestOf(p.Request)
	if q.of.dead.Load() {
		p.Reset()
		return
	}
	if p.Event != "" && t.turns != nil && !t.turns.deliver(p) || isBackground(p.Resource) {
		return
	}
	pt := Point{Cluster: q.in, Client: clientOf(p.UserAgent), Verb: p.Verb, Event: p.Event, Resource: p.Resource, Namespace: p.Namespace}
	if !pt.isWrite() && p.Event == "" && p.Verb != "list" || isReview(q.route.Group) {
		return
	}
	if p.Event != "" || pt.isWrite() {
		pt.Name = t.nameOf(objectKey{strings.Split(p.Resource, "/")[0], p.Namespace, p.Name, q.in})
	}
	pt.More = p.Verb == "list" && p.Request.URL.Query().Get("continue") != ""
	t.mu.Lock()
	t.counts[pt]++
	pt.Nth = t.counts[pt]
	t.points = append(t.points, seenPoint{Point: pt, time: time.Now(), revision: t.target.revision()})
	if pt.isWrite() {
		q.point = len(t.points) - 1
	}
	var todo []Action
	for i, d := range t.plan {
		if d.At == pt && !t.healed {
			t.fired[i] = true
			q.decided = true
			todo = append(todo, d.Do)
		}
	}
	t.mu.Unlock()
	for _, do := range todo {
		d := Decision{do, pt}
		if why := t.target.refuses(do); why != "" {
			t.mu.Lock()
			t.unmade[d] = why
			t.mu.Unlock()
			continue
		}
		p.Note("explore: " + d.String())
		t.act(d, p)
	}
}

// commit makes the decisions for a request that is served.
func (t *trial) commit(p *faults.Point) {
	q := requestOf(p.Request)
	t.mu.Lock()
	lose, crash := q.lose, q.crash
	if q.route.Verb == "get" && p.Code < http.StatusBadRequest {
		t.tellLocked(q, tell{key: objectKey{strings.Split(p.Resource, "/")[0], p.Namespace, p.Name, q.in}, version: p.ResourceVersion})
	}
	q.made = p.UID
	if q.point >= 0 {
		t.points[q.point].committed = t.target.revision()
	}
	t.mu.Unlock()
	if crash {
		t.life.crash(q.of, false)
	}
	if lose || crash || q.of.dead.Load() {
		p.Reset()
	}
}

// act makes a decision at its point.
func (t *trial) act(d Decision, p *faults.Point) {
	q := requestOf(p.Request)
	switch do := d.Do; do {
	case Crash, Stop:
		t.life.crash(q.of, do == Stop)
		p.Reset()
	case CrashAfter, Lose:
		t.mu.Lock()
		q.crash, q.lose = do == CrashAfter, do == Lose
		t.mu.Unlock()
	case Conflict:
		p.Fail(http.StatusConflict)
	case Expire:
		p.Respond(faults.Fault{Code: http.StatusGone, Reason: "Expired"})
	case Compact:
		if err := t.target.compact(d.At.Cluster, t.harvest()); err != nil { // later writes go on meanwhile
			panic("explore: " + err.Error()) // unreachable: the revision exists
		}
		p.Respond(faults.Fault{Code: http.StatusInternalServerError})
	case Hold:
		t.hold(p, t.pace.Hold)
	case Rewind:
		t.rewind(d)
	case Partition:
		t.partition(d.At.Cluster)
		if p.Event != "" {
			t.hold(p, t.pace.Hold)
		} else {
			p.Reset()
		}
	case Delay:
		d := t.pace.Hold / 4
		remove, err := t.target.inject(faults.Fault{EventDelay: d, Watches: faults.OpenWatches, Matches: func(r *http.Request) bool { return requestOf(r) == q }})
		if err != nil {
			panic("explore: " + err.Error()) // unreachable: the fault is valid
		}
		t.inForce.Add(1) // until the workload is over
		t.mu.Lock()
		t.releases = append(t.releases, remove)
		t.mu.Unlock()
		t.hold(p, d)
	}
}

// hold withholds an event and those after it for d, at most until release.
func (t *trial) hold(p *faults.Point, d time.Duration) {
	t.inForce.Add(1)
	hold := p.Hold()
	t.releaseLater(d, func() {
		hold()
		t.inForce.Add(-1)
	})
}

// partition cuts the system off from a cluster for Pace.Hold, at most until release.
func (t *trial) partition(cluster string) {
	within := func(r *http.Request) bool { q := requestOf(r); return q != nil && q.in == cluster }
	remove, err := t.target.inject(faults.Fault{Matches: within, Reset: true}, faults.Fault{Matches: within, Watch: faults.PauseWatch})
	if err != nil {
		panic("explore: " + err.Error()) // unreachable: the faults are valid
	}
	t.inForce.Add(1)
	t.releaseLater(t.pace.Hold, func() {
		remove()
		t.inForce.Add(-1)
	})
}

// releaseLater calls f once: after d, at most until release.
func (t *trial) releaseLater(d time.Duration, f func()) {
	f = sync.OnceFunc(f)
	timer := time.AfterFunc(d, f)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releases = append(t.releases, func() {
		timer.Stop()
		f()
	})
}

// rewind makes a view that stays at the present state, for a decision.
func (t *trial) rewind(d Decision) {
	r, err := t.target.rewind(d.At.Cluster, t.probes())
	if err != nil {
		panic("explore: " + err.Error()) // unreachable: the target is open, and the faults are valid
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stale == nil {
		t.inForce.Add(1)
	}
	t.stale, t.views[d] = r, r
}

// rewound reports whether there is a view that no incarnation has used yet.
func (t *trial) rewound() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stale != nil
}

// frontEnd starts the front end of an incarnation. A view that stays behind
// continues after Pace.Hold.
func (t *trial) frontEnd(i *incarnation, gate wrapper) (*fakeapi.Server, error) {
	if v := t.takeView(i); v != nil {
		return v.frontEnd(gate)
	}
	return t.target.frontEnd(gate)
}

// takeView returns the view of an incarnation that begins, nil for the present state.
func (t *trial) takeView(i *incarnation) view {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.stale
	if r == nil || t.healed {
		return nil
	}
	t.stale = nil
	i.old.Store(true)
	thaw := sync.OnceFunc(func() {
		r.thaw()
		i.old.Store(false)
		t.inForce.Add(-1)
	})
	timer := time.AfterFunc(t.pace.Hold, thaw)
	t.releases = append(t.releases, func() {
		timer.Stop()
		thaw()
	})
	return r
}

// probes returns the faults that reach observe and commit.
func (t *trial) probes() []faults.Fault {
	return []faults.Fault{
		{Matches: fromSystem, Do: t.observe},
		{Matches: fromSystem, At: faults.AfterCommit, Do: t.commit},
		{Matches: fromSystem, At: faults.BeforeDelivery, Do: t.observe},
		{Matches: fromSystem, At: faults.AfterDelivery, Do: t.delivered},
	}
}

// What client libraries append to names, as the server does to metadata.generateName.
const (
	randomLength     = 5
	randomCharacters = "bcdfghjklmnpqrstvwxz2456789"
)
