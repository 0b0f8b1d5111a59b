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
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

const (
	// churnTime is how long objects change, and settleTime how long clients have
	// then to reach the server's state. Faults happen during both, in the fake
	// time of a synctest bubble.
	churnTime  = time.Hour
	settleTime = 10 * time.Minute
	// maxPause is the longest time between two changes.
	maxPause = 20 * time.Second
)

// TestChaos runs a controller-runtime manager, an informer and a pager under the
// faults of faults.Chaos for an hour. At the end the manager must have reconciled
// all objects, and the informer and the pager must have the server's state.
func TestChaos(t *testing.T) {
	// The other default handler reads the time of the last error, which was before
	// the bubble.
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
	for _, f := range faults.Chaos(1) {
		assert.Positive(t, hits[f.ID], "no request was hit by %s", f)
	}
}

// testChaos adds to hits how often each fault has hit, by ID.
func testChaos(t *testing.T, seed uint64, hits map[string]int) {
	const namespace = "default"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(seed))
	direct := restconfig.For(srv)
	troubled := rest.CopyConfig(direct)
	troubled.UserAgent = "troubled"
	faults := faults.Chaos(seed)
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

	c, err := client.New(direct, client.Options{})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(seed, 0))
	for start := time.Now(); time.Since(start) < churnTime; time.Sleep(time.Duration(random.Int64N(int64(maxPause)))) {
		require.NoError(t, disturb(ctx, c, random, namespace))
		_, _ = pages(ctx, clientset) // may fail, must not hang
	}
	eventually(t, func() error { return converged(ctx, c, namespace) })

	list, err := srv.List("configmaps", "")
	require.NoError(t, err)
	want := map[string]string{}
	for _, o := range list {
		want[o.Namespace()+"/"+o.Name()] = o.ResourceVersion()
	}
	same := func(got map[string]string) error {
		if !assert.ObjectsAreEqual(want, got) {
			return fmt.Errorf("the client has %v, the server %v", got, want)
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

// eventually waits until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, settleTime, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	assert.NoError(t, err, "%v", last)
}

// pages lists all ConfigMaps in pages and returns their versions.
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
