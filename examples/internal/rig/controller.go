package rig

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// batchDelay is the delay before a changed key is reconciled, so that several changes are
// reconciled together.
const batchDelay = 10 * time.Millisecond

// A Reconciler reconciles the object with a key. If after is not 0, it is called again
// after that time.
type Reconciler func(ctx context.Context, key string) (after time.Duration, err error)

// Run runs a controller until the test ends. It reconciles the keys of the owners one at
// a time, when an owner or an owned object changes, and again after an error. It returns
// when the informers are synced.
func Run(t testing.TB, factory informers.SharedInformerFactory, reconcile Reconciler, owners cache.SharedIndexInformer, owned ...cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := start(ctx, factory, reconcile, owners, owned)
	t.Cleanup(func() {
		cancel()
		wait()
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// RunUntil runs a controller, as Run does, until the context ends.
func RunUntil(ctx context.Context, factory informers.SharedInformerFactory, reconcile Reconciler, owners cache.SharedIndexInformer, owned ...cache.SharedIndexInformer) error {
	wait, err := start(ctx, factory, reconcile, owners, owned)
	<-ctx.Done()
	wait()
	return err
}

// start starts a controller that ends with the context. wait waits for its end.
func start(ctx context.Context, factory informers.SharedInformerFactory, reconcile Reconciler, owners cache.SharedIndexInformer, owned []cache.SharedIndexInformer) (wait func(), err error) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	err = handle(owners, func(o metav1.Object) { queue.AddAfter(o.GetNamespace()+"/"+o.GetName(), batchDelay) })
	for _, informer := range owned {
		err = errors.Join(err, handle(informer, func(o metav1.Object) {
			if owner := metav1.GetControllerOf(o); owner != nil {
				queue.AddAfter(o.GetNamespace()+"/"+owner.Name, batchDelay)
			}
		}))
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			switch after, err := reconcile(ctx, key); {
			case err != nil:
				queue.AddRateLimited(key)
			case after > 0:
				queue.Forget(key)
				queue.AddAfter(key, after)
			default:
				queue.Forget(key)
			}
			queue.Done(key)
		}
	})
	return func() {
		queue.ShutDown()
		worker.Wait()
		factory.Shutdown()
	}, err
}

// handle calls f with the object of each event of an informer.
func handle(informer cache.SharedIndexInformer, f func(metav1.Object)) error {
	call := func(o any) {
		if deleted, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = deleted.Obj
		}
		if o, ok := o.(metav1.Object); ok {
			f(o)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    call,
		UpdateFunc: func(_, o any) { call(o) },
		DeleteFunc: call,
	})
	return err
}
