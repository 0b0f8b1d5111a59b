package job

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// maxChanges is how many Pods one sync creates or deletes at most.
const maxChanges = 500

// deleteActive deletes the active Pods of a Job that ends. It returns how many are
// deleted.
func (r *run) deleteActive() (deleted int64, failure error) {
	for _, p := range r.active {
		if err := r.podControl.Delete(r.object, p.Name); err != nil && !controller.IsNotFound(err) {
			if failure == nil {
				failure = err
			}
		} else {
			deleted++
		}
		if controller.PodReady(p.obj) {
			r.ready--
		}
	}
	r.terminating += deleted
	return deleted, failure
}

// deletePods deletes Pods that do not count. It returns how many are deleted.
func (r *run) deletePods(pods []*pod) (deleted int64, failure error) {
	uids := make([]string, len(pods))
	for i, p := range pods {
		uids[i] = p.UID
	}
	r.expected.ExpectDeletions(r.key, uids...)
	for _, p := range pods {
		var err error
		if hasFinalizer(p.Object) {
			if err = r.removeFinalizer(p.Object); err != nil {
				err = fmt.Errorf("removing completion finalizer: %w", err)
			}
		}
		if err == nil {
			err = r.podControl.Delete(r.object, p.Name)
		}
		deleted++
		if err != nil {
			r.expected.Deleted(r.key, p.UID)
			if !controller.IsNotFound(err) {
				deleted--
				if failure == nil {
					failure = err
				}
			}
		}
		if controller.PodReady(p.obj) {
			r.ready--
		}
	}
	r.terminating += deleted
	return deleted, failure
}

// manage creates the Pods that are missing or deletes those that are too many. It
// returns how many are active then.
func (r *run) manage() (active int64, err error) {
	active = int64(len(r.active))
	if r.suspend {
		deleted, err := r.deletePods(r.tooMany(int(active)))
		return active - deleted, err
	}
	parallelism := controller.IntOr(r.spec, 1, "parallelism")
	want := parallelism
	if r.hasCompletions {
		want = max(0, min(parallelism, r.completions-r.succeeded))
	} else if r.succeeded > 0 {
		want = active
	}
	if pods := r.tooMany(int(max(0, active-want))); len(pods) > 0 {
		deleted, err := r.deletePods(pods[:min(len(pods), maxChanges)])
		return active - deleted, err
	}
	missing := want - active
	if r.replaceFailedOnly {
		missing -= r.terminating
	}
	if missing <= 0 {
		return active, nil
	}
	missing = min(missing, maxChanges)
	wait := time.Duration(0)
	if !r.perIndex {
		wait = r.backoff.remaining(r.now)
	}
	var add []int
	if wait == 0 && r.indexed {
		add = r.pendingIndexes(int(missing))
		if r.perIndex {
			add, wait = r.readyIndexes(add)
		}
		missing = int64(len(add))
	}
	if wait > 0 {
		r.queue.AddAfter(r.key, max(wait, time.Second))
		return active, nil
	}
	return r.createPods(active, int(missing), add)
}

// createPods creates n Pods, of the given indexes if the Job is indexed.
func (r *run) createPods(active int64, n int, indexes []int) (int64, error) {
	r.expected.ExpectCreations(r.key, n)
	created, err := controller.SlowStart(n, func(i int) error {
		p := controller.PodFromTemplate(r.spec.At("template"), r.object)
		meta := object.Meta(p)
		if finalizers := object.Strings(meta, "finalizers"); !slices.Contains(finalizers, trackingFinalizer) {
			meta["finalizers"] = object.FromStrings(append(finalizers, trackingFinalizer))
		}
		if r.indexed {
			r.setIndex(p, indexes[i])
		}
		_, err := r.podControl.Create(r.object, p)
		if controller.IsTerminatingNamespace(err) {
			return nil
		}
		return err
	})
	for range n - created {
		r.expected.Created(r.key)
	}
	return active + int64(created), err
}

// setIndex makes p the Pod of an index.
func (r *run) setIndex(p map[string]any, index int) {
	text, meta := strconv.Itoa(index), object.Meta(p)
	object.EnsureMap(meta, "labels")[indexAnnotation] = text
	annotations := object.EnsureMap(meta, "annotations")
	annotations[indexAnnotation] = text
	if r.perIndex {
		counted, ignored := r.indexFailures(r.delayed[index])
		annotations[failuresAnnotation] = strconv.FormatInt(counted, 10)
		if ignored > 0 {
			annotations[ignoredAnnotation] = strconv.FormatInt(ignored, 10)
		}
	}
	suffix := "-" + text + "-"
	meta["generateName"] = r.object.Name[:min(len(r.object.Name), maxGeneratedName-len(suffix))] + suffix
	spec := object.EnsureMap(p, "spec")
	spec["hostname"] = fmt.Sprintf("%s-%d", r.object.Name, index)
	for _, field := range []string{"initContainers", "containers"} {
		for c := range object.Each(spec[field]) {
			if !hasIndexVariable(c) {
				c["env"] = append(object.List(c, "env"), map[string]any{
					"name": indexVariable,
					"valueFrom": map[string]any{"fieldRef": map[string]any{
						"apiVersion": "v1", "fieldPath": "metadata.labels['" + indexAnnotation + "']",
					}},
				})
			}
		}
	}
}

// maxGeneratedName is the maximum length of a name before the generated suffix.
const maxGeneratedName = 58

func hasIndexVariable(container map[string]any) bool {
	for v := range object.Each(container["env"]) {
		if object.String(v, "name") == indexVariable {
			return true
		}
	}
	return false
}

// tooMany returns the active Pods to delete: those with an index that another one has
// or that the Job does not use, and others until there are n.
func (r *run) tooMany(n int) (remove []*pod) {
	left := r.active
	if r.indexed {
		remove, left = r.duplicates()
	}
	if len(remove) < n {
		remove = append(remove, r.ranked(left)[:n-len(remove)]...)
	}
	return remove
}

// duplicates splits the active Pods of an indexed Job into those that it does not need
// and one of each index.
func (r *run) duplicates() (remove, left []*pod) {
	sorted := slices.Clone(r.active)
	sortByIndex(sorted)
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n].index == sorted[0].index {
			n++
		}
		group := sorted[:n]
		sorted = sorted[n:]
		if !r.valid(group[0]) {
			remove = append(remove, group...)
			continue
		}
		group = r.ranked(group)
		remove = append(remove, group[:n-1]...)
		left = append(left, group[n-1])
	}
	return remove, left
}

// ranked returns Pods in the order in which they are to be deleted.
func (r *run) ranked(pods []*pod) []*pod {
	byUID, objects := map[string]*pod{}, make([]*controller.Object, len(pods))
	for i, p := range pods {
		byUID[p.UID], objects[i] = p, p.Object
	}
	out := make([]*pod, len(pods))
	for i, o := range controller.DeletionRanking(objects, nil, r.now) {
		out[i] = byUID[o.UID]
	}
	return out
}

// pendingIndexes returns up to n indexes that have not succeeded or failed and have no
// active Pod, the lowest first.
func (r *run) pendingIndexes(n int) (out []int) {
	taken := r.completed.merge(indexes(r.active)).merge(r.failedIndexes)
	if r.replaceFailedOnly {
		var ending []*pod
		for _, p := range r.pods {
			if p.Terminating && !controller.PodEnded(p.obj) {
				ending = append(ending, p)
			}
		}
		taken = taken.merge(indexes(ending))
	}
	candidate := 0
	for _, t := range taken {
		for ; candidate < t.first && candidate < int(r.completions) && len(out) < n; candidate++ {
			out = append(out, candidate)
		}
		candidate = max(candidate, t.last+1)
	}
	for ; candidate < int(r.completions) && len(out) < n; candidate++ {
		out = append(out, candidate)
	}
	return out
}

// readyIndexes returns the indexes whose back-off is over, or, if there are none, the
// shortest time until one is.
func (r *run) readyIndexes(pending []int) (ready []int, wait time.Duration) {
	for _, index := range pending {
		left := time.Duration(0)
		if p := r.delayed[index]; p != nil {
			left = backoff{failures: allFailures(p) + 1, last: finishedAt(p)}.remaining(r.now)
		}
		if left == 0 {
			ready = append(ready, index)
		} else if wait == 0 || left < wait {
			wait = left
		}
	}
	if len(ready) > 0 {
		return ready, 0
	}
	return nil, wait
}
