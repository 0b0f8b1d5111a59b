// Package disruption has the disruption-controller: it calculates how many Pods of a
// PodDisruptionBudget may be evicted.
//
// See https://kubernetes.io/docs/concepts/workloads/pods/disruptions/.
package disruption

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	// deletionTimeout is how long an eviction counts as a disruption of a Pod that is
	// not being deleted.
	deletionTimeout = 2 * time.Minute
	// staleTimeout is how long a Pod that is not being deleted keeps the condition
	// DisruptionTarget.
	staleTimeout = 2 * time.Minute
)

type disruption struct {
	env         *controller.Env
	client      *controller.Client
	events      *controller.Recorder
	budgets     *controller.Informer
	pods        *controller.Informer
	replicaSets *controller.Informer
	deployments *controller.Informer
	scaled      map[groupKind]*controller.Informer // other controllers whose scale informers show

	queue *controller.Queue // of budgets
	stale *controller.Queue // of Pods with the condition DisruptionTarget
}

type groupKind struct{ group, kind string }

// Start starts the controller.
func Start(e *controller.Env) {
	c := &disruption{env: e, client: e.Client("disruption-controller")}
	c.events = e.Recorder(c.client, "controllermanager")
	c.queue = e.Queue(c.sync)
	c.stale = e.Queue(c.syncStale)
	c.replicaSets = e.Informer(controller.ReplicaSets)
	c.deployments = e.Informer(controller.Deployments)
	c.scaled = map[groupKind]*controller.Informer{
		{"", "ReplicationController"}: e.Informer(controller.ReplicationControllers),
		{"apps", "StatefulSet"}:       e.Informer(controller.StatefulSets),
	}
	c.budgets = e.Informer(controller.PodDisruptionBudgets, func(_, budget *controller.Object) {
		if budget != nil {
			c.queue.Add(budget.Key())
		}
	})
	c.pods = e.Informer(controller.Pods, c.podChanged)
}

// podChanged queues the budget of a Pod.
func (c *disruption) podChanged(old, pod *controller.Object) {
	changed := pod
	if pod == nil {
		changed = old
	}
	if budget := c.budgetOf(changed); budget != nil {
		c.queue.Add(budget.Key())
	}
	if pod != nil {
		if stale, left := c.isStale(pod); stale {
			c.stale.AddAfter(pod.Key(), left)
		}
	}
}

// budgetOf returns the budget that selects a Pod, nil if there is none. Of several it
// returns the first.
func (c *disruption) budgetOf(pod *controller.Object) *controller.Object {
	var found []*controller.Object
	for _, budget := range c.budgets.List(pod.Namespace, selector.Labels{}) {
		labels, err := controller.LabelSelector(budget.View(), "spec", "selector")
		if err == nil && labels.Matches(selector.Map(pod.Labels)) {
			found = append(found, budget)
		}
	}
	if len(found) == 0 {
		return nil
	}
	if len(found) > 1 {
		c.events.Event(pod, controller.Warning, "MultiplePodDisruptionBudgets",
			"Pod %q/%q matches multiple PodDisruptionBudgets.  Chose %q arbitrarily.", pod.Namespace, pod.Name, found[0].Name)
	}
	return found[0]
}

// sync writes the status of a budget. If it cannot be calculated, the budget permits no
// eviction.
func (c *disruption) sync(k controller.Key) error {
	budget := c.budgets.Get(k.Namespace, k.Name)
	if budget == nil {
		return nil
	}
	err := c.calculate(budget)
	if err == nil || controller.IsConflict(err) {
		return err
	}
	status := budget.View().At("status").CopyObject()
	if status == nil {
		status = map[string]any{}
	}
	status["disruptionsAllowed"] = int64(0)
	c.setAllowed(status, "False", "SyncFailed", err.Error())
	_, err = c.client.WriteStatus(budget, status, 0)
	return err
}

// calculate writes the status of a budget, if it changes.
func (c *disruption) calculate(budget *controller.Object) error {
	labels, err := controller.LabelSelector(budget.View(), "spec", "selector")
	if err != nil {
		c.events.Event(budget, controller.Warning, "NoPods", "Failed to get pods: %v", err)
		return err
	}
	pods := c.pods.List(budget.Namespace, labels)
	if len(pods) == 0 {
		c.events.Event(budget, controller.Normal, "NoPods", "No matching pods found")
	}
	count, err := c.count(budget, pods)
	if err != nil {
		c.events.Event(budget, controller.Warning, "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: %v", err)
		return err
	}
	if count.unmanaged {
		c.events.Event(budget, controller.Warning, "UnmanagedPods", "Pods selected by this PodDisruptionBudget (selector: %s) were found "+
			"to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "+
			"To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.", selectorText(budget.View().At("spec", "selector")))
	}
	now := c.env.Now()
	disrupted, recheck := c.disrupted(budget, pods, now)
	var healthy int64
	for _, pod := range pods {
		if since, ok := disrupted[pod.Name].(string); ok && disruptedAt(since).Add(deletionTimeout).After(now) {
			continue
		}
		if !pod.Terminating && controller.PodReady(pod.View()) {
			healthy++
		}
	}
	if err := c.write(budget, healthy, count, disrupted); err != nil {
		return err
	}
	if !recheck.IsZero() {
		c.queue.AddAfter(budget.Key(), max(recheck.Sub(now), time.Second))
	}
	return nil
}

// disruptedAt returns a time in status.disruptedPods.
func disruptedAt(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

// disrupted returns the evicted Pods that are still to be deleted, by their names, and
// the time at which the first of them is not expected to be deleted any more.
func (c *disruption) disrupted(budget *controller.Object, pods []*controller.Object, now time.Time) (kept map[string]any, recheck time.Time) {
	kept = map[string]any{}
	old := budget.View().At("status", "disruptedPods")
	for _, pod := range pods {
		since, found := old.At(pod.Name).Shared().(string)
		if pod.Terminating || !found {
			continue
		}
		end := disruptedAt(since).Add(deletionTimeout)
		if end.Before(now) {
			c.events.Event(pod, controller.Warning, "NotDeleted", "Pod was expected by PDB %s/%s to be deleted but it wasn't", budget.Namespace, budget.Namespace)
			continue
		}
		if recheck.IsZero() || end.Before(recheck) {
			recheck = end
		}
		kept[pod.Name] = since
	}
	return kept, recheck
}

// A podCount is how many Pods a budget expects, and how many of them must be healthy.
type podCount struct {
	expected, desired int64
	unmanaged         bool // there are Pods without a controller
}

func (c *disruption) count(budget *controller.Object, pods []*controller.Object) (n podCount, err error) {
	spec := budget.View().At("spec")
	if v := spec.At("maxUnavailable"); !v.IsNil() {
		if n.expected, n.unmanaged, err = c.expectedScale(pods); err != nil {
			return n, err
		}
		unavailable, err := controller.Scaled(v, n.expected, true)
		n.desired = max(n.expected-unavailable, 0)
		return n, err
	}
	available := spec.At("minAvailable")
	switch v := available.Shared().(type) {
	case int64:
		n.desired, n.expected = v, int64(len(pods))
	case string:
		if n.expected, n.unmanaged, err = c.expectedScale(pods); err != nil {
			return n, err
		}
		n.desired, err = controller.Scaled(available, n.expected, true)
	}
	return n, err
}

// expectedScale returns the sum of the replicas of the controllers of Pods.
func (c *disruption) expectedScale(pods []*controller.Object) (sum int64, unmanaged bool, err error) {
	known := map[string]bool{} // UIDs
	for _, pod := range pods {
		ref := pod.View().ControllerOf()
		if ref.IsNil() {
			unmanaged = true
			continue
		}
		if known[ref.String("uid")] {
			continue
		}
		uid, replicas, err := c.scale(pod.Namespace, ref)
		if err != nil {
			return 0, unmanaged, err
		}
		if uid == "" {
			return 0, unmanaged, fmt.Errorf("found no controllers for pod %q", pod.Name)
		}
		if !known[uid] {
			known[uid] = true
			sum += replicas
		}
	}
	return sum, unmanaged, nil
}

// scale returns the UID and the replicas of the controller of a Pod: of the Deployment
// of a ReplicaSet, of what an informer shows, or of the subresource scale. The UID is ""
// if there is no such controller.
func (c *disruption) scale(namespace string, ref object.View) (uid string, replicas int64, err error) {
	gv, err := resource.ParseGroupVersion(ref.String("apiVersion"))
	if err != nil {
		return "", 0, err
	}
	kind, name := ref.String("kind"), ref.String("name")
	var owner *controller.Object
	if kind == "ReplicaSet" && isApps(gv.Group) {
		if owner = c.replicaSets.Get(namespace, name); owner != nil && owner.UID == ref.String("uid") {
			if up := owner.View().ControllerOf(); !up.IsNil() && up.String("kind") == "Deployment" {
				if d := c.deployments.Get(namespace, up.String("name")); d != nil && d.UID == up.String("uid") {
					return d.UID, controller.IntOr(d.View(), 1, "spec", "replicas"), nil
				}
				owner = nil
			}
		}
	} else if informer := c.scaled[groupKind{gv.Group, kind}]; informer != nil {
		owner = informer.Get(namespace, name)
	}
	if owner != nil && owner.UID == ref.String("uid") {
		return owner.UID, controller.IntOr(owner.View(), 1, "spec", "replicas"), nil
	}
	return c.subresource(namespace, gv, kind, name, ref.String("uid"))
}

func isApps(group string) bool { return group == "apps" || group == "extensions" }

// subresource returns the UID and the replicas of an object by its subresource scale.
func (c *disruption) subresource(namespace string, gv resource.GroupVersion, kind, name, uid string) (string, int64, error) {
	t := c.env.Types().ForKind(resource.Kind{GroupVersion: gv, Kind: kind})
	if t == nil {
		return "", 0, fmt.Errorf("no matches for kind %q in version %q", kind, gv)
	}
	if t.Subresource("scale") == nil {
		groupResource := t.Name
		if t.Group != "" {
			groupResource += "." + t.Group
		}
		return "", 0, fmt.Errorf("%s does not implement the scale subresource", groupResource)
	}
	scale, err := c.client.Scale(controller.ResourceOf(t), namespace, name)
	switch {
	case controller.IsNotFound(err):
		return "", 0, nil
	case err != nil:
		return "", 0, err
	case object.String(scale, "metadata", "uid") != uid:
		return "", 0, nil
	}
	replicas, _ := object.Int(scale, "spec", "replicas")
	return uid, replicas, nil
}

// write writes the status of a budget, if it changes.
func (c *disruption) write(budget *controller.Object, healthy int64, n podCount, disrupted map[string]any) error {
	allowed := max(healthy-n.desired, 0)
	if n.expected <= 0 {
		allowed = 0
	}
	old := budget.View().At("status")
	status := map[string]any{
		"currentHealthy": healthy, "desiredHealthy": n.desired, "expectedPods": n.expected, "disruptionsAllowed": allowed,
	}
	if len(disrupted) > 0 {
		status["disruptedPods"] = disrupted
	}
	if generation, ok := budget.View().Int("metadata", "generation"); ok {
		status["observedGeneration"] = generation
	}
	is, reason := "False", "InsufficientPods"
	if allowed > 0 {
		is, reason = "True", "SufficientPods"
	}
	condition := controller.Condition(budget.View(), allowedType)
	before := old.ShallowCopy()
	delete(before, "conditions")
	if object.Equal(before, status) && condition.String("status") == is && condition.String("reason") == reason {
		return nil
	}
	status["conditions"] = old.At("conditions").Copy()
	c.setAllowed(status, is, reason, "")
	_, err := c.client.WriteStatus(budget, status, 0)
	return err
}

const allowedType = "DisruptionAllowed"

// setAllowed sets the condition DisruptionAllowed, in its place if status has it.
func (c *disruption) setAllowed(status map[string]any, is, reason, message string) {
	condition := map[string]any{
		"type": allowedType, "status": is, "reason": reason, "message": message, "lastTransitionTime": clock.Timestamp(c.env.Now()),
	}
	object.Keep(condition, object.ViewOf(status), "observedGeneration")
	controller.PutCondition(status, condition)
}

// isStale reports whether a Pod has the condition DisruptionTarget although nothing
// deletes it, and how long it keeps it.
func (c *disruption) isStale(pod *controller.Object) (stale bool, left time.Duration) {
	condition := controller.Condition(pod.View(), controller.DisruptionTarget)
	if pod.Terminating || condition.String("status") != "True" || condition.String("reason") == "TerminationByKubelet" ||
		controller.PodEnded(pod.View()) {
		return false, 0
	}
	return true, max(staleTimeout-c.env.Now().Sub(controller.Time(condition, "lastTransitionTime")), 0)
}

// syncStale sets the condition DisruptionTarget of a Pod to False that nothing deletes.
func (c *disruption) syncStale(k controller.Key) error {
	pod := c.pods.Get(k.Namespace, k.Name)
	if pod == nil {
		return nil
	}
	stale, left := c.isStale(pod)
	if !stale {
		return nil
	}
	if left > 0 {
		c.stale.AddAfter(k, left)
		return nil
	}
	status := pod.View().At("status").CopyObject()
	condition := controller.PodCondition(pod.View(), controller.DisruptionTarget, "False", "", "", c.env.Now())
	delete(condition, "reason") // the status is replaced, not patched
	delete(condition, "message")
	controller.PutCondition(status, condition)
	_, err := c.client.WriteStatus(pod, status, 0)
	return err
}

// selectorText returns a label selector as Go prints it in messages of Kubernetes.
func selectorText(s object.View) string {
	if s.IsNil() {
		return "nil"
	}
	labels := controller.Labels(s, "matchLabels")
	var b strings.Builder
	b.WriteString("&LabelSelector{MatchLabels:map[string]string{")
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "%s: %s,", name, labels[name])
	}
	b.WriteString("},MatchExpressions:[]LabelSelectorRequirement{")
	for e := range s.At("matchExpressions").Objects() {
		fmt.Fprintf(&b, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.String("key"), e.String("operator"), e.Strings("values"))
	}
	b.WriteString("},}")
	return b.String()
}
