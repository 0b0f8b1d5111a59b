package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientfeatures "k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubefake/kubefake/fakeapi"
)

const (
	// unrest is how long the world changes under chaos, and settling how long
	// clients have then to come to terms with it, under chaos still. Both pass in
	// a bubble.
	unrest   = time.Hour
	settling = 10 * time.Minute
	// pause is between two changes at most.
	pause = 20 * time.Second
)

// TestChaos has a controller-runtime manager, an informer and a pager live
// through an hour of everything that goes wrong between clients and a cluster. At
// the end the manager has done what it is for, and the others know what the
// server has.
func TestChaos(t *testing.T) {
	// The other default handler waits since the last error, which was before the
	// bubble.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = handlers[:1]
	defer func() { utilruntime.ErrorHandlers = handlers }()

	hits := map[string]int{}
	for _, streaming := range []bool{false, true} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("streaming lists: %t, seed %d", streaming, seed+1), func(t *testing.T) {
				featuretesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streaming)
				synctest.Test(t, func(t *testing.T) { testChaos(t, seed+1, hits) })
			})
		}
	}
	for _, f := range fakeapi.Chaos(1) {
		assert.Positive(t, hits[f.ID], "nobody met %s", f)
	}
}

// testChaos adds to hits how often each fault has hit, by ID.
func testChaos(t *testing.T, seed uint64, hits map[string]int) {
	const namespace = "default"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(seed))
	calm := &rest.Config{Host: srv.URL, Transport: srv.Transport(), QPS: -1}
	troubled := rest.CopyConfig(calm)
	troubled.UserAgent = "troubled"
	faults := fakeapi.Chaos(seed)
	for i := range faults {
		faults[i].UserAgent = troubled.UserAgent
	}
	chaos, err := srv.Inject(faults...)
	require.NoError(t, err)
	ctx := t.Context()

	clientset, err := kubernetes.NewForConfig(troubled)
	require.NoError(t, err)
	informer := informers.NewSharedInformerFactory(clientset, 0).Core().V1().ConfigMaps().Informer()
	var running sync.WaitGroup
	stop := make(chan struct{})
	running.Go(func() { informer.Run(stop) })
	defer running.Wait()
	defer close(stop)
	defer runShadower(t, troubled, namespace)()

	world, err := client.New(calm, client.Options{})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(seed, 0))
	for start := time.Now(); time.Since(start) < unrest; time.Sleep(time.Duration(random.Int64N(int64(pause)))) {
		require.NoError(t, disturb(ctx, world, random, namespace))
		_, _ = pages(ctx, clientset) // it may fail, and must not hang
	}
	eventually(t, func() error { return converged(ctx, world, namespace) })

	list, err := srv.List("configmaps")
	require.NoError(t, err)
	want := map[string]string{}
	for _, o := range list {
		want[o.Namespace()+"/"+o.Name()] = o.ResourceVersion()
	}
	same := func(got map[string]string) error {
		if !assert.ObjectsAreEqual(want, got) {
			return fmt.Errorf("known are %v, and there are %v", got, want)
		}
		return nil
	}
	eventually(t, func() error {
		got := map[string]string{}
		for _, o := range informer.GetStore().List() {
			cm := o.(*corev1.ConfigMap)
			got[cm.Namespace+"/"+cm.Name] = cm.ResourceVersion
		}
		return same(got)
	})
	eventually(t, func() error {
		got, err := pages(ctx, clientset)
		if err != nil {
			return err
		}
		return same(got)
	})

	t.Log("\n" + chaos.String())
	for _, f := range srv.Injections() {
		hits[f.Faults()[0].ID] += f.Hits()
	}
}

// eventually waits until nothing is wrong.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	var wrong error
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, settling, true, func(context.Context) (bool, error) {
		wrong = check()
		return wrong == nil, nil
	})
	assert.NoError(t, err, "%v", wrong)
}

// pages lists the versions of all ConfigMaps, a few at a time.
func pages(ctx context.Context, clientset kubernetes.Interface) (map[string]string, error) {
	p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return clientset.CoreV1().ConfigMaps("").List(ctx, o)
	})
	p.PageSize = 4
	versions := map[string]string{}
	err := p.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		cm := o.(*corev1.ConfigMap)
		versions[cm.Namespace+"/"+cm.Name] = cm.ResourceVersion
		return nil
	})
	return versions, err
}
