// Package incident is a controller that made an incident worse, and one that
// would not have.
//
// The controller evicts the Pods of a Node that is not ready. One night the
// network of a rack was away for half a minute: its Nodes were not ready and
// then were again, but their Pods were gone. What became of the Nodes is in
// testdata, as fakeapi record --state wrote it, and happens again in the test.
//
// The fixed one gives a Node some time to come back.
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

	// Grace is how long a Node may be away.
	Grace time.Duration
	// away is since when Nodes have been seen not to be ready.
	away map[string]time.Time
}

// Reconcile looks after a Node.
func (e *Evacuator) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	_, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	node, err := e.Nodes.Get(name)
	if apierrors.IsNotFound(err) || err == nil && isReady(node) {
		delete(e.away, name)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if left := e.Grace - e.awayFor(name); left > 0 {
		return left, nil
	}
	return 0, e.evacuate(ctx, name)
}

// awayFor is for how long a Node has not been ready.
func (e *Evacuator) awayFor(node string) time.Duration {
	if e.away == nil {
		e.away = map[string]time.Time{}
	}
	if e.away[node].IsZero() {
		e.away[node] = time.Now()
	}
	return time.Since(e.away[node])
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
