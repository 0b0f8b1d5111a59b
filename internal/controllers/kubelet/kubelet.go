// Package kubelet has the kubelets of all Nodes: Nodes are Ready and renew their
// Leases, and Pods go through their phases. Nothing runs: what containers do is
// described by Stages and Behaviors of package lifecycle.
//
// Differs from kube-apiserver: what the kubelet does: containers start and stop at once,
// probes succeed, and images exist. Pods are ready, those of Jobs complete. Request: GET
// of a Pod with the controller kubelet on.
package kubelet

import (
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

type kubelet struct {
	env      *controller.Env
	started  time.Time
	behavior *lifecycle.Set
	changes  int64 // of behavior that were seen

	nodes  *controller.Informer
	pods   *controller.Informer
	leases *controller.Informer

	nodeQueue *controller.Queue
	podQueue  *controller.Queue
	beats     *controller.Queue // of Nodes: the renewals of their Leases

	clients   map[string]*controller.Client // of Nodes
	recorders map[string]*controller.Recorder
	backoffs  map[containerKey]*backoff
	delays    map[delayKey]*delay // of Stages
	ips       addresses
}

// Start starts the kubelets.
func Start(e *controller.Env) {
	k := &kubelet{
		env: e, started: e.Now(), behavior: e.Lifecycle(),
		clients: map[string]*controller.Client{}, recorders: map[string]*controller.Recorder{},
		backoffs: map[containerKey]*backoff{}, delays: map[delayKey]*delay{}, ips: newAddresses(),
	}
	k.nodeQueue = e.Queue(k.syncNode)
	k.podQueue = e.Queue(k.syncPod)
	k.beats = e.Queue(k.renewLease)
	k.nodes = e.Informer(controller.Nodes, k.nodeChanged)
	k.pods = e.PodsByNode(k.podChanged)
	k.leases = e.Informer(controller.Leases)
	k.nodeQueue.Add(controller.Key{}) // registers a Node if there is none
	e.Check(k.checkBehavior)
}

// checkBehavior queues all Pods and Nodes if what they do was changed.
func (k *kubelet) checkBehavior() {
	changes := k.behavior.Changes()
	if changes == k.changes {
		return
	}
	k.changes = changes
	for _, n := range k.nodes.List("", selector.Labels{}) {
		k.nodeQueue.Add(n.Key())
		k.beats.Add(n.Key())
	}
	for _, p := range k.pods.List("", selector.Labels{}) {
		k.podQueue.Add(p.Key())
	}
}

func (k *kubelet) nodeChanged(old, new *controller.Object) {
	if new == nil {
		delete(k.clients, old.Name)
		delete(k.recorders, old.Name)
		return
	}
	k.nodeQueue.Add(new.Key())
	if old == nil {
		k.beats.Add(new.Key())
		for _, p := range k.pods.By(controller.ByNode, new.Name) {
			k.podQueue.Add(p.Key())
		}
	}
}

func (k *kubelet) podChanged(old, new *controller.Object) {
	if old != nil && (new == nil || new.UID != old.UID) {
		k.ips.release(old)
		k.forget(old.UID)
	}
	if new == nil {
		return
	}
	pod := new.View()
	if controller.PodEnded(pod) {
		k.ips.release(new)
	} else {
		k.ips.use(new)
	}
	if pod.String("spec", "nodeName") != "" {
		k.podQueue.Add(new.Key())
	}
}

// forget drops what is known of a Pod that is gone.
func (k *kubelet) forget(uid string) {
	for key := range k.backoffs {
		if key.uid == uid {
			delete(k.backoffs, key)
		}
	}
	delete(k.delays, delayKey{"Pod", uid})
}

// client returns the client of the kubelet of a Node.
func (k *kubelet) client(node string) *controller.Client {
	c := k.clients[node]
	if c == nil {
		c = k.env.ClientAs(&authn.User{
			Name: "system:node:" + node, Groups: []string{authn.NodesGroup, authn.AuthenticatedGroup},
		}, "kubelet")
		k.clients[node] = c
	}
	return c
}

// recorder returns what records the Events of the kubelet of a Node.
func (k *kubelet) recorder(node string) *controller.Recorder {
	r := k.recorders[node]
	if r == nil {
		r = k.env.Recorder(k.client(node), "kubelet")
		k.recorders[node] = r
	}
	return r
}

// runs reports whether the kubelet of a Node runs.
func (k *kubelet) runs(node string) bool {
	return node != "" && k.nodes.Get("", node) != nil && !k.behavior.Stopped(node)
}

// version returns the version of Kubernetes without the platform.
func (k *kubelet) version() string {
	version, _, _ := strings.Cut(k.env.Version(), " ")
	return version
}

// A host answers the questions of templates.
type host struct{ *kubelet }

func (h host) Now() time.Time       { return h.env.Now() }
func (h host) StartTime() time.Time { return h.started }
func (h host) Version() string      { return h.version() }
func (h host) NodeIPs(node string) []string {
	o := h.nodes.Get("", node)
	if o == nil {
		return nil
	}
	if list := internalIPs(o.View()); len(list) > 0 {
		return list
	}
	return []string{h.ips.ofNode(node)}
}

func (h host) PodIPs(node string, hostNetwork bool, _, name, namespace string) []string {
	return h.podIPs(node, hostNetwork, controller.Key{Namespace: namespace, Name: name})
}

// podIPs returns the addresses of a Pod, which it allocates if it has none.
func (k *kubelet) podIPs(node string, hostNetwork bool, pod controller.Key) []string {
	if hostNetwork {
		return host{k}.NodeIPs(node)
	}
	var ranges []string
	if n := k.nodes.Get("", node); n != nil {
		ranges = n.View().Strings("spec", "podCIDRs")
		if one := n.View().String("spec", "podCIDR"); len(ranges) == 0 && one != "" {
			ranges = []string{one}
		}
	}
	return k.ips.ofPod(pod, ranges)
}

// internalIPs returns the internal addresses of a Node.
func internalIPs(node object.View) (out []string) {
	for a := range node.At("status", "addresses").Objects() {
		if a.String("type") == "InternalIP" {
			out = append(out, a.String("address"))
		}
	}
	return slices.Clip(out)
}
