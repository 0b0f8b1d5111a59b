package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/retry"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

// startInformer starts an informer of ConfigMaps and waits until it has synced.
func startInformer(t *testing.T, client kubernetes.Interface) listers.ConfigMapNamespaceLister {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("default")
	factory.Start(ctx.Done())
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		require.True(t, synced, "%v", kind)
	}
	return lister
}

func clientOf(srv *fakeapi.Server) kubernetes.Interface {
	return kubernetes.NewForConfigOrDie(restconfig.For(srv))
}

func configMap(name, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"text": text}}
}

// TestStaleInformer updates an object from the copy of an informer whose watch cache
// is frozen: the update conflicts. After the lag the informer gets the new version.
func TestStaleInformer(t *testing.T) {
	srv := fakeapi.Start(t)
	client := clientOf(srv)
	configMaps := client.CoreV1().ConfigMaps("default")
	_, err := configMaps.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	copies := startInformer(t, client)
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))

	fresh, err := configMaps.Update(t.Context(), configMap("a", "2"), metav1.UpdateOptions{})
	require.NoError(t, err)
	stale, err := copies.Get("a")
	require.NoError(t, err)
	assert.Equal(t, "1", stale.Data["text"])
	_, err = configMaps.Update(t.Context(), stale.DeepCopy(), metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	old, err := configMaps.Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: "0"})
	require.NoError(t, err)
	assert.Equal(t, stale.ResourceVersion, old.ResourceVersion)

	require.NoError(t, srv.SetLag("*", fakeapi.Lag{}))
	err = wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, convergence, true, func(context.Context) (bool, error) {
		now, err := copies.Get("a")
		return err == nil && now.ResourceVersion == fresh.ResourceVersion, err
	})
	assert.NoError(t, err)
}

// TestInformersUnderLag changes objects while watch caches lag and freeze, history
// is compacted and watches expire. At the end informers must have the server's
// state.
func TestInformersUnderLag(t *testing.T) {
	srv := fakeapi.Start(t)
	client := clientOf(srv)
	configMaps := client.CoreV1().ConfigMaps("default")
	var copies []listers.ConfigMapNamespaceLister
	for range 3 {
		copies = append(copies, startInformer(t, client))
	}
	random := rand.New(rand.NewPCG(1, 1))
	resources := []string{"*", "configmaps"}
	for i := range 200 {
		resource := resources[random.IntN(len(resources))]
		switch random.IntN(20) {
		case 0:
			require.NoError(t, srv.SetLag(resource, fakeapi.Lag{By: 50 * time.Millisecond}))
		case 1:
			require.NoError(t, srv.SetLag(resource, fakeapi.Lag{Revisions: 7}))
		case 2:
			require.NoError(t, srv.SetLag(resource, fakeapi.Lag{Frozen: true}))
		case 3:
			require.NoError(t, srv.SetLag(resource, fakeapi.Lag{}))
		case 4:
			srv.Compact(0)
		case 5:
			srv.Compact(0)
			_, err := srv.Inject(faults.ExpireOpenWatches("*"))
			require.NoError(t, err)
		}
		name := fmt.Sprintf("c%d", random.IntN(10))
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			_, err := configMaps.Update(t.Context(), configMap(name, fmt.Sprint(i)), metav1.UpdateOptions{})
			return err
		})
		switch {
		case apierrors.IsNotFound(err):
			_, err = configMaps.Create(t.Context(), configMap(name, fmt.Sprint(i)), metav1.CreateOptions{})
		case i%7 == 0:
			err = configMaps.Delete(t.Context(), name, metav1.DeleteOptions{})
		}
		require.NoError(t, err)
	}
	require.NoError(t, srv.SetLag("*", fakeapi.Lag{}))

	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	want := map[string]string{}
	for _, c := range list.Items {
		want[c.Name] = c.ResourceVersion
	}
	for _, lister := range copies {
		got := map[string]string{}
		err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, convergence, true, func(context.Context) (bool, error) {
			clear(got)
			all, err := lister.List(labels.Everything())
			for _, c := range all {
				got[c.Name] = c.ResourceVersion
			}
			return assert.ObjectsAreEqual(want, got), err
		})
		assert.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
