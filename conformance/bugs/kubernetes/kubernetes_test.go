// Package kubernetes explores the ReplicaSet controller of kube-controller-manager, and a
// small client of client-go. The script run has the versions and what is found.
package kubernetes

import (
	"context"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/replicaset"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
}

// startReplicaSets runs the controller as kube-controller-manager does, with one worker.
func startReplicaSets(ctx context.Context, srv *fakeapi.Server) error {
	config := restconfig.For(srv)
	config.UserAgent = "replicaset-controller"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := informers.NewSharedInformerFactory(client, 0)
	c := replicaset.NewReplicaSetController(ctx, f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), client, replicaset.BurstReplicas)
	f.Start(ctx.Done())
	defer f.Shutdown()
	c.Run(ctx, 1)
	return nil
}

// actions are all but Lose: a ReplicaSet's controller creates Pods with generated names, so that
// it creates one again if the answer is lost.
var actions = []explore.Action{
	explore.Crash, explore.CrashAfter, explore.Stop, explore.Hold, explore.Delay, explore.Conflict, explore.Expire,
	explore.Compact, explore.Rewind,
}

// Views may stay behind for minutes.
func TestReplicaSet(t *testing.T) {
	explore.Run(t, explore.System{
		Start:    startReplicaSets,
		Workload: explore.Scenario("testdata/replicaset.yaml"),
		Actions:  actions,
		Pace:     explore.Pace{Hold: 8 * time.Minute, Quiet: 15 * time.Minute},
		Dir:      t.TempDir(),
	})
}
