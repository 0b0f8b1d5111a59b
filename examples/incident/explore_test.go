package incident_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/incident"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// system is the controller during the recorded night.
func system(grace time.Duration) explore.System {
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			client := kubernetes.NewForConfigOrDie(rig.Config(srv, "evacuator"))
			factory := informers.NewSharedInformerFactory(client, 0)
			nodes, pods := factory.Core().V1().Nodes(), factory.Core().V1().Pods()
			e := &incident.Evacuator{Client: client, Nodes: nodes.Lister(), Pods: pods.Lister(), Grace: grace}
			return rig.RunUntil(ctx, factory, e.Reconcile, nodes.Informer(), pods.Informer())
		},
		Workload: explore.Scenario("testdata/night.yaml"),
	}
}

func TestExploreFixed(t *testing.T) { rig.FindsNothing(t, system(time.Minute)) }

// A controller that was not running during the half minute evicts nothing: the end depends
// on the schedule.
func TestExploreBuggy(t *testing.T) { rig.Finds(t, system(0), explore.EndState) }
