package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubefake/kubefake/conformance/clientsuite"
	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

const (
	shadowLabel     = "example.com/shadow"    // on a source
	shadowOf        = "example.com/shadow-of" // on a shadow: the name of its source
	shadowFinalizer = "example.com/shadow"
	shadowedText    = "example.com/shadowed" // on a source: the text of its shadow
	ownerIndex      = "owner"

	convergence = 30 * time.Second
)

// A shadower is a reconciler that creates a copy, the shadow, of every labelled
// ConfigMap, the source. The source owns the shadow, has the shadow's text in an
// annotation, and is deleted after its shadow.
type shadower struct {
	client.Client
}

func (r shadower) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var source corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &source); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	if source.Labels[shadowLabel] == "" || source.DeletionTimestamp != nil {
		return reconcile.Result{}, r.release(ctx, req, &source)
	}
	if err := r.prune(ctx, req, source.UID); err != nil {
		return reconcile.Result{}, err
	}
	if controllerutil.AddFinalizer(&source, shadowFinalizer) {
		// The event of this update starts the next reconciliation.
		return reconcile.Result{}, r.Update(ctx, &source)
	}
	shadow := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: source.Name + "-shadow"}}
	_, err := controllerutil.CreateOrUpdate(ctx, r, shadow, func() error {
		shadow.Labels = map[string]string{shadowOf: source.Name}
		shadow.Data = source.Data
		return controllerutil.SetControllerReference(&source, shadow, r.Scheme())
	})
	if err != nil || source.Annotations[shadowedText] == source.Data["text"] {
		return reconcile.Result{}, err
	}
	metav1.SetMetaDataAnnotation(&source.ObjectMeta, shadowedText, source.Data["text"])
	return reconcile.Result{}, r.Update(ctx, &source)
}

// release deletes the shadow of a source that has no label or is being deleted,
// then removes the finalizer. The source may be deleted already: its shadow was
// not in the cache then.
func (r shadower) release(ctx context.Context, req reconcile.Request, source *corev1.ConfigMap) error {
	if err := r.prune(ctx, req, ""); err != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(source, shadowFinalizer) {
		return nil
	}
	delete(source.Annotations, shadowedText)
	return r.Update(ctx, source)
}

// prune deletes the shadows of sources with the requested name, except those of
// the source with the UID keep.
func (r shadower) prune(ctx context.Context, req reconcile.Request, keep types.UID) error {
	var shadows corev1.ConfigMapList
	err := r.List(ctx, &shadows, client.InNamespace(req.Namespace), client.MatchingFields{ownerIndex: req.Name})
	if err != nil {
		return err
	}
	for i := range shadows.Items {
		shadow := &shadows.Items[i]
		if metav1.GetControllerOf(shadow).UID == keep {
			continue
		}
		if err := r.Delete(ctx, shadow); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// owners is the index function for the name of an object's controller.
func owners(o client.Object) []string {
	if owner := metav1.GetControllerOf(o); owner != nil {
		return []string{owner.Name}
	}
	return nil
}

// runShadower starts a manager with a shadower for a namespace and waits until its
// caches have synced. stop stops the manager.
func runShadower(t *testing.T, cfg *rest.Config, namespace string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	mgr, err := ctrl.NewManager(cfg, manager.Options{
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(t, err)
	require.NoError(t, mgr.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, ownerIndex, owners))
	err = ctrl.NewControllerManagedBy(mgr).
		Named("shadower").
		For(&corev1.ConfigMap{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &corev1.ConfigMap{})).
		Complete(shadower{mgr.GetClient()})
	require.NoError(t, err)

	var stopped error
	var running sync.WaitGroup
	running.Go(func() { stopped = mgr.Start(ctx) })
	require.True(t, mgr.GetCache().WaitForCacheSync(ctx))
	return func() {
		t.Helper()
		cancel()
		running.Wait()
		assert.NoError(t, stopped)
	}
}

// TestManager runs a controller-runtime manager while sources are created, updated,
// unlabelled and deleted, and shadows are deleted. At the end every labelled source
// must have its shadow and no other shadow may exist, and the manager must stop.
func TestManager(t *testing.T) {
	clientsuite.Encodings(t, func(t *testing.T, _ *target.Server, cfg *rest.Config) {
		namespace := clientsuite.Namespace(t, cfg)
		ctx := t.Context()
		defer runShadower(t, cfg, namespace)()

		// A client without a cache reads the server's state.
		direct, err := client.New(cfg, client.Options{})
		require.NoError(t, err)
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for range 3 {
			for range 40 {
				require.NoError(t, disturb(ctx, direct, random, namespace))
			}
			var last error
			err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, convergence, true, func(ctx context.Context) (bool, error) {
				last = converged(ctx, direct, namespace)
				return last == nil, nil
			})
			require.NoError(t, err, "%v", last)
		}
	})
}

// disturb makes one random change: it reads an object, changes it and writes it. It
// ignores a conflict with the controller.
func disturb(ctx context.Context, c client.Client, random *rand.Rand, namespace string) error {
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("source-%d", random.IntN(8))}}
	text := strconv.Itoa(random.IntN(1000))
	change := random.IntN(6)
	err := c.Get(ctx, client.ObjectKeyFromObject(source), source)
	switch {
	case apierrors.IsNotFound(err):
		source.Labels = map[string]string{shadowLabel: "yes"}
		source.Data = map[string]string{"text": text}
		err = c.Create(ctx, source)
	case err != nil:
	case change == 0:
		err = c.Delete(ctx, source)
	case change == 1:
		err = c.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: source.Name + "-shadow"}})
	case change == 2 && source.Labels[shadowLabel] != "":
		source.Labels = nil
		err = c.Update(ctx, source)
	default:
		source.Labels = map[string]string{shadowLabel: "yes"}
		source.Data = map[string]string{"text": text}
		err = c.Update(ctx, source)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// converged returns an error if the sources and shadows are not in the state that
// the controller must reach.
func converged(ctx context.Context, c client.Client, namespace string) error {
	var list corev1.ConfigMapList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return err
	}
	shadows := map[string]*corev1.ConfigMap{}
	var sources []*corev1.ConfigMap
	for i := range list.Items {
		cm := &list.Items[i]
		if source := cm.Labels[shadowOf]; source != "" {
			shadows[source] = cm
		} else {
			sources = append(sources, cm)
		}
	}
	for _, source := range sources {
		shadow := shadows[source.Name]
		delete(shadows, source.Name)
		labelled := source.Labels[shadowLabel] != ""
		switch {
		case source.DeletionTimestamp != nil:
			return fmt.Errorf("%s is still being deleted", source.Name)
		case labelled != (shadow != nil):
			return fmt.Errorf("%s is labelled: %t; it has a shadow: %t", source.Name, labelled, shadow != nil)
		case labelled != controllerutil.ContainsFinalizer(source, shadowFinalizer):
			return fmt.Errorf("%s is labelled: %t; its finalizers are %q", source.Name, labelled, source.Finalizers)
		case !labelled:
		case shadow.Data["text"] != source.Data["text"]:
			return fmt.Errorf("the text of %s is %q, that of its shadow %q", source.Name, source.Data["text"], shadow.Data["text"])
		case source.Annotations[shadowedText] != source.Data["text"]:
			return fmt.Errorf("the text of %s is %q, its annotation %q", source.Name, source.Data["text"], source.Annotations[shadowedText])
		case !metav1.IsControlledBy(shadow, source):
			return fmt.Errorf("the shadow of %s is owned by %v", source.Name, shadow.OwnerReferences)
		}
	}
	for name := range shadows {
		return fmt.Errorf("the shadow of %s has no source", name)
	}
	return nil
}
