// Package namespace has the namespace-controller: it deletes what a namespace has when
// the namespace is deleted, and then removes the finalizer that keeps the namespace.
//
// See https://kubernetes.io/docs/tasks/administer-cluster/namespaces/#deleting-a-namespace.
package namespace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
)

const (
	// finalizer is the element of spec.finalizers that the controller removes.
	finalizer = "kubernetes"

	// resync is the time after which a namespace that changes while it is deleted is
	// looked at again.
	resync = 5 * time.Second

	// maxBackoff is the longest time between two attempts.
	maxBackoff = time.Minute

	// finalizerEstimate is how many seconds the finalizers of an object are assumed to
	// take.
	finalizerEstimate = 15
)

type namespaces struct {
	env      *controller.Env
	client   *controller.Client
	informer *controller.Informer
	services *controller.Informer // APIServices
	queue    *controller.Queue

	// contents is the number of objects in each namespace.
	contents map[string]content
}

type content struct{ pods, all int }

// Start starts the controller.
//
// Differs from kube-apiserver: deletion of a namespace: kube-controller-manager begins
// five seconds after the namespace is marked, and looks for what is left at intervals.
// Here the controller begins at once, and continues when the last object is gone.
// Request: DELETE of a Namespace with the namespace-controller on.
func Start(e *controller.Env) {
	c := &namespaces{env: e, client: e.Client("namespace-controller"), contents: map[string]content{}}
	c.queue = e.Queue(c.sync, controller.QueueOptions{MaxBackoff: maxBackoff})
	c.informer = e.Informer(controller.Namespaces, c.changed)
	c.services = e.Informer(controller.APIServices)
	e.EachChange(c.count)
}

// changed queues a namespace that is being deleted.
func (c *namespaces) changed(old, ns *controller.Object) {
	switch {
	case ns == nil || !ns.Terminating:
	case old == nil || !old.Terminating:
		c.queue.Add(ns.Key())
	default:
		c.queue.AddAfter(ns.Key(), resync)
	}
}

// count counts the objects of namespaces. It queues a namespace that is being deleted
// when its last Pod or its last object is gone.
func (c *namespaces) count(old, o *controller.Object) {
	if old != nil && o != nil {
		return
	}
	n := 1
	if o == nil {
		o, n = old, -1
	}
	if o.Namespace == "" {
		return
	}
	has := c.contents[o.Namespace]
	isPod := o.Type.Group == "" && o.Type.Name == "pods"
	has.all += n
	if isPod {
		has.pods += n
	}
	if has == (content{}) {
		delete(c.contents, o.Namespace)
	} else {
		c.contents[o.Namespace] = has
	}
	if n < 0 && (has.all == 0 || isPod && has.pods == 0) {
		if ns := c.informer.Get("", o.Namespace); ns != nil && ns.Terminating {
			c.queue.Add(ns.Key())
		}
	}
}

// sync deletes the content of a namespace and removes the finalizer when nothing is
// left.
func (c *namespaces) sync(k controller.Key) error {
	if c.informer.Get("", k.Name) == nil {
		return nil
	}
	ns, err := c.client.Get(controller.Namespaces, "", k.Name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if !ns.Terminating {
		return nil
	}
	if ns.View().String("status", "phase") != "Terminating" {
		if ns, err = c.retry(ns, c.markTerminating); err != nil {
			return ignoreNotFound(err)
		}
	}
	if ns.View().Len("spec", "finalizers") == 0 {
		return nil
	}
	estimate, err := c.deleteContent(ns)
	if err != nil {
		return err
	}
	if estimate > 0 {
		c.queue.AddAfter(k, time.Duration(estimate/2+1)*time.Second)
		return nil
	}
	_, err = c.retry(ns, c.finalize)
	return ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if controller.IsNotFound(err) {
		return nil
	}
	return err
}

// retry calls write, with a newer version of the namespace after each conflict.
func (c *namespaces) retry(ns *controller.Object, write func(*controller.Object) (*controller.Object, error)) (*controller.Object, error) {
	for {
		out, err := write(ns)
		if !controller.IsConflict(err) {
			return out, err
		}
		fresh, err := c.client.Get(controller.Namespaces, "", ns.Name)
		if err != nil {
			return nil, err
		}
		if fresh.UID != ns.UID {
			return nil, errors.New("namespace uid has changed across retries")
		}
		ns = fresh
	}
}

func (c *namespaces) markTerminating(ns *controller.Object) (*controller.Object, error) {
	obj := ns.Copy()
	object.Set(obj, "Terminating", "status", "phase")
	return c.client.UpdateStatus(controller.Namespaces, obj)
}

func (c *namespaces) finalize(ns *controller.Object) (*controller.Object, error) {
	obj := ns.Copy()
	delete(obj, "status")
	kept := slices.DeleteFunc(object.Strings(obj, "spec", "finalizers"), func(f string) bool { return f == finalizer })
	slices.Sort(kept)
	object.Set(obj, object.FromStrings(slices.Compact(kept)), "spec", "finalizers")
	return c.client.Update(controller.Namespaces, "finalize", obj)
}

// undiscovered returns an error for each group version whose resources are not known:
// that of an APIService with a service that is not available.
func (c *namespaces) undiscovered() (failures []string) {
	for _, o := range c.services.List("", selector.Labels{}) {
		obj := o.View()
		if obj.IsNil("spec", "service") || controller.HasCondition(obj, "Available", "True") {
			continue
		}
		gv := resource.GroupVersion{Group: obj.String("spec", "group"), Version: obj.String("spec", "version")}
		if !c.env.Types().ServesVersion(gv) {
			failures = append(failures, fmt.Sprintf("%s: stale GroupVersion discovery: %s", gv, gv))
		}
	}
	slices.Sort(failures)
	return failures
}

// remains is what is left after the deletion of resources.
type remains struct {
	resources  map[string]int // the number of objects of each resource, such as "pods."
	finalizers map[string]int // the number of objects that wait for each finalizer
}

// add adds what is left of one resource.
func (r *remains) add(t *resource.Type, left []*controller.Object) {
	if len(left) == 0 {
		return
	}
	r.resources[t.Name+"."+t.Group] += len(left)
	for _, o := range left {
		for _, f := range o.Finalizers() {
			r.finalizers[f]++
		}
	}
}

// deleteContent deletes the objects of a namespace, the Pods first, and writes the
// conditions of the namespace. It returns how many seconds the rest is estimated to
// need, 0 if nothing is left.
func (c *namespaces) deleteContent(ns *controller.Object) (estimate int64, err error) {
	var errs, contentErrs []error
	report := conditions{}
	left := remains{resources: map[string]int{}, finalizers: map[string]int{}}

	if groups := c.undiscovered(); len(groups) > 0 {
		err := errors.New("unable to retrieve the complete list of server APIs: " + strings.Join(groups, ", "))
		errs = append(errs, err)
		report.fail(discoveryFailure, "DiscoveryFailed", fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(groups), err))
	}
	types := slices.DeleteFunc(c.env.PreferredTypes(), func(t *resource.Type) bool { return !t.Namespaced || !t.Allows("delete") })
	isPods := func(t *resource.Type) bool { return t.Group == "" && t.Name == "pods" }
	if i := slices.IndexFunc(types, isPods); i > 0 {
		pods := types[i]
		copy(types[1:i+1], types[:i])
		types[0] = pods
	}
	for _, t := range types {
		seconds, err := c.deleteResource(t, ns, &left)
		if err != nil {
			contentErrs = append(contentErrs, err)
			if isPods(t) {
				err = fmt.Errorf("failed to delete pods for namespace: %s, err: %w", ns.Name, err)
			}
			errs = append(errs, err)
		}
		estimate = max(estimate, seconds)
		if isPods(t) && len(left.resources) > 0 {
			// What Pods may still need waits for them. kube-controller-manager does not
			// report the Pods as remaining content either.
			left = remains{}
			break
		}
	}
	report.contentFailed(contentErrs)
	report.contentRemains(left)
	obj := ns.Copy()
	if report.write(obj, c.env.Now()) {
		_, _ = c.client.UpdateStatus(controller.Namespaces, obj) // the next attempt writes them too
	}
	if len(errs) > 0 {
		return estimate, errors.New(status.Aggregate(errs))
	}
	return estimate, nil
}

// deleteResource deletes the objects of a resource in a namespace and adds those that
// are left. It returns how many seconds they are estimated to need. Objects that are
// left without a reason are an error.
func (c *namespaces) deleteResource(t *resource.Type, ns *controller.Object, all *remains) (estimate int64, err error) {
	res := controller.ResourceOf(t)
	if res == controller.Pods {
		if estimate, err = c.graceOfPods(ns); err != nil {
			return 0, err
		}
	}
	if err := c.deleteObjects(t, ns.Name); err != nil || !t.Allows("list") {
		return estimate, err
	}
	left, err := c.client.List(res, ns.Name, selector.Labels{})
	if controller.IsNotFound(err) {
		return estimate, nil
	}
	if err != nil {
		return estimate, err
	}
	if len(left) == 0 {
		return 0, nil
	}
	all.add(t, left)
	if estimate > 0 {
		return estimate, nil
	}
	if slices.ContainsFunc(left, func(o *controller.Object) bool { return len(o.Finalizers()) > 0 }) {
		return finalizerEstimate, nil
	}
	return 0, fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", ns.Name, t.Group, t.Version, t.Name)
}

// deleteObjects deletes the objects of a resource in a namespace, or begins their
// deletion.
func (c *namespaces) deleteObjects(t *resource.Type, namespace string) error {
	res, background := controller.ResourceOf(t), controller.DeleteOptions{Propagation: "Background"}
	if t.Allows("deletecollection") {
		return ignoreNotFound(c.client.DeleteCollection(res, namespace, background))
	}
	objects, err := c.client.List(res, namespace, selector.Labels{})
	if err != nil {
		return ignoreNotFound(err)
	}
	for _, o := range objects {
		if err := c.client.Delete(res, namespace, o.Name, background); ignoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// graceOfPods returns the longest grace period of the Pods of a namespace that have not
// ended, 0 if it has passed since the namespace was deleted.
func (c *namespaces) graceOfPods(ns *controller.Object) (seconds int64, err error) {
	pods, err := c.client.List(controller.Pods, ns.Name, selector.Labels{})
	if err != nil {
		return 0, err
	}
	for _, pod := range pods {
		if !controller.PodEnded(pod.View()) {
			seconds = max(seconds, controller.IntOr(pod.View(), 0, "spec", "terminationGracePeriodSeconds"))
		}
	}
	deleted := controller.Time(ns.View(), "metadata", "deletionTimestamp")
	if c.env.Now().Sub(deleted) >= time.Duration(seconds)*time.Second {
		return 0, nil
	}
	return seconds, nil
}
