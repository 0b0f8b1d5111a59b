package conflicts_test

import (
	"context"
	"fmt"
	"net/http"
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

	"github.com/kubefake/kubefake/examples/conflicts"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
)

// A user scales a Deployment every second while the watch of Deployments lags by 2.3
// seconds. The fraction keeps the order of events fixed.
func controllerTest(reread bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		ctx := context.Background()
		client := kubernetes.NewForConfigOrDie(rig.Config(srv, "observer"))
		factory := informers.NewSharedInformerFactory(client, 0)
		deployments := factory.Apps().V1().Deployments()
		o := &conflicts.Observer{Client: client, Deployments: deployments.Lister(), Reread: reread}
		rig.Run(t, factory, o.Reconcile, deployments.Informer())

		require.NoError(t, srv.SetLag("deployments.apps", fakeapi.Lag{By: 2300 * time.Millisecond}))
		user := kubernetes.NewForConfigOrDie(rig.Config(srv, "user")).AppsV1().Deployments("default")
		_, err := user.Create(ctx, deployment("web"), metav1.CreateOptions{})
		require.NoError(t, err)
		for replicas := range 20 {
			time.Sleep(time.Second)
			scale := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas+2)
			_, err := user.Patch(ctx, "web", types.MergePatchType, []byte(scale), metav1.PatchOptions{})
			require.NoError(t, err)
		}
		time.Sleep(time.Minute)

		d, err := user.Get(ctx, "web", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, d.Generation, d.Status.ObservedGeneration)
		assert.Empty(t, refused(srv), "conflicts")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, controllerTest(true)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "conflicts", controllerTest(false)) }

// refused returns the requests that were answered with 409.
func refused(srv *fakeapi.Server) []journal.Request {
	var out []journal.Request
	for _, r := range srv.Requests() {
		if r.Code == http.StatusConflict {
			out = append(out, r)
		}
	}
	return out
}

func deployment(name string) *appsv1.Deployment {
	match := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: match},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: match},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
			},
		},
	}
}
