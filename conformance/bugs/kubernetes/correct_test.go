package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/deployment"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// startDeployments runs the controller as kube-controller-manager does, with one worker.
func startDeployments(ctx context.Context, srv *fakeapi.Server) error {
	config := restconfig.For(srv)
	config.UserAgent = "deployment-controller"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	f := informers.NewSharedInformerFactory(client, 0)
	c, err := deployment.NewDeploymentController(ctx, f.Apps().V1().Deployments(), f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), client)
	if err != nil {
		return err
	}
	f.Start(ctx.Done())
	defer f.Shutdown()
	c.Run(ctx, 1)
	return nil
}

// revisions count the templates that the controller has seen: one that is stopped meanwhile does
// not see the first one of testdata/rollout.yaml.
var revisions = []explore.Exception{
	{Oracle: explore.EndState, Resource: "deployments.apps", Field: "metadata.annotations.deployment.kubernetes.io/revision", Reason: "it counts templates"},
	{Oracle: explore.EndState, Resource: "replicasets.apps", Field: "metadata.annotations.deployment.kubernetes.io/revision", Reason: "it counts templates"},
}

// A search finds nothing in controllers that are correct: those of kube-controller-manager
// v1.36.3 (-modfile=v1.36.3.mod), beside other controllers of the cluster. With
// -explore.plans 2000 -explore.for 1h -timeout 0 this is the long form.
func TestCorrectControllers(t *testing.T) {
	var none []string
	basic, all := fakeapi.BasicControllers, []string{"*"}
	for _, row := range []struct {
		controller  string
		start       func(context.Context, *fakeapi.Server) error
		controllers []string
		workload    string
		ignore      []explore.Exception
	}{
		{"replicaset-controller", startReplicaSets, none, "scale-replicaset.yaml", nil},
		{"replicaset-controller", startReplicaSets, basic, "scale-replicaset.yaml", nil},
		{"replicaset-controller", startReplicaSets, all, "scale-replicaset.yaml", nil},
		{"deployment-controller", startDeployments, none, "scale-deployment.yaml", nil},
		{"deployment-controller", startDeployments, basic, "scale-deployment.yaml", nil},
		{"deployment-controller", startDeployments, all, "scale-deployment.yaml", nil},
		{"deployment-controller", startDeployments, all, "rollout.yaml", revisions}, // it ends if Pods become ready
	} {
		t.Run(fmt.Sprintf("%s/%s beside %v", row.controller, row.workload, row.controllers), func(t *testing.T) {
			r := explore.Find(t, explore.System{
				Options:  []fakeapi.Option{fakeapi.WithControllers(slices.Concat(row.controllers, []string{"-" + row.controller})...)},
				Start:    row.start,
				Workload: explore.Scenario("testdata/" + row.workload),
				Ignore:   row.ignore,
				Actions:  actions,
				Dir:      t.TempDir(),
				Plans:    10,
				All:      true,
			})
			if len(r.Findings) > 0 {
				t.Error(r)
			}
			t.Logf("%d plans in %v", r.Plans, r.Elapsed)
		})
	}
}
