package namespacedeletion_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/namespacedeletion"
	"github.com/kubefake/kubefake/fakeapi"
)

// A user deletes the namespace of a database.
func operatorTest(survive bool) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		ctx := context.Background()
		client := kubernetes.NewForConfigOrDie(rig.Config(srv, "operator"))
		factory := informers.NewSharedInformerFactory(client, 0)
		configs := factory.Core().V1().ConfigMaps()
		o := &namespacedeletion.Operator{Client: client, ConfigMaps: configs.Lister(), Databases: map[string]string{}, SurviveLostSecret: survive}
		rig.Run(t, factory, o.Reconcile, configs.Informer())

		user := kubernetes.NewForConfigOrDie(rig.Config(srv, "user")).CoreV1()
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "orders"}, Data: map[string]string{"database": "orders"}}
		_, err := user.ConfigMaps("shop").Create(ctx, config, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second)
		assert.Contains(t, o.Databases, "orders")

		require.NoError(t, user.Namespaces().Delete(ctx, "shop", metav1.DeleteOptions{}))
		time.Sleep(5 * time.Minute)
		namespace, err := user.Namespaces().Get(ctx, "shop", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			require.NoError(t, err)
			for _, c := range namespace.Status.Conditions {
				assert.NotEqual(t, corev1.ConditionTrue, c.Status, "%s: %s", c.Type, c.Message)
			}
			t.Fatalf("the namespace hangs")
		}
		assert.Empty(t, o.Databases)
	}
}

var options = []fakeapi.Option{fakeapi.WithControllers("namespace-controller"), fakeapi.WithNamespaces("shop")}

func TestFixed(t *testing.T) { rig.Passes(t, operatorTest(true), options...) }

func TestBuggy(t *testing.T) {
	rig.Fails(t, "Some content in the namespace has finalizers remaining: example.com/database in 1 resource instances", operatorTest(false), options...)
}
