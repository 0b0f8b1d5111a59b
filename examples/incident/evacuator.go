// Package incident has a controller that made an incident worse, and its fixed version.
//
// The controller evicts the Pods of Nodes that are not ready. When the network of a rack
// failed for half a minute, its Nodes became ready again, but their Pods were gone.
// testdata has the changes of the Nodes, as fakeapi record --state has recorded them; the
// test reenacts them.
//
// The fixed controller waits some time before it evicts.
package incident

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// An Evacuator evicts Pods from Nodes that are not ready.
type Evacuator struct {
	Client kubernetes.Interface
	Nodes  corelisters.NodeLister
	Pods   corelisters.PodLister

	// Grace is how long a Node may be not ready.
	Grace time.Duration
	// notReadySince is when Nodes were first seen not ready.
	notReadySince map[string]time.Time
}

// Reconcile evicts the Pods of a Node that has not been ready for longer than Grace.
func (e *Evacuator) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	_, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	node, err := e.Nodes.Get(name)
	if apierrors.IsNotFound(err) || err == nil && isReady(node) {
		delete(e.notReadySince, name)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if left := e.Grace - e.notReadyFor(name); left > 0 {
		return left, nil
	}
	return 0, e.evacuate(ctx, name)
}

// notReadyFor returns how long a Node has not been ready.
func (e *Evacuator) notReadyFor(node string) time.Duration {
	if e.notReadySince == nil {
		e.notReadySince = map[string]time.Time{}
	}
	if e.notReadySince[node].IsZero() {
		e.notReadySince[node] = time.Now()
	}
	return time.Since(e.notReadySince[node])
}

func (e *Evacuator) evacuate(ctx context.Context, node string) error {
	pods, err := e.Pods.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != node {
			continue
		}
		eviction := &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
			DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: new(int64)},
		}
		err := e.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, eviction)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
