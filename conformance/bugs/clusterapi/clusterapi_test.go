// Package clusterapi explores the MachineDeployment controller of Cluster API, and that of
// ClusterResourceSets in a management cluster and two workload clusters. The script
// run has the versions and what is found.
package clusterapi

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	ctrl.SetLogger(logr.Discard())
}

// start runs the controller as Cluster API's manager does, without leader election.
func start(ctx context.Context, srv *fakeapi.Server) error {
	types := runtime.NewScheme()
	if err := clusterv1.AddToScheme(types); err != nil {
		return err
	}
	rest := restconfig.For(srv)
	rest.UserAgent = "machinedeployments"
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: types, Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	r := &controllers.MachineDeploymentReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader()}
	if err := r.SetupWithManager(ctx, mgr, controller.Options{SkipNameValidation: ptr.To(true)}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// moduleDir returns the directory of Cluster API, which has its definitions.
func moduleDir(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(dir))
}

// Views may stay behind for longer than the controller waits for its cache. It waits for
// ten seconds.
func TestMachineDeployment(t *testing.T) {
	s := explore.System{
		Options: []fakeapi.Option{
			fakeapi.WithCRDs(os.DirFS(moduleDir(t)), "config/crd/bases/cluster.x-k8s.io_*.yaml"), fakeapi.WithCRDs(os.DirFS("testdata"), "crd.yaml"),
			fakeapi.WithObjectFiles(os.DirFS("testdata"), "cluster.yaml"),
		},
		Start:    start,
		Workload: explore.Scenario("testdata/machinedeployment.yaml"),
		Ignore: []explore.Exception{
			{Oracle: explore.WriteBudget, Reason: "the controller repeats a write with the same conflict until its view is new"},
			{Oracle: explore.Leaks, Reason: "the caches of Cluster API have goroutines that never end"},
		},
		Pace: explore.Pace{Hold: time.Minute},
		Dir:  t.TempDir(),
	}
	for _, field := range []string{"metadata.labels", "spec.selector.matchLabels", "spec.template.metadata.labels"} {
		s.Ignore = append(s.Ignore, explore.Exception{
			Resource: "machinesets.cluster.x-k8s.io", Field: field, Reason: "a label has the random part of the name",
		})
	}
	explore.Run(t, s)
}
