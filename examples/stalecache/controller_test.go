package stalecache_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		require.NoError(t, stalecache.Use(ctx, kubernetes.NewForConfigOrDie(rig.Config(srv, "user"))))
		time.Sleep(time.Minute) // until the cache has caught up

		list, err := srv.List("pods", "")
		require.NoError(t, err)
		assert.Len(t, list, 3, "Pods of a ReplicaSet of three")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, controllerTest(true)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "Pods of a ReplicaSet of three", controllerTest(false)) }
