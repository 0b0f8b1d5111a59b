package stalecache_test

import (
	"context"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/stalecache"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// system is the controller, and a user who creates a ReplicaSet and later annotates it.
func system(expect bool) explore.System {
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			client := kubernetes.NewForConfigOrDie(rig.Config(srv, "replicasets"))
			factory := informers.NewSharedInformerFactory(client, 0)
			sets, pods := factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods()
			c := &stalecache.Controller{Client: client, ReplicaSets: sets.Lister(), Pods: pods.Lister(), Expect: expect}
			return rig.RunUntil(ctx, factory, c.Reconcile, sets.Informer(), pods.Informer())
		},
		Workload: func(ctx context.Context, srv *fakeapi.Server) error {
			return stalecache.Use(ctx, kubernetes.NewForConfigOrDie(rig.Config(srv, "user")))
		},
	}
}

// The fixed controller forgets what it has created if the answer is lost, because it does not
// know the generated name. Without lost answers nothing is found.
func TestExploreFixed(t *testing.T) {
	s := system(true)
	s.Actions = []explore.Action{explore.Crash, explore.CrashAfter, explore.Stop, explore.Hold, explore.Expire, explore.Compact}
	rig.FindsNothing(t, s)
}

// The controller creates a Pod too many without any fault: it sees the Pods that it has created
// one after the other, and counts after each.
func TestExploreBuggy(t *testing.T) { rig.Finds(t, system(false), explore.Duplicates) }
