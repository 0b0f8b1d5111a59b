package imagepull_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/imagepull"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
)

var controllers = fakeapi.WithControllers("deployment-controller", "replicaset-controller", "scheduler", "kubelet", "serviceaccount-controller")

// Two applications are installed. The image of one does not exist.
func installerTest(reportFailures bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		ctx := context.Background()
		client := kubernetes.NewForConfigOrDie(rig.Config(srv, "installer"))
		factory := informers.NewSharedInformerFactory(client, 0)
		apps, deployments := factory.Core().V1().ConfigMaps(), factory.Apps().V1().Deployments()
		i := &imagepull.Installer{Client: client, ConfigMaps: apps.Lister(), Deployments: deployments.Lister(), ReportFailures: reportFailures}
		rig.Run(t, factory, i.Reconcile, apps.Informer(), deployments.Informer())

		require.NoError(t, srv.Kubelet().Pods("app=broken").FailImagePull())
		user := kubernetes.NewForConfigOrDie(rig.Config(srv, "user")).CoreV1().ConfigMaps("default")
		time.Sleep(time.Second) // the Node is ready
		for _, name := range []string{"web", "broken"} {
			app := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"image": name + ":1"}}
			_, err := user.Create(ctx, app, metav1.CreateOptions{})
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		state := func(name string) string {
			app, err := user.Get(ctx, name, metav1.GetOptions{})
			require.NoError(t, err)
			return app.Data["state"]
		}
		assert.Equal(t, imagepull.Ready, state("web"))
		assert.Equal(t, imagepull.Installing, state("broken"))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, imagepull.Failed, state("broken"), "the state after the progress deadline")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, installerTest(true), controllers) }

func TestBuggy(t *testing.T) {
	rig.Fails(t, "the state after the progress deadline", installerTest(false), controllers)
}
