// Package scheduler has the scheduler: it assigns Pods to Nodes as kube-scheduler does,
// as far as the API shows it.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/.
package scheduler

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/controllers/controller"
)

// profile is the schedulerName of the Pods that the scheduler assigns.
const profile = "default-scheduler"

type scheduler struct {
	env    *controller.Env
	client *controller.Client
	events *controller.SeriesRecorder
	cache  *cache

	pods       *controller.Informer
	namespaces *controller.Informer
	claims     *controller.Informer
	volumes    *controller.Informer
	classes    *controller.Informer
	budgets    *controller.Informer

	next    *controller.Queue             // has one key, which schedules the next Pod of active
	active  pending                       // the Pods to schedule, by priority
	waiting map[controller.Key]*entry     // all pending Pods
	flush   *controller.Queue             // of rejected Pods that nothing has made schedulable
	volume  map[controller.Key]*volumeJob // Pods that have a Node and wait for their volumes
	order   int                           // of the newest entry
}

// An entry is a pending Pod.
type entry struct {
	pod      *pod
	order    int
	active   bool
	rejected map[string]bool // the plugins that rejected it; nil if it was not tried yet
}

// A volumeJob is a Pod whose claims are being bound for a Node.
type volumeJob struct {
	pod   *pod
	order int // as of its entry
	node  string
	until time.Time
}

const (
	// flushAfter is how long a rejected Pod waits for an event that may make it
	// schedulable.
	flushAfter = 5 * time.Minute
	// volumeTimeout is how long the scheduler waits until the volumes of a Pod are
	// bound.
	volumeTimeout = 10 * time.Minute
)

// Start starts the scheduler.
func Start(e *controller.Env) {
	user := &authn.User{Name: "system:kube-scheduler", Groups: []string{authn.AuthenticatedGroup}}
	s := &scheduler{
		env: e, client: e.ClientAs(user, "kube-scheduler"), cache: newCache(),
		waiting: map[controller.Key]*entry{}, volume: map[controller.Key]*volumeJob{},
	}
	s.events = e.SeriesRecorder(s.client, profile)
	s.next = e.Queue(s.scheduleNext)
	s.flush = e.Queue(s.flushRejected)
	s.namespaces = e.Informer(controller.Namespaces)
	e.Informer(controller.Nodes, s.nodeChanged)
	s.pods = e.Informer(controller.Pods, s.podChanged)
	s.claims = e.Informer(controller.PersistentVolumeClaims, func(_, _ *controller.Object) { s.volumeChanged() })
	s.volumes = e.Informer(controller.PersistentVolumes, func(_, _ *controller.Object) { s.volumeChanged() })
	s.classes = e.Informer(controller.StorageClasses, func(_, _ *controller.Object) { s.volumeChanged() })
	s.budgets = e.Informer(controller.PodDisruptionBudgets)
}

// pending is a heap of Pods: the highest priority first, then the first that came.
type pending []*entry

func (h pending) Len() int { return len(h) }
func (h pending) Less(i, j int) bool {
	if h[i].pod.priority != h[j].pod.priority {
		return h[i].pod.priority > h[j].pod.priority
	}
	return h[i].order < h[j].order
}
func (h pending) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pending) Push(x any)   { *h = append(*h, x.(*entry)) }
func (h *pending) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}

// entry returns an entry behind all others.
func (s *scheduler) entry(p *pod) *entry {
	s.order++
	return &entry{pod: p, order: s.order}
}

// activate queues a pending Pod for the next attempt.
func (s *scheduler) activate(e *entry) {
	if e.active {
		return
	}
	e.active = true
	heap.Push(&s.active, e)
	s.next.Add(controller.Key{})
}

// nodeChanged follows a Node.
func (s *scheduler) nodeChanged(old, new *controller.Object) {
	if new == nil {
		s.cache.setNode(old.Name, nil)
		return
	}
	s.cache.setNode(new.Name, new)
	if old != nil && sameForScheduling(old, new) {
		return
	}
	s.wake(nodeEvent)
}

// sameForScheduling reports whether a change of a Node cannot make a Pod schedulable.
func sameForScheduling(old, new *controller.Object) bool {
	a, b := old.View(), new.View()
	return reflect.DeepEqual(old.Labels, new.Labels) &&
		a.At("spec", "taints").Equal(b.At("spec", "taints")) &&
		a.Bool("spec", "unschedulable") == b.Bool("spec", "unschedulable") &&
		a.At("status", "allocatable").Equal(b.At("status", "allocatable"))
}

// podChanged follows a Pod: an assigned one takes room on its Node, another one waits.
func (s *scheduler) podChanged(old, new *controller.Object) {
	if new == nil {
		s.forget(old.Key())
		if s.cache.assigned[old.Key()] != nil {
			s.cache.unassign(old.Key())
			s.wake(podRemoved)
		}
		return
	}
	k := new.Key()
	obj := new.View()
	if old != nil && old.UID != new.UID {
		s.forget(k)
		s.cache.unassign(k)
	}
	switch node := obj.String("spec", "nodeName"); {
	case controller.PodEnded(obj):
		s.forget(k)
		if s.cache.assigned[k] != nil {
			s.cache.unassign(k)
			s.wake(podRemoved)
		}
	case node != "":
		s.forget(k)
		before := s.cache.assigned[k]
		p := s.cache.read(new)
		s.cache.assign(p, node)
		switch {
		case before == nil || before.view().String("spec", "nodeName") == "": // known, or only assumed
			s.wake(podAdded)
		case !reflect.DeepEqual(before.object.Labels, new.Labels) || !reflect.DeepEqual(before.requests, p.requests):
			s.wake(podUpdated)
		}
	case s.cache.assigned[k] != nil: // its binding was written, or waits for its volumes
	case obj.String("spec", "schedulerName") != profile:
	case obj.Len("spec", "schedulingGates") > 0:
		s.forget(k)
	default:
		s.enqueue(old, new)
	}
}

// enqueue queues a Pod that has no Node. A Pod that was rejected waits for an event,
// unless it has changed itself.
func (s *scheduler) enqueue(old, new *controller.Object) {
	k := new.Key()
	e := s.waiting[k]
	if e == nil {
		e = s.entry(s.cache.read(new))
		s.waiting[k] = e
		s.nominate(e.pod)
		s.activate(e)
		return
	}
	s.unnominate(e.pod)
	priority := e.pod.priority
	e.pod = s.cache.read(new)
	s.nominate(e.pod)
	if e.active {
		if e.pod.priority != priority {
			heap.Init(&s.active)
		}
		return
	}
	if old == nil || !old.View().At("spec").Equal(new.View().At("spec")) || !reflect.DeepEqual(old.Labels, new.Labels) {
		s.activate(e)
	}
}

// forget removes a Pod from those that wait.
func (s *scheduler) forget(k controller.Key) {
	delete(s.volume, k)
	e := s.waiting[k]
	if e == nil {
		return
	}
	s.unnominate(e.pod)
	delete(s.waiting, k)
	for i := range s.active {
		if s.active[i] == e {
			heap.Remove(&s.active, i)
			break
		}
	}
}

func (s *scheduler) nominate(p *pod) {
	if name := p.view().String("status", "nominatedNodeName"); name != "" {
		s.cache.node(name).nominated[p.key()] = p
	}
}

func (s *scheduler) unnominate(p *pod) {
	if name := p.view().String("status", "nominatedNodeName"); name != "" {
		n := s.cache.node(name)
		delete(n.nominated, p.key())
		s.cache.forget(n)
	}
}

// Events that may make rejected Pods schedulable.
type event int

const (
	nodeEvent event = iota
	podAdded
	podUpdated
	podRemoved
	volumeEvent
)

// helps are the events that may end the rejection by a plugin. An event of Nodes may
// end each.
var helps = map[string][]event{
	"NodePorts":          {podRemoved},
	"NodeResourcesFit":   {podRemoved, podUpdated},
	"VolumeRestrictions": {podRemoved, volumeEvent},
	"VolumeBinding":      {volumeEvent},
	"PodTopologySpread":  {podAdded, podUpdated, podRemoved},
	"InterPodAffinity":   {podAdded, podUpdated, podRemoved},
}

// wake queues the Pods that an event may have made schedulable.
func (s *scheduler) wake(ev event) {
	var woken []*entry
	for _, e := range s.waiting {
		if e.active {
			continue
		}
		if ev == nodeEvent || e.helpedBy(ev) {
			woken = append(woken, e)
		}
	}
	for _, e := range woken {
		s.activate(e)
	}
}

func (e *entry) helpedBy(ev event) bool {
	for plugin := range e.rejected {
		for _, helpful := range helps[plugin] {
			if helpful == ev {
				return true
			}
		}
	}
	return false
}

// volumeChanged follows claims, volumes and classes.
func (s *scheduler) volumeChanged() {
	jobs := slices.Collect(maps.Values(s.volume))
	slices.SortFunc(jobs, func(a, b *volumeJob) int { return cmp.Compare(a.order, b.order) })
	for _, j := range jobs {
		s.next.Add(j.pod.key())
	}
	s.wake(volumeEvent)
}

// flushRejected tries a rejected Pod again that nothing has made schedulable.
func (s *scheduler) flushRejected(k controller.Key) error {
	if e := s.waiting[k]; e != nil {
		s.activate(e)
	}
	return nil
}

// maxCycles is how many Pods are scheduled before others run.
const maxCycles = 100

// scheduleNext schedules the next Pods, until one gets no Node: what that has written must
// come back from the informers before the next one. The kubelets start the Pods later, as
// the real ones are slower than the scheduler. A key that is not empty is that of a Pod
// that waits for its volumes.
func (s *scheduler) scheduleNext(k controller.Key) error {
	if k != (controller.Key{}) {
		s.finishVolumes(k)
		return nil
	}
	for n, assigned := 0, true; n < maxCycles && assigned && len(s.active) > 0; n++ {
		e := heap.Pop(&s.active).(*entry)
		e.active = false
		s.order++
		e.order = s.order // if it comes back, it comes behind the others of its priority
		assigned = s.schedule(e)
	}
	if len(s.active) > 0 {
		s.next.Add(controller.Key{})
	}
	return nil
}

// schedule makes one attempt for a Pod. It reports whether the Pod has a Node.
func (s *scheduler) schedule(e *entry) (assigned bool) {
	p := e.pod
	if p.object.Terminating {
		s.events.Event(p.object, controller.Occurrence{
			Type: controller.Warning, Reason: "FailedScheduling", Action: "Scheduling",
			Note: fmt.Sprintf("skip schedule deleting pod: %s/%s", p.object.Namespace, p.object.Name),
		})
		return false
	}
	if len(s.cache.all()) == 0 {
		e.rejected = map[string]bool{}
		s.fail(e, "no nodes available to schedule pods", "Unschedulable", new(string))
		return false
	}
	a, plugin, reason := s.newAttempt(p)
	var fit []*node
	var d *diagnosis
	if reason != "" {
		d = &diagnosis{total: len(s.cache.all()), preFilter: reason, absent: &rejection{plugin: plugin, final: true}}
	} else {
		fit, d = s.feasible(a)
	}
	if len(fit) > 0 {
		return s.assign(e, a, choose(a, fit))
	}
	e.rejected = d.plugins()
	nominated, victims := s.preempt(a, d)
	s.fail(e, d.String(), "Unschedulable", nominated)
	s.evict(p, nominated, victims)
	return false
}

// assign binds a Pod to a Node, when its volumes are bound. It reports whether it is bound.
func (s *scheduler) assign(e *entry, a *attempt, n *node) bool {
	p := e.pod
	waits, err := s.bindVolumes(a, n)
	if err != nil {
		s.failBinding(e, err)
		return false
	}
	s.forget(p.key())
	s.cache.assign(p, n.name)
	if waits {
		s.volume[p.key()] = &volumeJob{p, e.order, n.name, s.env.Now().Add(volumeTimeout)}
		s.next.AddAfter(p.key(), volumeTimeout)
		return false
	}
	return s.bind(e, n.name)
}

// finishVolumes binds a Pod whose volumes are bound.
func (s *scheduler) finishVolumes(k controller.Key) {
	j := s.volume[k]
	if j == nil {
		return
	}
	e := s.entry(j.pod)
	switch {
	case s.volumesBound(j.pod):
		delete(s.volume, k)
		s.bind(e, j.node)
	case !s.env.Now().Before(j.until):
		delete(s.volume, k)
		s.cache.unassign(k)
		s.waiting[k] = e
		s.failBinding(e, fmt.Errorf("binding volumes: context deadline exceeded"))
	}
}

// bind writes the binding of a Pod. It reports whether that succeeds.
func (s *scheduler) bind(e *entry, node string) bool {
	p := e.pod
	_, err := s.client.CreateFor(controller.Pods, p.object.Namespace, p.object.Name, "binding", map[string]any{
		"metadata": map[string]any{"namespace": p.object.Namespace, "name": p.object.Name, "uid": p.object.UID},
		"target":   map[string]any{"kind": "Node", "name": node},
	})
	if err != nil {
		s.cache.unassign(p.key())
		if current := s.pods.Get(p.object.Namespace, p.object.Name); current == nil || current.UID != p.object.UID || controller.IsNotFound(err) {
			return false
		}
		s.waiting[p.key()] = e
		s.failBinding(e, err)
		return false
	}
	s.events.Event(p.object, controller.Occurrence{
		Type: controller.Normal, Reason: "Scheduled", Action: "Binding",
		Note: fmt.Sprintf("Successfully assigned %s/%s to %s", p.object.Namespace, p.object.Name, node),
	})
	return true
}

// failBinding records that a Pod could not be bound. It is tried again after a second.
func (s *scheduler) failBinding(e *entry, err error) {
	s.fail(e, err.Error(), "SchedulerError", nil)
	s.flush.AddAfter(e.pod.key(), time.Second)
}

// fail records that a Pod has no Node: an Event, and the condition PodScheduled.
// nominated replaces the nominatedNodeName; nil keeps it.
func (s *scheduler) fail(e *entry, message, reason string, nominated *string) {
	p := e.pod
	s.flush.AddAfter(p.key(), flushAfter)
	s.events.Event(p.object, controller.Occurrence{Type: controller.Warning, Reason: "FailedScheduling", Action: "Scheduling", Note: message})
	obj := p.view()
	status := map[string]any{}
	if c := controller.PodCondition(obj, "PodScheduled", "False", reason, message, s.env.Now()); c != nil {
		status["conditions"] = []any{c}
	}
	if nominated != nil && *nominated != obj.String("status", "nominatedNodeName") {
		if *nominated == "" {
			status["nominatedNodeName"] = nil
		} else {
			status["nominatedNodeName"] = *nominated
		}
	}
	if len(status) > 0 {
		_ = s.client.PatchPodStatus(p.object, status)
	}
}
