// Package timetravel has a kubelet that goes back in time when it restarts, and its fixed
// version. It reproduces https://github.com/kubernetes/kubernetes/issues/59848.
//
// The kubelet lists the Pods of its Node at resourceVersion=0 when it starts, which the
// watch cache of any kube-apiserver may answer. If its load balancer passes it to a
// kube-apiserver whose watch cache is older than what it has seen before, it starts a Pod
// that was deleted. The Pod of a StatefulSet, which must not run twice, runs on two Nodes.
//
// The fixed kubelet reads the present state.
package timetravel

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// A Kubelet runs the Pods of a Node.
type Kubelet struct {
	Client kubernetes.Interface
	Node   string
	// Running are the names of the Pods that run on the Node, by their UIDs. They outlive
	// the kubelet.
	Running map[types.UID]string

	// Consistent makes the first list read the present state.
	Consistent bool
}

// Start starts the Pods that the Node has and stops the others, as a kubelet does when it
// starts.
func (k *Kubelet) Start(ctx context.Context) error {
	o := metav1.ListOptions{FieldSelector: "spec.nodeName=" + k.Node}
	if !k.Consistent {
		o.ResourceVersion = "0"
	}
	pods, err := k.Client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, o)
	if err != nil {
		return err
	}
	clear(k.Running)
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			k.Running[pod.UID] = pod.Name
		}
	}
	return nil
}
