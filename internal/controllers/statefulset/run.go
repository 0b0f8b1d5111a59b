package statefulset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/history"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// Labels of Pods and revisions.
const (
	nameLabel         = "statefulset.kubernetes.io/pod-name"
	indexLabel        = "apps.kubernetes.io/pod-index"
	revisionLabel     = "controller-revision-hash"
	revisionHashLabel = "controller.kubernetes.io/hash"
)

// A replica is a Pod of a StatefulSet, or one that is to be created.
type replica struct {
	name    string
	ordinal int64
	object  *controller.Object // nil for one that does not exist
	obj     object.View
}

func (p *replica) phase() string     { return p.obj.String("status", "phase") }
func (p *replica) terminating() bool { return p.object != nil && p.object.Terminating }
func (p *replica) ready() bool       { return p.phase() == "Running" && controller.PodReady(p.obj) }
func (p *replica) revision() string {
	return p.obj.String("metadata", "labels", revisionLabel)
}

// A run is one sync of a StatefulSet.
type run struct {
	*statefulSets
	object    *controller.Object
	spec      object.View
	now       time.Time
	revisions []*controller.Object

	current, update *controller.Object // revisions
	collisions      int64
	status          map[string]any

	first, count int64 // ordinals
	minReady     int64
	ordered      bool   // one Pod after the other
	strategy     string // of updates

	replicas  []*replica
	condemned []*replica // those with ordinals that the set does not use, highest first
	unhealthy *replica   // the first that is not available
}

func newRun(c *statefulSets, set *controller.Object, revisions []*controller.Object) *run {
	r := &run{statefulSets: c, object: set, spec: set.View().At("spec"), now: c.env.Now(), revisions: revisions}
	r.first = controller.IntOr(r.spec, 0, "ordinals", "start")
	r.count = controller.IntOr(r.spec, 1, "replicas")
	r.minReady = controller.IntOr(r.spec, 0, "minReadySeconds")
	r.ordered = r.spec.String("podManagementPolicy") != "Parallel"
	r.strategy = r.spec.String("updateStrategy", "type")
	r.collisions = controller.IntOr(set.View(), 0, "status", "collisionCount")
	return r
}

func (r *run) reconcile(pods []*controller.Object) error {
	err := r.findRevisions()
	if err == nil {
		err = r.updatePods(pods)
		if e := r.writeStatus(); err == nil {
			err = e
		}
	}
	live := map[string]bool{}
	for _, revision := range []*controller.Object{r.current, r.update} {
		if revision != nil {
			live[revision.Name] = true
		}
	}
	for _, pod := range pods {
		live[pod.Labels[revisionLabel]] = true
	}
	if e := r.history.Truncate(r.revisions, live, controller.IntOr(r.spec, 10, "revisionHistoryLimit")); err == nil {
		err = e
	}
	return err
}

// findRevisions finds the revision of the template and the one before, and creates the
// former if there is none.
func (r *run) findRevisions() (err error) {
	data := history.Data(r.object.View())
	next := int64(1)
	if n := len(r.revisions); n > 0 {
		next = history.Number(r.revisions[n-1]) + 1
	}
	var equal *controller.Object
	for _, revision := range r.revisions {
		if history.Equal(revision, data) {
			equal = revision
		}
	}
	switch {
	case equal == nil:
		r.update, err = r.history.Create(r.object, data, next, revisionHashLabel, &r.collisions)
	case equal != r.revisions[len(r.revisions)-1]:
		r.update, err = r.history.SetNumber(equal, next)
	default:
		r.update = equal
	}
	if err != nil {
		return err
	}
	r.current = r.update
	name := r.object.View().String("status", "currentRevision")
	for _, revision := range r.revisions {
		if revision.Name == name {
			r.current = revision
		}
	}
	return nil
}

// updatePods creates, updates and deletes Pods. It sets the status, which is valid
// unless it is nil.
func (r *run) updatePods(pods []*controller.Object) error {
	if r.strategy == "Recreate" && !r.env.Release().Enabled(recreateGate) {
		err := fmt.Errorf("statefulset %s/%s uses Recreate strategy but feature gate %s is disabled", r.object.Namespace, r.object.Name, recreateGate)
		r.recorder.Event(r.object, controller.Warning, "UnknownStrategy", "%v", err)
		return err
	}
	r.status = map[string]any{
		"currentRevision": r.current.Name, "updateRevision": r.update.Name, "collisionCount": r.collisions,
	}
	controller.SetCount(r.status, "observedGeneration", controller.IntOr(r.object.View(), 0, "metadata", "generation"))
	if conditions := r.object.View().At("status", "conditions"); !conditions.IsNil() && r.completesUpdates() {
		r.status["conditions"] = conditions.Copy()
	}
	r.sort(pods)
	r.countPods()
	if r.object.Terminating {
		return nil
	}
	if r.strategy == "Recreate" {
		gone, err := r.deleteOutdated()
		if err != nil || !gone {
			r.countPods()
			return err
		}
		if r.current.Name != r.update.Name {
			r.setProgressing("True", "RecreateInProgress", "Waiting for new-revision pods to be created")
		}
	}
	stop, err := r.each(r.replicas, r.process)
	if !stop && err == nil {
		stop, err = r.each(r.condemned, func(p *replica) (bool, error) { return false, r.retainClaims(p) })
	}
	if !stop && err == nil {
		stop, err = r.each(r.condemned, r.condemn)
	}
	r.countPods()
	if stop || err != nil || r.strategy == "OnDelete" || r.strategy == "Recreate" {
		return err
	}
	return r.roll()
}

// sort sorts the Pods into replicas and condemned, and adds the replicas that do not
// exist.
func (r *run) sort(pods []*controller.Object) {
	r.replicas = make([]*replica, r.count)
	for _, o := range pods {
		_, ordinal := parse(o.Name)
		p := &replica{name: o.Name, ordinal: ordinal, object: o, obj: o.View()}
		switch {
		case ordinal < 0:
		case ordinal >= r.first && ordinal < r.first+r.count:
			r.replicas[ordinal-r.first] = p
		default:
			r.condemned = append(r.condemned, p)
		}
	}
	for i := range r.replicas {
		if r.replicas[i] == nil {
			r.replicas[i] = r.newReplica(r.first + int64(i))
		}
	}
	slices.SortStableFunc(r.condemned, func(a, b *replica) int { return cmp.Compare(b.ordinal, a.ordinal) })
	all := slices.Clone(r.replicas)
	for _, p := range slices.Backward(r.condemned) {
		all = append(all, p)
	}
	for _, p := range all {
		if r.unhealthy == nil && !r.available(p) {
			r.unhealthy = p
		}
	}
}

// available reports whether a Pod is available and not being deleted.
func (r *run) available(p *replica) bool {
	return controller.PodAvailable(p.obj, r.minReady, r.now) && !p.terminating()
}

// each calls f for Pods: for one after the other until it returns true, or for all.
func (r *run) each(pods []*replica, f func(*replica) (bool, error)) (stop bool, err error) {
	if !r.ordered {
		_, err := controller.SlowStart(len(pods), func(i int) error {
			_, err := f(pods[i])
			return err
		})
		return err != nil, err
	}
	for _, p := range pods {
		if stop, err := f(p); stop || err != nil {
			return true, err
		}
	}
	return false, nil
}

// process creates or repairs a replica. It returns true if those after it have to wait.
func (r *run) process(p *replica) (stop bool, err error) {
	if p.phase() == "Failed" || p.phase() == "Succeeded" {
		if !p.terminating() {
			err = r.delete(p)
		}
		return true, err
	}
	if p.object == nil {
		if r.claimsAreStale(p) {
			return true, nil
		}
		if err := r.create(p); err != nil || r.ordered {
			return true, err
		}
		return false, nil
	}
	if p.phase() == "Pending" {
		if err := r.createClaims(p); err != nil {
			return true, err
		}
		if err := r.retainClaims(p); err != nil {
			r.record("update", p, err)
			return true, err
		}
	}
	if r.ordered && (p.terminating() || !p.ready() || !controller.PodAvailable(p.obj, r.minReady, r.now)) {
		return true, nil
	}
	return false, r.repair(p)
}

// condemn deletes a Pod that the set does not need. It returns true if those after it
// have to wait.
func (r *run) condemn(p *replica) (bool, error) {
	if p.terminating() {
		return r.ordered, nil
	}
	if r.ordered && p != r.unhealthy && (!p.ready() || !controller.PodAvailable(p.obj, r.minReady, r.now)) {
		return true, nil
	}
	return true, r.delete(p)
}

// create creates a Pod and its claims.
func (r *run) create(p *replica) error {
	if err := r.createClaims(p); err != nil {
		r.record("create", p, err)
		return err
	}
	created, err := r.client.Create(controller.Pods, r.object.Namespace, p.obj.CopyObject())
	if controller.IsAlreadyExists(err) {
		return err
	}
	if err == nil {
		p.object = created // its phase remains "": the next sync counts it
	}
	if e := r.retainClaims(p); e != nil {
		r.record("update", p, e)
		return e
	}
	r.record("create", p, err)
	return err
}

func (r *run) delete(p *replica) error {
	err := r.client.Delete(controller.Pods, r.object.Namespace, p.name, controller.DeleteOptions{})
	if controller.IsNotFound(err) {
		err = nil
	}
	r.record("delete", p, err)
	return err
}

// repair sets the name label, the volumes and the owners of the claims of a Pod to those that
// the set wants.
func (r *run) repair(p *replica) error {
	identity := p.obj.String("metadata", "labels", nameLabel) == p.name
	storage := r.hasStorage(p)
	retained := r.claimsRetained(p)
	if identity && storage && retained {
		return nil
	}
	obj := p.obj.CopyObject()
	if !identity {
		r.setIdentity(obj, p.name, p.ordinal)
	}
	if !storage {
		r.setStorage(obj, p.ordinal)
		if err := r.createClaims(p); err != nil {
			r.record("update", p, err)
			return err
		}
	}
	if !retained {
		if err := r.retainClaims(p); err != nil {
			r.record("update", p, err)
			return err
		}
	}
	_, err := r.client.Update(controller.Pods, "", obj)
	r.record("update", p, err)
	return err
}

// newReplica returns a Pod that is to be created, of the revision for its ordinal.
func (r *run) newReplica(ordinal int64) *replica {
	revision := r.update
	rolling := r.spec.At("updateStrategy", "rollingUpdate")
	switch {
	case !rolling.IsNil():
		if ordinal < r.first+controller.IntOr(rolling, 0, "partition") {
			revision = r.current
		}
	case r.strategy == "RollingUpdate":
		if ordinal < r.first+controller.IntOr(r.object.View(), 0, "status", "currentReplicas") {
			revision = r.current
		}
	}
	name := fmt.Sprintf("%s-%d", r.object.Name, ordinal)
	obj := controller.PodFromTemplate(history.Template(revision), r.object)
	r.setIdentity(obj, name, ordinal)
	object.EnsureMap(object.Meta(obj), "labels")[revisionLabel] = revision.Name
	spec := object.EnsureMap(obj, "spec")
	spec["hostname"] = name
	if service := r.spec.String("serviceName"); service != "" {
		spec["subdomain"] = service
	}
	r.setStorage(obj, ordinal)
	return &replica{name: name, ordinal: ordinal, obj: object.ViewOf(obj)}
}

func (r *run) setIdentity(obj map[string]any, name string, ordinal int64) {
	meta := object.Meta(obj)
	meta["name"], meta["namespace"] = name, r.object.Namespace
	labels := object.EnsureMap(meta, "labels")
	labels[nameLabel], labels[indexLabel] = name, strconv.FormatInt(ordinal, 10)
}

// record records an Event about what happened to a Pod: verb is create, update or
// delete.
func (r *run) record(verb string, p *replica, err error) {
	verb = strings.ToUpper(verb[:1]) + verb[1:]
	if err == nil {
		r.recorder.Event(r.object, controller.Normal, "Successful"+verb, "%s Pod %s in StatefulSet %s successful", verb, p.name, r.object.Name)
		return
	}
	r.recorder.Event(r.object, controller.Warning, "Failed"+verb, "%s Pod %s in StatefulSet %s failed error: %v", verb, p.name, r.object.Name, err)
}

// countPods counts the Pods in the status.
func (r *run) countPods() {
	var existing, ready, available, current, updated int64
	for _, p := range slices.Concat(r.replicas, r.condemned) {
		if p.phase() == "" {
			continue
		}
		existing++
		if p.ready() {
			ready++
			if controller.PodAvailable(p.obj, r.minReady, r.now) {
				available++
			}
		}
		if !p.terminating() {
			if p.revision() == r.current.Name {
				current++
			}
			if p.revision() == r.update.Name {
				updated++
			}
		}
	}
	r.status["replicas"], r.status["availableReplicas"] = existing, available
	controller.SetCount(r.status, "readyReplicas", ready)
	controller.SetCount(r.status, "currentReplicas", current)
	controller.SetCount(r.status, "updatedReplicas", updated)
}

// completesUpdates reports whether the controller knows when an update is complete that is not a
// rolling one.
func (r *run) completesUpdates() bool { return r.env.Release().Has(behavior.StatefulSetUpdates) }

// writeStatus writes the status if it has changed. An update that is complete makes its revision
// the current one.
func (r *run) writeStatus() error {
	s := r.status
	if s == nil {
		return nil
	}
	if (r.strategy == "RollingUpdate" || r.completesUpdates()) && controller.Count(s, "updatedReplicas") == r.count &&
		controller.Count(s, "readyReplicas") == r.count && s["replicas"] == r.count {
		controller.SetCount(s, "currentReplicas", r.count)
		s["currentRevision"] = s["updateRevision"]
		if r.strategy == "Recreate" && controller.ConditionIn(s, progressing) != nil {
			r.setProgressing("False", "RecreateCompleted", "All pods recreated successfully")
		}
	}
	old := r.object.View().At("status")
	same := controller.Count(s, "observedGeneration") <= controller.IntOr(old, 0, "observedGeneration")
	for _, field := range []string{"replicas", "currentReplicas", "readyReplicas", "updatedReplicas", "availableReplicas"} {
		same = same && controller.Count(s, field) == controller.IntOr(old, 0, field)
	}
	if r.completesUpdates() {
		same = same && old.At("conditions").EqualTo(s["conditions"])
	}
	if same && old.At("currentRevision").EqualTo(s["currentRevision"]) && old.At("updateRevision").EqualTo(s["updateRevision"]) {
		return nil
	}
	_, err := r.client.WriteStatus(r.object, s, 4)
	return err
}

// parse returns the name of the StatefulSet and the ordinal in the name of a Pod: "web"
// and 1 for "web-1". The ordinal is -1 if there is none.
func parse(name string) (parent string, ordinal int64) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || strings.Trim(name[i+1:], "0123456789") != "" {
		return "", -1
	}
	ordinal, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil {
		return "", -1
	}
	return name[:i], ordinal
}
