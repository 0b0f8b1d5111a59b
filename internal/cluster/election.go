package cluster

import (
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// With the gate CoordinatedLeaderElection, kube-apiserver elects the leaders of components: each
// component that can lead has a LeaseCandidate, and the server writes the name of the best one
// into the Lease.
//
// A step of an election looks at the Lease and its candidates. If the leader is gone or another
// candidate is better, the step pings the candidates whose last renewal is old, by a pingTime. A
// candidate answers by a renewal. When all have answered or had the time to, a step writes the
// best of those that answered into the Lease: as its holder if the Lease is free, else as its
// preferred holder, for which the holder makes room. Nothing is kept from one step to the next.
//
// A step follows each write of the Lease and of its candidates, before the write returns, and
// electionInterval after the last step while there are candidates.
//
// Differs from kube-apiserver: controller of coordinated leader elections: the API servers of a
// cluster elect the one that runs it, with the Lease leader-election-controller in kube-system.
// Here it runs in the process of the server, without a Lease, and its writes are there when the
// write that they follow from returns. Request: GET
// /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader-election-controller with the
// feature gate CoordinatedLeaderElection.
//
// Differs from kube-apiserver: expired LeaseCandidates: kube-apiserver deletes every 30 minutes
// those that have not been renewed for 30 minutes. Here they are deleted within five seconds, and
// one that was never renewed 30 minutes after its creation. Request: POST of a LeaseCandidate
// with a renewTime of an hour ago.

const (
	coordinationGroup = "coordination.k8s.io"

	// electionInterval is the time after which a Lease is looked at again.
	electionInterval = 5 * time.Second

	// answerTime is the time that candidates have to answer a ping.
	answerTime = 5 * time.Second

	// electedLeaseSeconds is the duration of a Lease that is given to a candidate.
	electedLeaseSeconds = 5
)

// An election is one of the holder of a Lease.
type election struct{ namespace, lease string }

// elections are those that have candidates.
type elections struct {
	mu     sync.Mutex // held during a step; guards the fields below
	timers map[election]*clock.Timer
	closed bool
}

// leaseCandidates returns the type of LeaseCandidates, nil if there are no coordinated elections.
func (c *Cluster) leaseCandidates(served *serving.Surface) *resource.Type {
	if !c.api().Release.Enabled("CoordinatedLeaderElection") {
		return nil
	}
	if t := served.Lookup(coordinationGroup, "v1beta1", "leasecandidates"); t != nil {
		return t
	}
	return served.Lookup(coordinationGroup, "v1alpha2", "leasecandidates")
}

// followElections makes a step of the elections whose Lease or candidates were written.
func (c *Cluster) followElections(w registry.Write) {
	t := c.leaseCandidates(w.Surface)
	if t == nil {
		return
	}
	seen := map[election]bool{}
	for i := range w.Events {
		e, ok := election{}, false
		if key := w.Events[i].Item.Key; w.Type.Name == "leases" {
			key, ok = strings.CutPrefix(key, w.Type.Prefix)
			e.namespace, e.lease, _ = strings.Cut(key, "/")
		} else if strings.HasPrefix(key, t.Prefix) {
			o := w.Events[i].Item.Value
			if o == nil {
				o = w.Events[i].Prev.Value
			}
			e, ok = c.electionOf(t, o)
		}
		if ok && !seen[e] {
			seen[e] = true
			c.elect(e)
		}
	}
}

// electionOf returns the election that a LeaseCandidate stands for, false if the candidate cannot be
// converted.
func (c *Cluster) electionOf(t *resource.Type, o *storage.Object) (election, bool) {
	stored, err := o.In(c.Context(), t)
	if err != nil {
		return election{}, false // unreachable: the versions of LeaseCandidates have the same fields
	}
	return election{o.Namespace, stored.Decoded(t).View().String("spec", "leaseName")}, true
}

// candidatesFor returns the valid candidates of each election of a namespace, "" being all. It
// deletes those that have expired.
func (c *Cluster) candidatesFor(t *resource.Type, namespace string) map[election][]leaseCandidate {
	now, out := c.Clock().Now(), map[election][]leaseCandidate{}
	for o := range c.Store().All(t.KeyPrefix(namespace)) {
		stored, err := o.In(c.Context(), t)
		if err != nil {
			continue // unreachable: the versions of LeaseCandidates have the same fields
		}
		obj := stored.Decoded(t).View()
		candidate := newLeaseCandidate(stored, obj)
		if candidate.expired(now) {
			r := followingRequest(registry.Request{Type: t, Namespace: o.Namespace, Name: o.Name})
			_, _ = c.Delete(c.Context(), r, &registry.DeleteOptions{}) // fails if it is gone already
			continue
		}
		e := election{o.Namespace, obj.String("spec", "leaseName")}
		out[e] = append(out[e], candidate)
	}
	return out
}

// electAll makes a step of all elections.
func (c *Cluster) electAll() {
	t := c.leaseCandidates(c.Surface())
	if t == nil {
		return
	}
	for e := range c.candidatesFor(t, "") {
		c.elect(e)
	}
}

// copyElections schedules the steps in a fork that its parent has scheduled.
func (c *Cluster) copyElections(parent *Cluster) {
	parent.elections.mu.Lock()
	defer parent.elections.mu.Unlock()
	c.elections.mu.Lock()
	defer c.elections.mu.Unlock()
	for e := range parent.elections.timers {
		c.scheduleElection(e)
	}
}

// scheduleElection schedules the next step of an election. The caller holds c.elections.mu.
func (c *Cluster) scheduleElection(e election) {
	if c.elections.timers == nil {
		c.elections.timers = map[election]*clock.Timer{}
	}
	c.elections.timers[e] = c.Clock().AfterFunc(electionInterval, func() { c.elect(e) })
}

// elect makes a step of an election, and schedules the next one.
func (c *Cluster) elect(e election) {
	s := &c.elections
	s.mu.Lock()
	defer s.mu.Unlock()
	t, leases := c.leaseCandidates(c.Surface()), c.Surface().Lookup(coordinationGroup, "v1", "leases")
	if t == nil || leases == nil || s.closed {
		return
	}
	if timer := s.timers[e]; timer != nil {
		timer.Stop()
		delete(s.timers, e)
	}
	candidates := c.candidatesFor(t, e.namespace)[e]
	if len(candidates) == 0 {
		return
	}
	c.stepElection(e, t, leases, candidates)
	c.scheduleElection(e)
}

// stepElection pings candidates, or writes the best one into the Lease. It does nothing if the
// Lease needs no election, and if candidates have still time to answer. A write that loses a race
// is not repeated: the step that follows the other write makes it.
func (c *Cluster) stepElection(e election, t, leases *resource.Type, candidates []leaseCandidate) {
	now := c.Clock().Now()
	lease := c.leaseOf(leases, e)
	if !electionNeeded(lease, candidates, now) || c.pingCandidates(t, candidates, now) {
		return
	}
	var answered []leaseCandidate
	for _, candidate := range candidates {
		switch {
		case within(answerTime, candidate.pinged, now) && candidate.waitsForAnswer():
			return
		case within(answerTime, candidate.renewed, now):
			answered = append(answered, candidate)
		}
	}
	if len(answered) == 0 {
		return
	}
	strategy, ok := bestStrategy(answered)
	if !ok {
		return
	}
	holder := "" // a strategy of others, who elect
	if strategy == oldestEmulationVersion {
		if holder = bestCandidate(answered); holder == "" {
			return
		}
	}
	if lease == nil {
		c.createLease(leases, e, strategy, holder)
	} else {
		c.updateLease(leases, lease, strategy, holder)
	}
}

// pingCandidates pings the candidates that were not renewed lately and have answered the last
// ping. It reports whether one of the candidates has still time to answer.
func (c *Cluster) pingCandidates(t *resource.Type, candidates []leaseCandidate, now time.Time) (waits bool) {
	for i := range candidates {
		candidate := &candidates[i]
		switch {
		case within(answerTime, candidate.pinged, now) && candidate.waitsForAnswer():
			waits = true
		case within(answerTime, candidate.renewed, now):
		case candidate.pinged.Add(answerTime).Before(now) && !candidate.waitsForAnswer():
			waits = true
			c.changeOwn(t, candidate.stored, func(edit *object.Edit) { edit.Set(clock.MicroTimestamp(now), "spec", "pingTime") })
		}
	}
	return waits
}

// electionNeeded reports whether a Lease, which is nil if there is none, needs another holder or
// its candidates a ping.
func electionNeeded(lease *electedLease, candidates []leaseCandidate, now time.Time) bool {
	if lease == nil || lease.expired(now) || lease.holder == "" {
		return true
	}
	for _, candidate := range candidates {
		if candidate.renewed.Add(candidateLifetime / 2).Before(now) {
			return true
		}
	}
	if strategy, ok := bestStrategy(candidates); !ok || strategy != oldestEmulationVersion {
		return false
	}
	best := bestCandidate(candidates)
	return best != "" && best != lease.holder
}

// An electedLease is a Lease that has candidates.
type electedLease struct {
	stored  *storage.Object
	holder  string
	renewed time.Time
	seconds int64
}

// leaseOf returns the Lease of an election, nil if there is none.
func (c *Cluster) leaseOf(t *resource.Type, e election) *electedLease {
	o := c.Store().Newest(t.Key(e.namespace, e.lease))
	if o == nil {
		return nil
	}
	stored, err := o.In(c.Context(), t)
	if err != nil {
		return nil // unreachable: the versions of Leases have the same fields
	}
	obj := stored.Decoded(t).View()
	seconds, _ := obj.Int("spec", "leaseDurationSeconds")
	return &electedLease{stored, obj.String("spec", "holderIdentity"), timeAt(obj, "spec", "renewTime"), seconds}
}

func (l *electedLease) expired(now time.Time) bool {
	return l.renewed.IsZero() || l.seconds == 0 || l.renewed.Add(time.Duration(l.seconds)*time.Second).Before(now)
}

// createLease creates the Lease of an election, with the holder unless it is "".
func (c *Cluster) createLease(t *resource.Type, e election, strategy, holder string) {
	spec := map[string]any{"strategy": strategy, "leaseDurationSeconds": int64(electedLeaseSeconds), "renewTime": clock.MicroTimestamp(c.Clock().Now())}
	if holder != "" {
		spec["holderIdentity"] = holder
	}
	obj := map[string]any{
		"apiVersion": t.GroupVersion.String(), "kind": t.Kind,
		"metadata": map[string]any{"namespace": e.namespace, "name": e.lease}, "spec": spec,
	}
	r := followingRequest(registry.Request{Type: t, Namespace: e.namespace})
	_, _ = c.Create(c.Context(), r, registry.Body{Object: obj}, &registry.WriteOptions{}) // fails in a Namespace that is being deleted
}

// updateLease sets the strategy of a Lease, and the holder unless it is "": at once if the Lease is
// free, else as the preferred one.
func (c *Cluster) updateLease(t *resource.Type, lease *electedLease, strategy, holder string) {
	free := lease.holder == "" || lease.expired(c.Clock().Now()) && lease.holder != holder
	c.changeOwn(t, lease.stored, func(edit *object.Edit) {
		edit.Set(strategy, "spec", "strategy")
		switch {
		case holder == "":
		case free:
			edit.Set(holder, "spec", "holderIdentity")
			edit.Set(clock.MicroTimestamp(c.Clock().Now()), "spec", "renewTime")
			edit.Set(int64(electedLeaseSeconds), "spec", "leaseDurationSeconds")
			edit.Delete("spec", "preferredHolder")
			edit.Delete("spec", "acquireTime")
		case holder != lease.holder:
			edit.Set(holder, "spec", "preferredHolder")
		}
	})
}

// changeOwn changes an object of an election, unless it has changed or nothing of it changes.
func (c *Cluster) changeOwn(t *resource.Type, stored *storage.Object, change func(*object.Edit)) {
	r := followingRequest(registry.Request{Type: t, Namespace: stored.Namespace, Name: stored.Name})
	_ = c.Change(c.Context(), r, registry.OwnChange{ // fails with ErrConflict
		Of: stored,
		Update: func(edit *object.Edit) error {
			change(edit)
			return nil
		},
	})
}

// close ends the steps, and waits for one that runs.
func (s *elections) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, timer := range s.timers {
		timer.Stop()
	}
}
