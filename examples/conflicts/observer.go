// Package conflicts is a controller that meets a conflict with more of the same,
// and one that looks again.
//
// The controller notes in the status of a Deployment which generation of it it
// has seen. It finds Deployments in an informer's cache. An update of an object
// that has changed meanwhile is refused with 409 Conflict. Tried again with what
// the cache holds, it is refused as long as the cache trails: where somebody
// writes often, the controller and the server keep each other busy.
//
// The fixed one reads the object anew from the server, changes that, and tries
// again if another was quicker.
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

// again is when an update that met a conflict is tried again.
var again = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Steps: 5}

// An Observer notes the generations of Deployments.
type Observer struct {
	Client      kubernetes.Interface
	Deployments appslisters.DeploymentLister

	// Reread makes the observer change what the server has, not what the cache
	// has.
	Reread bool
}

// Reconcile notes the generation of a Deployment.
func (o *Observer) Reconcile(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	return 0, retry.RetryOnConflict(again, func() error {
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
