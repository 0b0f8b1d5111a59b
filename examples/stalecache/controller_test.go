package stalecache_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/stalecache"
	"github.com/kubefake/kubefake/fakeapi"
)

// While the watch of Pods lags by two seconds, a user annotates the ReplicaSet, so that the
// controller reconciles it too early.
func controllerTest(expect bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		ctx := context.Background()
		client := kubernetes.NewForConfigOrDie(rig.Config(srv, "replicasets"))
		factory := informers.NewSharedInformerFactory(client, 0)
		sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
		c := &stalecache.Controller{Client: client, ReplicaSets: sets.Lister(), Pods: pods.Lister(), Expect: expect}
		rig.Run(t, factory, c.Reconcile, sets.Informer(), pods.Informer())

		require.NoError(t, srv.SetLag("pods", fakeapi.Lag{By: 2 * time.Second}))
		user := kubernetes.NewForConfigOrDie(rig.Config(srv, "user")).AppsV1().ReplicaSets("default")
		_, err := user.Create(ctx, replicaSet("web", 3), metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second)
		_, err = user.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":"hello"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		time.Sleep(time.Minute) // until the cache has caught up

		list, err := srv.List("pods", "")
		require.NoError(t, err)
		assert.Len(t, list, 3, "Pods of a ReplicaSet of three")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, controllerTest(true)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "Pods of a ReplicaSet of three", controllerTest(false)) }

func replicaSet(name string, replicas int32) *appsv1.ReplicaSet {
	match := map[string]string{"app": name}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: match},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: match},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
			},
		},
	}
}
