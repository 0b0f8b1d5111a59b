package timetravel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/timetravel"
	"github.com/kubefake/kubefake/fakeapi"
)

// The Pod db-0 moves from one Node to another. Then the kubelet of the first Node restarts,
// and its load balancer passes it to a kube-apiserver that has not seen the move.
func kubeletTest(consistent bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		ctx := t.Context()
		stale, err := srv.NewReplica()
		require.NoError(t, err)
		controller := kubernetes.NewForConfigOrDie(rig.Config(srv, "statefulset-controller"))
		kubelet := func(node string) *timetravel.Kubelet {
			client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL, Transport: srv.Transport(), UserAgent: "kubelet-" + node})
			return &timetravel.Kubelet{Client: client, Node: node, Running: map[types.UID]string{}, Consistent: consistent}
		}
		first, second := kubelet("node-1"), kubelet("node-2")
		place := func(node string) {
			t.Helper()
			_, err := controller.CoreV1().Pods("default").Create(ctx, database(node), metav1.CreateOptions{})
			require.NoError(t, err)
		}

		place("node-1")
		require.NoError(t, first.Start(ctx))
		require.Len(t, first.Running, 1)

		require.NoError(t, stale.SetLag("pods", fakeapi.Lag{Frozen: true}))
		now := int64(0)
		require.NoError(t, controller.CoreV1().Pods("default").Delete(ctx, "db-0", metav1.DeleteOptions{GracePeriodSeconds: &now}))
		require.NoError(t, first.Start(ctx))
		require.Empty(t, first.Running)
		place("node-2")
		require.NoError(t, second.Start(ctx))
		require.Len(t, second.Running, 1)

		srv.Failover("kubelet-node-1", stale)
		require.NoError(t, first.Start(ctx))
		assert.Equal(t, 1, len(first.Running)+len(second.Running), "Nodes on which db-0 runs")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, kubeletTest(true)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "Nodes on which db-0 runs", kubeletTest(false)) }

// database returns the Pod of a StatefulSet with one replica.
func database(node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "db-0"},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "db", Image: "db:1"}}},
	}
}
