// Package deployment has the deployment-controller: a Deployment has a ReplicaSet for
// each of its revisions, and moves its Pods from the old ones to the newest.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/deployment/.
package deployment

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// maxRetries is how often a failed sync is repeated. The delay reaches 82 s.
const maxRetries = 15

type deployments struct {
	env         *controller.Env
	client      *controller.Client
	recorder    *controller.Recorder
	deployments *controller.Informer
	replicaSets *controller.Informer
	pods        *controller.Informer
	owners      controller.Owners // of ReplicaSets
	podOwners   controller.Owners
	queue       *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &deployments{env: e, client: e.Client("deployment-controller")}
	c.recorder = e.Recorder(c.client, "deployment-controller")
	c.queue = e.Queue(c.sync, controller.QueueOptions{MaxRetries: maxRetries})
	c.deployments = e.Informer(controller.Deployments, c.deploymentChanged)
	c.owners = controller.Owners{Informer: c.deployments}
	c.replicaSets = e.OwnedInformer(controller.ReplicaSets, c.replicaSetChanged)
	c.podOwners = controller.Owners{Informer: c.replicaSets}
	c.pods = e.OwnedInformer(controller.Pods, c.podChanged)
}

func (c *deployments) deploymentChanged(old, d *controller.Object) {
	if d == nil {
		d = old
	}
	c.queue.Add(d.Key())
}

func (c *deployments) replicaSetChanged(old, rs *controller.Object) {
	if old == nil && rs.Terminating {
		return
	}
	for _, d := range c.owners.Affected(old, rs) {
		c.queue.Add(d.Key())
	}
}

// podChanged queues a Deployment that recreates its Pods when the last of them is gone.
func (c *deployments) podChanged(old, pod *controller.Object) {
	if pod != nil {
		return
	}
	rs := c.podOwners.Of(old)
	if rs == nil {
		return
	}
	d := c.owners.Of(rs)
	if d == nil || d.View().String("spec", "strategy", "type") != recreate {
		return
	}
	for _, rs := range c.replicaSets.By(controller.ByController, d.UID) {
		if len(c.pods.By(controller.ByController, rs.UID)) > 0 {
			return
		}
	}
	c.queue.Add(d.Key())
}

// changeable returns a Deployment with a copy of what the controller may change: members of
// metadata and of spec, annotations, and the status.
func changeable(d *controller.Object) map[string]any {
	obj := d.View().ShallowCopy()
	meta := object.ShallowCopy(object.Meta(obj))
	if annotations := object.Map(meta, "annotations"); annotations != nil {
		meta["annotations"] = object.ShallowCopy(annotations)
	}
	obj["metadata"], obj["spec"] = meta, object.ShallowCopy(object.Map(obj, "spec"))
	if status := object.Map(obj, "status"); status != nil {
		obj["status"] = object.Copy(status)
	}
	return obj
}

// sync updates the ReplicaSets and the status of a Deployment.
func (c *deployments) sync(k controller.Key) error {
	d := c.deployments.Get(k.Namespace, k.Name)
	if d == nil {
		return nil
	}
	selector := d.View().At("spec", "selector")
	if selector.Len("matchLabels") == 0 && selector.Len("matchExpressions") == 0 {
		return c.selectsAll(d)
	}
	labels, err := controller.LabelSelector(d.View(), "spec", "selector")
	if err != nil {
		return fmt.Errorf("deployment %s has invalid label selector: %w", k, err)
	}
	claim := controller.Claim{Client: c.client, Owner: d, Resource: controller.ReplicaSets, Selector: labels}
	sets, err := claim.Objects(controller.Candidates(c.replicaSets, d))
	if err != nil {
		return err
	}
	r := &rollout{deployments: c, object: d, obj: changeable(d), now: clock.Timestamp(c.env.Now())}
	r.read(sets)
	err = r.run()
	if r.changed {
		if e := r.write(); err == nil {
			err = e
		}
	}
	if controller.IsTerminatingNamespace(err) {
		return nil
	}
	return err
}

// selectsAll warns of a Deployment that selects everything, and does nothing for it.
func (c *deployments) selectsAll(d *controller.Object) error {
	c.recorder.Event(d, controller.Warning, "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
	generation := controller.IntOr(d.View(), 0, "metadata", "generation")
	if controller.IntOr(d.View(), 0, "status", "observedGeneration") < generation {
		status := d.View().At("status").ShallowCopy()
		status["observedGeneration"] = generation
		_, _ = c.client.WriteStatus(d, status, 0)
	}
	return nil
}

// A rollout is one sync of a Deployment.
type rollout struct {
	*deployments
	object  *controller.Object
	obj     map[string]any // what the Deployment is to be: annotations and status change
	changed bool           // obj is to be written
	now     string

	replicas       int64
	maxSurge       int64
	maxUnavailable int64 // of at least 1 if maxSurge is 0
	rolling        bool
	deadline       int64 // in seconds; 0 if there is none

	newest *controller.Object   // the ReplicaSet of the template, nil if there is none
	old    []*controller.Object // the others
	synced bool                 // the annotations of newest are up to date
}

// view returns the Deployment as it is to be.
func (r *rollout) view() object.View { return object.ViewOf(r.obj) }

const recreate = "Recreate"

func (r *rollout) read(sets []*controller.Object) {
	spec := r.view().At("spec")
	r.replicas = controller.IntOr(spec, 1, "replicas")
	r.rolling = spec.String("strategy", "type") == "RollingUpdate"
	if r.rolling {
		rolling := spec.At("strategy", "rollingUpdate")
		r.maxSurge, _ = controller.Scaled(rolling.At("maxSurge"), r.replicas, true)
		r.maxUnavailable, _ = controller.Scaled(rolling.At("maxUnavailable"), r.replicas, false)
		if r.maxSurge == 0 && r.maxUnavailable == 0 {
			r.maxUnavailable = 1
		}
		r.maxUnavailable = min(r.maxUnavailable, r.replicas)
	}
	if n, ok := spec.Int("progressDeadlineSeconds"); ok && n != math.MaxInt32 {
		r.deadline = n
	}
	sortByCreation(sets)
	for _, rs := range sets {
		if r.newest == nil && sameTemplate(rs.View().At("spec", "template"), spec.At("template")) {
			r.newest = rs
			continue
		}
		r.old = append(r.old, rs)
	}
}

func (r *rollout) run() error {
	if r.object.Terminating {
		if err := r.syncRevision(false); err != nil {
			return err
		}
		return r.updateStatus(r.status())
	}
	r.checkPaused()
	if r.view().Bool("spec", "paused") {
		return r.resize()
	}
	if revision, ok := r.rollbackTo(); ok {
		return r.rollback(revision)
	}
	if err := r.syncRevision(false); err != nil {
		return err
	}
	for _, rs := range r.active() {
		if desired, ok := count(rs, desiredAnnotation); ok && desired != r.replicas {
			return r.resize()
		}
	}
	if r.rolling {
		return r.rollingUpdate()
	}
	return r.recreate()
}

// all returns the ReplicaSets, the newest last.
func (r *rollout) all() []*controller.Object {
	all := append([]*controller.Object(nil), r.old...)
	if r.newest != nil {
		all = append(all, r.newest)
	}
	return all
}

// active returns the ReplicaSets that have replicas, or should have.
func (r *rollout) active() []*controller.Object { return active(r.all()) }

// write writes the annotations and the status of the Deployment.
func (r *rollout) write() error {
	r.changed = false
	updated, err := r.client.UpdateStatus(controller.Deployments, r.obj)
	if err == nil {
		object.Set(r.obj, strconv.FormatInt(int64(updated.Revision), 10), "metadata", "resourceVersion")
	}
	return err
}

// syncRevision gives the newest ReplicaSet the annotations of the Deployment and its
// number among the revisions, and the Deployment that number. It creates the ReplicaSet
// if create is true and there is none.
func (r *rollout) syncRevision(create bool) error {
	if r.newest == nil {
		if create {
			return r.create()
		}
		return nil
	}
	if r.synced {
		return nil
	}
	r.synced = true
	annotations := r.newest.View().At("metadata", "annotations")
	want, changed := r.annotations(annotations, maxRevision(r.old)+1)
	minReady := controller.IntOr(r.view(), 0, "spec", "minReadySeconds")
	if changed || minReady != controller.IntOr(r.newest.View(), 0, "spec", "minReadySeconds") {
		obj := r.newest.Copy()
		object.Meta(obj)["annotations"] = want
		controller.SetCount(object.EnsureMap(obj, "spec"), "minReadySeconds", minReady)
		updated, err := r.client.Update(controller.ReplicaSets, "", obj)
		if err == nil {
			r.newest = updated
		}
		return err
	}
	r.setRevision(annotations.String(revisionAnnotation))
	if r.deadline > 0 && controller.Condition(r.view(), "Progressing").IsNil() {
		r.setCondition("Progressing", "True", "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", r.newest.Name))
		r.changed = true
	}
	return nil
}

// create creates the ReplicaSet of the template.
func (r *rollout) create() error {
	template := r.view().At("spec", "template").CopyObject()
	collisions, _ := r.view().Int("status", "collisionCount")
	hash := controller.Hash(template, collisions)
	object.Set(template, hash, "metadata", "labels", hashLabel)
	selector := r.view().At("spec", "selector").CopyObject()
	object.Set(selector, hash, "matchLabels", hashLabel)
	replicas := r.newReplicas(0)
	name := replicaSetName(r.object.Name, hash)
	revision := maxRevision(r.old) + 1
	annotations, _ := r.annotations(object.View{}, revision)
	annotations[desiredAnnotation] = strconv.FormatInt(r.replicas, 10)
	annotations[maxAnnotation] = strconv.FormatInt(r.replicas+r.maxSurge, 10)
	spec := map[string]any{"replicas": replicas, "selector": selector, "template": template}
	controller.SetCount(spec, "minReadySeconds", controller.IntOr(r.view(), 0, "spec", "minReadySeconds"))
	created, err := r.client.Create(controller.ReplicaSets, r.object.Namespace, map[string]any{
		"metadata": map[string]any{
			"name": name, "namespace": r.object.Namespace, "labels": object.Copy(object.Map(template, "metadata", "labels")),
			"annotations": annotations, "ownerReferences": []any{controller.ControllerRef(r.object)},
		},
		"spec": spec,
	})
	existed := false
	switch {
	case controller.IsAlreadyExists(err):
		existed = true
		created = r.replicaSets.Get(r.object.Namespace, name)
		if created == nil || !created.View().ControlledBy(r.object.UID) ||
			!sameTemplate(created.View().At("spec", "template"), r.view().At("spec", "template")) {
			if created != nil { // another template with the same hash
				object.Set(r.obj, collisions+1, "status", "collisionCount")
				r.changed = true
			}
			return err
		}
	case controller.IsTerminatingNamespace(err):
		return err
	case err != nil:
		message := fmt.Sprintf("Failed to create new replica set %q: %v", name, err)
		if r.deadline > 0 {
			r.setCondition("Progressing", "False", "ReplicaSetCreateError", message)
			r.changed = true
		}
		r.recorder.Event(r.object, controller.Warning, "ReplicaSetCreateError", "%s", message)
		return err
	}
	if !existed && replicas > 0 {
		r.recorder.Event(r.object, controller.Normal, "ScalingReplicaSet", "Scaled up replica set %s from 0 to %d", name, replicas)
	}
	r.newest, r.synced = created, true
	r.setRevision(strconv.FormatInt(revision, 10))
	if !existed && r.deadline > 0 {
		r.setCondition("Progressing", "True", "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", name))
		r.changed = true
	}
	return nil
}

// newReplicas returns how many replicas the newest ReplicaSet may have, which has some.
func (r *rollout) newReplicas(has int64) int64 {
	if !r.rolling {
		return r.replicas
	}
	total := has
	for _, rs := range r.old {
		total += replicas(rs)
	}
	room := r.replicas + r.maxSurge - total
	if room <= 0 {
		return has
	}
	return has + min(room, r.replicas-has)
}

// scaleTo gives a ReplicaSet a number of replicas. It reports whether that is another
// number. With annotate, it updates the annotations of a ReplicaSet of that size too.
func (r *rollout) scaleTo(rs *controller.Object, n int64, annotate bool) (bool, error) {
	had := replicas(rs)
	if had == n && !annotate {
		return false, nil
	}
	desired, most := strconv.FormatInt(r.replicas, 10), strconv.FormatInt(r.replicas+r.maxSurge, 10)
	has := rs.View().At("metadata", "annotations")
	if had == n && has.String(desiredAnnotation) == desired && has.String(maxAnnotation) == most {
		return false, nil
	}
	obj := rs.Copy()
	object.Set(obj, n, "spec", "replicas")
	annotations := object.EnsureMap(object.Meta(obj), "annotations")
	annotations[desiredAnnotation], annotations[maxAnnotation] = desired, most
	updated, err := r.client.Update(controller.ReplicaSets, "", obj)
	if err != nil {
		return false, err
	}
	r.replace(rs, updated)
	if had == n {
		return false, nil
	}
	direction := "up"
	if n < had {
		direction = "down"
	}
	r.recorder.Event(r.object, controller.Normal, "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", direction, rs.Name, had, n)
	return true, nil
}

// replace puts the new version of a ReplicaSet in the place of the one before.
func (r *rollout) replace(rs, updated *controller.Object) {
	if r.newest == rs {
		r.newest = updated
	}
	for i := range r.old {
		if r.old[i] == rs {
			r.old[i] = updated
		}
	}
}

// cleanup deletes the oldest ReplicaSets that are more than the history has room for.
func (r *rollout) cleanup() error {
	limit, ok := r.view().Int("spec", "revisionHistoryLimit")
	if !ok || limit == math.MaxInt32 {
		return nil
	}
	var alive []*controller.Object
	for _, rs := range r.old {
		if !rs.Terminating {
			alive = append(alive, rs)
		}
	}
	if int64(len(alive)) <= limit {
		return nil
	}
	sortByRevision(alive)
	for _, rs := range alive[:int64(len(alive))-limit] {
		obj := rs.View()
		if counter(rs, "replicas") != 0 || replicas(rs) != 0 ||
			controller.IntOr(obj, 0, "metadata", "generation") > counter(rs, "observedGeneration") {
			continue
		}
		err := r.client.Delete(controller.ReplicaSets, rs.Namespace, rs.Name, controller.DeleteOptions{})
		if err != nil && !controller.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// requeueStuck syncs the Deployment again when its progress deadline may have passed.
func (r *rollout) requeueStuck(status map[string]any) {
	progressing := controller.Condition(r.view(), "Progressing")
	if r.deadline == 0 || progressing.IsNil() || r.complete(status) || progressing.String("reason") == timedOut {
		return
	}
	after := controller.Time(progressing, "lastUpdateTime").Add(time.Duration(r.deadline) * time.Second).Sub(r.env.Now())
	if after < time.Second {
		r.queue.AddRateLimited(r.object.Key())
		return
	}
	r.queue.AddAfter(r.object.Key(), after+time.Second)
}
