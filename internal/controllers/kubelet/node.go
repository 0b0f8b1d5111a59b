package kubelet

import (
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/controllers/volume"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	// firstNode is the Node that is registered if there is none.
	firstNode = "node-1"

	leaseNamespace = "kube-node-lease"
	leaseSeconds   = 40
	renewPeriod    = 10 * time.Second
	// statusPeriod is how often the status of a Node is written if nothing changes.
	statusPeriod = 5 * time.Minute
)

// syncNode makes a Node Ready. The key of no Node registers one if there is none.
func (k *kubelet) syncNode(key controller.Key) error {
	if key.Name == "" {
		if k.nodes.Len() == 0 {
			return k.register(firstNode)
		}
		return nil
	}
	o := k.nodes.Get("", key.Name)
	if o == nil || o.Terminating || k.behavior.Stopped(key.Name) {
		return nil
	}
	if stages := k.behavior.Stages("Node"); len(stages) > 0 {
		if err := k.play("Node", stages, o, key.Name, k.nodeQueue); err != nil || !controller.HasCondition(o.View(), "Ready", "True") {
			return err
		}
		return k.adopt(o)
	}
	node := o.View()
	if status := k.nodeStatus(node, key.Name); status != nil {
		_, err := k.patch(controller.Nodes, key.Name, o, "status", map[string]any{"status": status})
		return err
	}
	k.nodeQueue.AddAfter(key, statusPeriod-k.env.Now().Sub(heartbeat(node)))
	return k.adopt(o)
}

// register creates a Node.
func (k *kubelet) register(name string) error {
	o, err := k.client(name).Create(controller.Nodes, "", map[string]any{
		"metadata": map[string]any{"name": name, "labels": nodeLabels(name), "annotations": map[string]any{volume.ControllerManagedAttach: "true"}},
		"status":   k.nodeStatus(object.View{}, name),
	})
	switch {
	case controller.IsAlreadyExists(err):
		return nil
	case err != nil:
		return err
	}
	return k.adopt(o)
}

func nodeLabels(name string) map[string]any {
	return map[string]any{
		"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64",
	}
}

// heartbeat returns when the status of a Node was written.
func heartbeat(node object.View) time.Time {
	return controller.Time(controller.Condition(node, "Ready"), "lastHeartbeatTime")
}

// nodeStatus returns what must change in the status of a Node, nil if nothing must.
func (k *kubelet) nodeStatus(node object.View, name string) map[string]any {
	now := k.env.Now()
	if controller.HasCondition(node, "Ready", "True") && now.Sub(heartbeat(node)) < statusPeriod && node.At("status", "allocatable").IsObject() &&
		node.String("status", "nodeInfo", "kubeletVersion") != "" && node.Len("status", "addresses") > 0 {
		return nil
	}
	status := map[string]any{}
	stamp := clock.Timestamp(now)
	var conditions []any
	for c := range object.Each(lifecycle.NodeConditions()) {
		typ := object.String(c, "type")
		if typ == "NetworkUnavailable" {
			continue // set by the network, if there is one
		}
		c["lastHeartbeatTime"], c["lastTransitionTime"] = stamp, stamp
		if old := controller.Condition(node, typ); !old.IsNil() && old.At("status").EqualTo(c["status"]) && !old.IsNil("lastTransitionTime") {
			c["lastTransitionTime"] = old.At("lastTransitionTime").Shared()
		}
		conditions = append(conditions, c)
	}
	status["conditions"] = conditions
	capacity, allocatable := node.At("status", "capacity"), node.At("status", "allocatable")
	if !capacity.IsObject() {
		if capacity = allocatable; !capacity.IsObject() {
			capacity = object.ViewOf(map[string]any{"cpu": "1k", "memory": "1Ti", "pods": "1M"})
		}
		status["capacity"] = capacity.Copy()
	}
	if !allocatable.IsObject() {
		status["allocatable"] = capacity.Copy()
	}
	if len(internalIPs(node)) == 0 {
		status["addresses"] = []any{
			map[string]any{"type": "InternalIP", "address": k.ips.ofNode(name)},
			map[string]any{"type": "Hostname", "address": name},
		}
	}
	if node.String("status", "nodeInfo", "kubeletVersion") == "" {
		status["nodeInfo"] = map[string]any{
			"architecture": "amd64", "operatingSystem": "linux", "osImage": "fakeapi", "kernelVersion": "fakeapi",
			"kubeletVersion": k.version(), "kubeProxyVersion": "", "containerRuntimeVersion": "fakeapi://" + k.version(),
			"machineID": name, "systemUUID": name, "bootID": name,
		}
	}
	if node.IsNil("status", "daemonEndpoints", "kubeletEndpoint") {
		status["daemonEndpoints"] = map[string]any{"kubeletEndpoint": map[string]any{"Port": int64(10250)}}
	}
	return status
}

const notReadyTaint = "node.kubernetes.io/not-ready"

// adopt sets the labels of a Node, and the annotation of the attach-detach controller. Without the node-lifecycle-controller it also removes
// the taint that kube-apiserver puts on new Nodes.
//
// Differs from kube-apiserver: taint of new Nodes: node-lifecycle-controller removes it
// from a Node that is Ready. If that controller does not run, the kubelet does, so that
// Pods are scheduled. Request: GET of a Node with the controller kubelet on.
func (k *kubelet) adopt(o *controller.Object) error {
	node := o.View()
	change := map[string]any{}
	labels := map[string]any{}
	for name, value := range nodeLabels(o.Name) {
		if _, ok := o.Labels[name]; !ok {
			labels[name] = value
		}
	}
	meta := map[string]any{}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	if _, ok := volume.Annotation(node, volume.ControllerManagedAttach); !ok {
		meta["annotations"] = map[string]any{volume.ControllerManagedAttach: "true"}
	}
	if len(meta) > 0 {
		change["metadata"] = meta
	}
	var kept []any
	found := false
	for taint := range node.At("spec", "taints").Objects() {
		if !k.env.Runs("node-lifecycle-controller") && taint.String("key") == notReadyTaint && taint.String("effect") == controller.NoSchedule {
			found = true
			continue
		}
		kept = append(kept, taint.Shared())
	}
	if found {
		change["spec"] = map[string]any{"taints": kept}
	}
	if len(change) == 0 {
		return nil
	}
	_, err := k.client(o.Name).MergePatch(controller.Nodes, "", o.Name, "", change)
	return err
}

// renewLease creates the Lease of a Node, or renews it.
func (k *kubelet) renewLease(key controller.Key) error {
	node := k.nodes.Get("", key.Name)
	if node == nil || k.behavior.Stopped(key.Name) {
		return nil
	}
	now := k.env.Now()
	stamp := clock.MicroTimestamp(now)
	lease := k.leases.Get(leaseNamespace, key.Name)
	if lease == nil {
		_, err := k.client(key.Name).Create(controller.Leases, leaseNamespace, map[string]any{
			"metadata": map[string]any{
				"name": key.Name, "namespace": leaseNamespace,
				"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": key.Name, "uid": node.UID}},
			},
			"spec": map[string]any{"holderIdentity": key.Name, "leaseDurationSeconds": int64(leaseSeconds), "renewTime": stamp},
		})
		if err != nil && !controller.IsAlreadyExists(err) {
			return err
		}
		k.beats.AddAfter(key, renewPeriod)
		return nil
	}
	last := controller.Time(lease.View(), "spec", "renewTime")
	if left := renewPeriod - now.Sub(last); left > 0 {
		k.beats.AddAfter(key, left)
		return nil
	}
	k.beats.AddAfter(key, renewPeriod)
	changed := lease.Copy()
	object.Set(changed, stamp, "spec", "renewTime")
	_, err := k.client(key.Name).Update(controller.Leases, "", changed)
	return err
}

// patch merges into an object as the kubelet of a Node, if it is still the same object.
func (k *kubelet) patch(res controller.Resource, node string, o *controller.Object, subresource string, change map[string]any) (*controller.Object, error) {
	change["metadata"] = map[string]any{"uid": o.UID}
	changed, err := k.client(node).StrategicPatch(res, o.Namespace, o.Name, subresource, change)
	if controller.IsNotFound(err) || controller.IsConflict(err) {
		return nil, nil // it is gone, or another one
	}
	return changed, err
}
