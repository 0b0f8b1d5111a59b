// Package stalecache has a controller that relies on a stale cache, and its fixed
// version.
//
// The controller creates the Pods of ReplicaSets. It counts the existing ones in an
// informer's cache. The cache lags the server: if the controller reconciles before its
// own Pods are in the cache, it creates them again.
//
// The fixed controller remembers the Pods that it has created until they are in the
// cache, as the expectations of Kubernetes' controllers do.
package stalecache

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A Controller creates the Pods of ReplicaSets.
type Controller struct {
	Client      kubernetes.Interface
	ReplicaSets appslisters.ReplicaSetLister
	Pods        corelisters.PodLister

	// Expect remembers created Pods until they are in the cache.
	Expect bool
	// unseen are the created Pods that are not in the cache yet, by the key of
	// their ReplicaSet.
	unseen map[string]sets.Set[string]
}

// Reconcile creates the missing Pods of a ReplicaSet.
func (c *Controller) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	set, err := c.ReplicaSets.ReplicaSets(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		delete(c.unseen, key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	have, err := c.count(set, key)
	if err != nil {
		return 0, err
	}
	for range int(*set.Spec.Replicas) - have {
		pod, err := c.Client.CoreV1().Pods(namespace).Create(ctx, podOf(set), metav1.CreateOptions{})
		if err != nil {
			return 0, err
		}
		c.created(key, pod.Name)
	}
	return 0, nil
}

// count returns the number of Pods that a ReplicaSet has according to the cache and
// unseen.
func (c *Controller) count(set *appsv1.ReplicaSet, key string) (int, error) {
	pods, err := c.Pods.Pods(set.Namespace).List(labels.SelectorFromSet(set.Spec.Selector.MatchLabels))
	if err != nil {
		return 0, err
	}
	for _, pod := range pods {
		c.unseen[key].Delete(pod.Name)
	}
	return len(pods) + c.unseen[key].Len(), nil
}

// created records a created Pod.
func (c *Controller) created(key, pod string) {
	if !c.Expect {
		return
	}
	if c.unseen == nil {
		c.unseen = map[string]sets.Set[string]{}
	}
	if c.unseen[key] == nil {
		c.unseen[key] = sets.New[string]()
	}
	c.unseen[key].Insert(pod)
}

func podOf(set *appsv1.ReplicaSet) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    set.Name + "-",
			Labels:          set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: set.Spec.Template.Spec,
	}
}
