package rig

import (
	"context"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// settle is how long a key waits, so that changes that come together are looked
// at together.
const settle = 10 * time.Millisecond

// A Reconciler brings the objects of one key in order. It is called again after
// some time, unless that is 0.
type Reconciler func(ctx context.Context, key string) (again time.Duration, err error)

// Run runs a controller until the story ends: the keys of the owners are
// reconciled one after the other, when an owner or an owned object changes, and
// again after a failure. It returns once the informers hold what there is.
func Run(t testing.TB, factory informers.SharedInformerFactory, reconcile Reconciler, owners cache.SharedIndexInformer, owned ...cache.SharedIndexInformer) {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	handle(t, owners, func(o metav1.Object) { queue.AddAfter(o.GetNamespace()+"/"+o.GetName(), settle) })
	for _, informer := range owned {
		handle(t, informer, func(o metav1.Object) {
			if owner := metav1.GetControllerOf(o); owner != nil {
				queue.AddAfter(o.GetNamespace()+"/"+owner.Name, settle)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			switch again, err := reconcile(ctx, key); {
			case err != nil:
				queue.AddRateLimited(key)
			case again > 0:
				queue.Forget(key)
				queue.AddAfter(key, again)
			default:
				queue.Forget(key)
			}
			queue.Done(key)
		}
	})
	t.Cleanup(func() {
		cancel()
		queue.ShutDown()
		worker.Wait()
		factory.Shutdown()
	})
}

// handle calls f with what an informer tells of.
func handle(t testing.TB, informer cache.SharedIndexInformer, f func(metav1.Object)) {
	t.Helper()
	tell := func(o any) {
		if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		if o, ok := o.(metav1.Object); ok {
			f(o)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    tell,
		UpdateFunc: func(_, o any) { tell(o) },
		DeleteFunc: tell,
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}
