// Package replicationcontroller has the replicationcontroller-controller: a
// ReplicationController has as many Pods as its spec.replicas says. It is the
// replicaset-controller for another resource.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller/.
package replicationcontroller

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/replicaset"
	"github.com/kubefake/kubefake/internal/selector"
)

// Start starts the controller.
func Start(e *controller.Env) {
	replicaset.StartKind(e, replicaset.Kind{
		Resource: controller.ReplicationControllers, Account: "replication-controller", Component: "replication-controller",
		Selector: selects,
	})
}

// selects returns the selector of a ReplicationController, which is a map of labels.
func selects(rc *controller.Object) (selector.Labels, error) {
	labels := rc.View().At("spec", "selector")
	if labels.Len() == 0 {
		return selector.Nothing(), nil
	}
	return selector.FromMap(map[string]any{"matchLabels": labels.Shared()}).Selector()
}
