package daemonset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/history"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// hashLabel is the label of Pods and revisions with the hash of the template.
const hashLabel = "controller-revision-hash"

// generationAnnotation and generationLabel have the generation of the template.
const (
	generationAnnotation = "deprecated.daemonset.template.generation"
	generationLabel      = "pod-template-generation"
)

// maxChanges is how many Pods one sync creates and deletes at most.
const maxChanges = 250

// A run is one sync of a DaemonSet.
type run struct {
	*daemonSets
	object     *controller.Object
	obj, spec  object.View
	now        time.Time
	minReady   int64
	generation string // of the template, "" if there is none
	template   *template
	allNodes   []*controller.Object
	pods       []*controller.Object
	byNode     map[string][]*controller.Object // without those that have ended and are being deleted
	hash       string
	old        []*controller.Object // revisions
	collisions int64
}

func newRun(c *daemonSets, ds *controller.Object) *run {
	r := &run{
		daemonSets: c, object: ds, obj: ds.View(), spec: ds.View().At("spec"), now: c.env.Now(),
		template: newTemplate(ds), allNodes: c.nodes.List("", selector.Labels{}),
	}
	r.minReady = controller.IntOr(r.spec, 0, "minReadySeconds")
	r.collisions = controller.IntOr(r.obj, 0, "status", "collisionCount")
	generation := r.obj.String("metadata", "annotations", generationAnnotation)
	if _, err := strconv.ParseInt(generation, 10, 64); err == nil {
		r.generation = generation
	}
	return r
}

// findRevisions finds the revision of the template, or creates it, and the others.
func (r *run) findRevisions(labels selector.Labels) error {
	revisions, err := r.history.List(r.object, labels)
	if err != nil {
		return err
	}
	data := history.Data(r.obj)
	var current *controller.Object
	next := int64(1)
	for _, revision := range revisions {
		if history.Equal(revision, data) {
			current = revision
			continue
		}
		r.old = append(r.old, revision)
		next = max(next, history.Number(revision)+1)
	}
	if current == nil {
		current, err = r.history.Create(r.object, data, next, hashLabel, &r.collisions)
	} else if history.Number(current) < next {
		current, err = r.history.SetNumber(current, next)
	}
	if err != nil {
		return err
	}
	r.hash = current.Labels[hashLabel]
	return nil
}

// group sorts the Pods by the Nodes that they are for.
func (r *run) group() {
	r.byNode = map[string][]*controller.Object{}
	for _, pod := range r.pods {
		if node := targetNode(pod.View()); node != "" && !(pod.Terminating && controller.PodEnded(pod.View())) {
			r.byNode[node] = append(r.byNode[node], pod)
		}
	}
	for _, pods := range r.byNode {
		slices.SortStableFunc(pods, compareAge)
	}
}

// compareAge compares Pods by their ages, those that have a Node first.
func compareAge(a, b *controller.Object) int {
	x, y := a.View(), b.View()
	if has := x.String("spec", "nodeName") != ""; has != (y.String("spec", "nodeName") != "") {
		if has {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(x.String("metadata", "creationTimestamp"), y.String("metadata", "creationTimestamp")),
		cmp.Compare(a.Name, b.Name),
	)
}

// update creates and deletes Pods, and cleans the history up.
func (r *run) update() error {
	if err := r.manage(); err != nil {
		return err
	}
	if r.expected.Satisfied(r.object.Key()) && r.spec.String("updateStrategy", "type") == "RollingUpdate" {
		if err := r.rollingUpdate(); err != nil {
			return err
		}
	}
	if err := r.cleanup(); err != nil {
		return fmt.Errorf("failed to clean up revisions of DaemonSet: %w", err)
	}
	return nil
}

// manage creates Pods on the Nodes that need one, and deletes those that are too many or
// have ended.
func (r *run) manage() error {
	var create []string
	var remove []*controller.Object
	known := map[string]bool{}
	for _, node := range r.allNodes {
		known[node.Name] = true
		needs, tooMany := r.manageNode(node)
		if needs {
			create = append(create, node.Name)
		}
		remove = append(remove, tooMany...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.byNode)) {
		for _, pod := range r.byNode[name] {
			if !known[name] && pod.View().String("spec", "nodeName") == "" {
				remove = append(remove, pod)
			}
		}
	}
	return r.change(remove, create)
}

// manageNode returns whether a Node needs a Pod, and the Pods to delete.
func (r *run) manageNode(node *controller.Object) (needs bool, remove []*controller.Object) {
	should, may := r.template.fits(node)
	pods := r.byNode[node.Name]
	if !may {
		for _, pod := range pods {
			if !pod.Terminating {
				remove = append(remove, pod)
			}
		}
		return false, remove
	}
	if should && len(pods) == 0 {
		return true, nil
	}
	var running []*controller.Object
	for _, pod := range pods {
		switch phase := pod.View().String("status", "phase"); {
		case pod.Terminating:
		case phase == "Failed":
			if wait := r.failureDelay(node.Name); wait > 0 {
				r.queue.AddAfter(r.object.Key(), wait)
				continue
			}
			r.recorder.Event(r.object, controller.Warning, "FailedDaemonPod", "Found failed daemon pod %s on node %s, will try to kill it", pod.Key(), node.Name)
			remove = append(remove, pod)
		case phase == "Succeeded":
			r.recorder.Event(r.object, controller.Normal, "SucceededDaemonPod", "Found succeeded daemon pod %s on node %s, will try to delete it", pod.Key(), node.Name)
			remove = append(remove, pod)
		default:
			running = append(running, pod)
		}
	}
	if r.surge(1) == 0 {
		if len(running) > 1 {
			remove = append(remove, running[1:]...)
		}
		return false, remove
	}
	if len(running) <= 1 {
		return len(running) == 0 && should, remove
	}
	var newest, oldest *controller.Object // the oldest Pods of the new and of an old revision
	for _, pod := range running {
		switch isNew := pod.Labels[hashLabel] == r.hash; {
		case isNew && newest == nil:
			newest = pod
		case !isNew && oldest == nil:
			oldest = pod
		default:
			remove = append(remove, pod)
		}
	}
	if newest != nil && oldest != nil && (!controller.PodReady(oldest.View()) || r.available(newest)) {
		remove = append(remove, oldest)
	}
	return false, remove
}

// failureDelay returns how long a failed Pod of a Node remains; 0 if it is to be deleted.
func (r *run) failureDelay(node string) time.Duration {
	byNode := r.failures[r.object.UID]
	if byNode == nil {
		byNode = map[string]failures{}
		r.failures[r.object.UID] = byNode
	}
	f := byNode[node]
	generation := controller.IntOr(r.obj, 0, "status", "observedGeneration")
	since := r.now.Sub(f.last)
	switch {
	case f.generation != generation || since > 2*maxFailureDelay:
		f = failures{delay: minFailureDelay}
	case since < f.delay:
		return f.delay
	default:
		f.delay = min(2*f.delay, maxFailureDelay)
	}
	f.generation, f.last = generation, r.now
	byNode[node] = f
	return 0
}

func (r *run) available(pod *controller.Object) bool {
	return controller.PodAvailable(pod.View(), r.minReady, r.now)
}

// isNew reports whether a Pod has the newest template.
func (r *run) isNew(pod *controller.Object) bool {
	return pod.Labels[hashLabel] == r.hash || r.generation != "" && pod.Labels[generationLabel] == r.generation
}

// surge returns how many of n Nodes may have two Pods during an update.
func (r *run) surge(n int) int64 { return r.rollingCount("maxSurge", n) }

func (r *run) rollingCount(field string, n int) int64 {
	v := r.spec.At("updateStrategy", "rollingUpdate", field)
	if v.IsNil() || r.spec.String("updateStrategy", "type") != "RollingUpdate" {
		return 0
	}
	count, _ := controller.Scaled(v, int64(n), true)
	return count
}

// change deletes Pods, and creates one on each of the Nodes.
func (r *run) change(remove []*controller.Object, nodes []string) error {
	remove, nodes = remove[:min(len(remove), maxChanges)], nodes[:min(len(nodes), maxChanges)]
	k := r.object.Key()
	uids := make([]string, len(remove))
	for i, pod := range remove {
		uids[i] = pod.UID
	}
	r.expected.Expect(k, len(nodes), uids...)
	var failed []error
	created, err := controller.SlowStart(len(nodes), func(i int) error {
		_, err := r.podControl.Create(r.object, r.template.pod(r.object, nodes[i], r.hash, r.generation))
		if controller.IsTerminatingNamespace(err) {
			return nil
		}
		return err
	})
	if err != nil {
		failed = append(failed, err)
	}
	for range len(nodes) - created {
		r.expected.Created(k)
	}
	for _, pod := range remove {
		if err := r.podControl.Delete(r.object, pod.Name); err != nil {
			r.expected.Deleted(k, pod.UID)
			if !controller.IsNotFound(err) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// rollingUpdate replaces Pods of old revisions: as many as may be unavailable, or, with
// surge, it creates the new Pod first.
func (r *run) rollingUpdate() error {
	desired := 0
	for _, node := range r.allNodes {
		if should, _ := r.template.fits(node); should {
			desired++
			if _, ok := r.byNode[node.Name]; !ok {
				r.byNode[node.Name] = nil
			}
		}
	}
	surge, unavailable := r.surge(desired), r.rollingCount("maxUnavailable", desired)
	if surge > 0 {
		return r.surgeUpdate(surge, desired)
	}
	if desired > 0 && unavailable == 0 {
		unavailable = 1
	}
	var remove, candidates []*controller.Object
	missing := int64(0)
	for _, node := range slices.Sorted(maps.Keys(r.byNode)) {
		newest, oldest, ok := r.pair(r.byNode[node])
		switch {
		case !ok || (newest == nil) == (oldest == nil):
			missing++
		case newest != nil:
			if !r.available(newest) {
				missing++
			}
		case !r.available(oldest):
			remove = append(remove, oldest)
			missing++
		default:
			candidates = append(candidates, oldest)
		}
	}
	n := min(max(0, unavailable-missing), int64(len(candidates)))
	return r.change(append(remove, candidates[:n]...), nil)
}

// surgeUpdate creates new Pods beside old ones, and deletes the old ones when the new
// ones are available.
func (r *run) surgeUpdate(surge int64, desired int) error {
	var remove, misplaced []*controller.Object
	var create, candidates []string
	available := 0
	for _, name := range slices.Sorted(maps.Keys(r.byNode)) {
		newest, oldest, ok := r.pair(r.byNode[name])
		if !ok {
			surge--
			continue
		}
		if oldest != nil && r.available(oldest) || oldest == nil && newest != nil && r.available(newest) {
			available++
		}
		switch {
		case oldest == nil:
		case newest != nil && r.available(newest):
			remove = append(remove, oldest)
		case newest != nil:
			surge--
		default:
			node := r.nodes.Get("", name)
			if node == nil {
				return fmt.Errorf("couldn't get node for nodeName %q", name)
			}
			should, _ := r.template.fits(node)
			switch isAvailable := r.available(oldest); {
			case !should && isAvailable:
				misplaced = append(misplaced, oldest)
			case !should:
				remove = append(remove, oldest)
			case isAvailable:
				candidates = append(candidates, name)
			default:
				create = append(create, name)
			}
		}
	}
	remove = append(remove, misplaced[:min(max(0, available-desired), len(misplaced))]...)
	n := min(max(0, surge), int64(len(candidates)))
	return r.change(remove, append(create, candidates[:n]...))
}

// pair returns the Pod of the new revision and that of an old one, nil if there is none;
// false if there are several of one.
func (r *run) pair(pods []*controller.Object) (newest, oldest *controller.Object, ok bool) {
	for _, pod := range pods {
		if pod.Terminating {
			continue
		}
		of := &oldest
		if r.isNew(pod) {
			of = &newest
		}
		if *of != nil {
			return nil, nil, false
		}
		*of = pod
	}
	return newest, oldest, true
}

// cleanup deletes the oldest revisions that no Pod has, if there are too many.
func (r *run) cleanup() error {
	surplus := len(r.old) - int(controller.IntOr(r.spec, 10, "revisionHistoryLimit"))
	if surplus <= 0 {
		return nil
	}
	live := map[string]bool{}
	for _, pod := range r.pods {
		live[pod.Labels[hashLabel]] = true
	}
	for _, revision := range r.old {
		if surplus <= 0 || live[revision.Labels[hashLabel]] {
			continue
		}
		if err := r.client.Delete(controller.ControllerRevisions, revision.Namespace, revision.Name, controller.DeleteOptions{}); err != nil {
			return err
		}
		surplus--
	}
	return nil
}

// updateStatus writes the status if it has changed. processed is whether the Pods are
// those of the generation.
func (r *run) updateStatus(processed bool) error {
	var desired, current, misplaced, ready, updated, available int64
	for _, node := range r.allNodes {
		should, _ := r.template.fits(node)
		pods := r.byNode[node.Name]
		switch {
		case should && len(pods) == 0:
			desired++
		case should:
			desired++
			current++
			if controller.PodReady(pods[0].View()) {
				ready++
				if r.available(pods[0]) {
					available++
				}
			}
			if r.isNew(pods[0]) {
				updated++
			}
		case len(pods) > 0:
			misplaced++
		}
	}
	old := r.obj.At("status")
	s := old.ShallowCopy()
	s["desiredNumberScheduled"], s["currentNumberScheduled"], s["numberMisscheduled"], s["numberReady"] = desired, current, misplaced, ready
	controller.SetCount(s, "updatedNumberScheduled", updated)
	controller.SetCount(s, "numberAvailable", available)
	controller.SetCount(s, "numberUnavailable", desired-available)
	controller.SetCount(s, "collisionCount", r.collisions)
	if processed {
		controller.SetCount(s, "observedGeneration", controller.IntOr(r.obj, 0, "metadata", "generation"))
	}
	if !old.EqualTo(s) {
		if _, err := r.client.WriteStatus(r.object, s, 1); err != nil {
			return fmt.Errorf("error storing status for daemon set %s: %w", r.object.Key(), err)
		}
	}
	if r.minReady > 0 && ready != available {
		r.queue.AddAfter(r.object.Key(), controller.NextAvailable(r.pods, r.minReady, r.now))
	}
	return nil
}
