package nodelifecycle

import (
	"errors"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// health is what is known of the heartbeats of a Node.
type health struct {
	ready   object.View // the condition Ready when it was seen last; nothing if there was none
	seen    time.Time   // when the last heartbeat was noticed
	renewed time.Time   // renewTime of the Lease; zero if there is none
}

// conditionTypes are the conditions that become Unknown.
var conditionTypes = []string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}

// checkHealth notices a heartbeat of a Node: a new lastHeartbeatTime of its condition
// Ready, or a new renewTime of its Lease. It writes the conditions of a Node that has
// missed its grace period. It returns the status of the condition Ready before and after;
// now is "" if there is no condition.
func (c *nodeLifecycle) checkHealth(node *controller.Object) (was, now string, err error) {
	at := c.env.Now()
	created := controller.Time(node.View(), "metadata", "creationTimestamp")
	ready := controller.Condition(node.View(), "Ready")
	if c.leasesAreStale() {
		return "", "", errStaleLeases
	}
	h, grace := c.health[node.Name], monitorGracePeriod
	was = ready.String("status")
	if ready.IsNil() {
		was, grace = "Unknown", startupGracePeriod
	}
	switch {
	case h == nil && ready.IsNil():
		h = &health{seen: created}
	case h == nil, h.ready.IsNil() != ready.IsNil():
		h = &health{seen: at}
	case !ready.IsNil() && !h.ready.At("lastHeartbeatTime").Equal(ready.At("lastHeartbeatTime")):
		h = &health{seen: at, renewed: h.renewed}
	}
	h.ready = ready
	c.health[node.Name] = h
	lease := c.leases.Get(leaseNamespace, node.Name)
	if lease != nil {
		if t := controller.Time(lease.View(), "spec", "renewTime"); t.After(h.renewed) {
			h.renewed, h.seen = t, at
		}
	}
	if !at.After(h.seen.Add(grace)) || was == "Unknown" && !ready.IsNil() {
		return was, ready.String("status"), nil
	}
	if err := c.confirm(node.Name, lease); err != nil {
		return was, ready.String("status"), err
	}
	changed := node.Copy()
	status := object.EnsureMap(changed, "status")
	for _, typ := range conditionTypes {
		condition := controller.ConditionIn(status, typ)
		switch {
		case condition == nil:
			status["conditions"] = append(object.List(status, "conditions"), map[string]any{
				"type": typ, "status": "Unknown", "reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status.",
				"lastHeartbeatTime": clock.Timestamp(created), "lastTransitionTime": clock.Timestamp(at),
			})
		case object.String(condition, "status") != "Unknown":
			condition["status"], condition["reason"], condition["message"] = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
			condition["lastTransitionTime"] = clock.Timestamp(at)
		}
	}
	h.ready = object.ViewOf(object.Copy(controller.ConditionIn(status, "Ready")))
	_, err = c.client.UpdateStatus(controller.Nodes, changed)
	return was, "Unknown", err
}

// circuitBreaker is the feature gate with which no Node becomes Unknown because of Leases that the
// informer has not shown yet.
const circuitBreaker = "NodeControllerLeaseCircuitBreaker"

// errStaleLeases ends the check of a Node until the next period.
var errStaleLeases = errors.New("the informer does not show the newest Leases")

// leasesAreStale reports whether the informer does not show a Lease that the controller has read:
// then no Node is checked.
func (c *nodeLifecycle) leasesAreStale() bool {
	if c.unseen == nil {
		return false
	}
	shown := c.leases.Get(c.unseen.Namespace, c.unseen.Name)
	if shown == nil || shown.Revision < c.unseen.Revision {
		return true
	}
	c.unseen = nil
	return false
}

// confirm reads the Lease of a Node that seems silent. It fails if that is not the one of the
// informer.
func (c *nodeLifecycle) confirm(node string, shown *controller.Object) error {
	if !c.env.Release().Enabled(circuitBreaker) {
		return nil
	}
	live, err := c.client.Get(controller.Leases, leaseNamespace, node)
	switch {
	case controller.IsNotFound(err):
		return nil
	case err != nil:
		return errStaleLeases
	case shown == nil || shown.Revision != live.Revision:
		c.unseen = live
		return errStaleLeases
	}
	return nil
}
