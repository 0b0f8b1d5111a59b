package kubelet

import (
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
)

// A Kubelet acts for all Nodes of a server. It is safe for concurrent use.
type Kubelet struct {
	lifecycle *lifecycle.Set
	wake      func()
}

// New returns a Kubelet that sets what is in a lifecycle, and calls wake after a change on
// which controllers act. Package fakeapi calls it; a test calls Server.Kubelet.
func New(l *lifecycle.Set, wake func()) Kubelet { return Kubelet{l, wake} }

// Pods selects Pods by a label selector, such as "app=web"; "" is all.
func (k Kubelet) Pods(labelSelector string) Pods { return Pods{kubelet: k, labels: labelSelector} }

// StopNode stops the kubelet of a Node, as if its machine were off: it renews no Lease, and
// its Pods stay as they are.
func (k Kubelet) StopNode(name string) { k.stopNode(name, true) }

// StartNode starts the kubelet of a Node that was stopped.
func (k Kubelet) StartNode(name string) { k.stopNode(name, false) }

func (k Kubelet) stopNode(name string, stop bool) {
	k.lifecycle.StopNode(name, stop)
	k.wake()
}

// SetMetric sets the value of a metric that a HorizontalPodAutoscaler has as one of type
// External or Object: of the name, in every namespace, with any selector, of any object. The
// error is an ErrInvalid.
func (k Kubelet) SetMetric(name, quantity string) error {
	if err := k.lifecycle.SetMetric(name, quantity); err != nil {
		return invalid(err)
	}
	return nil
}
