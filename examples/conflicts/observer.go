// Package conflicts has a controller that repeats an update with the same stale object,
// and its fixed version.
//
// The controller writes the observed generation to the status of a Deployment, which it
// reads from an informer's cache. The server refuses an update of an object that has
// changed since with 409 Conflict. An update with the object in the cache is refused
// until the cache has the change. If another client writes often, the controller causes a
// storm of conflicts.
//
// The fixed controller reads the object from the server, changes it, and repeats this
// after a conflict.
package conflicts

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

// backoff is the delay before an update is repeated after a conflict.
var backoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Steps: 5}

// An Observer writes the observed generations of Deployments.
type Observer struct {
	Client      kubernetes.Interface
	Deployments appslisters.DeploymentLister

	// Reread reads the Deployment from the server instead of the cache.
	Reread bool
}

// Reconcile writes the observed generation of a Deployment.
func (o *Observer) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	return 0, retry.RetryOnConflict(backoff, func() error {
		d, err := o.get(ctx, namespace, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil || d.Status.ObservedGeneration == d.Generation {
			return err
		}
		d = d.DeepCopy()
		d.Status.ObservedGeneration = d.Generation
		_, err = o.Client.AppsV1().Deployments(namespace).UpdateStatus(ctx, d, metav1.UpdateOptions{})
		return err
	})
}

func (o *Observer) get(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	if o.Reread {
		return o.Client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return o.Deployments.Deployments(namespace).Get(name)
}
