// Package jobset explores the controllers of JobSet. The script run has the version and
// what is found.
package jobset

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	ctrl.SetLogger(logr.Discard())
}

// start runs the controllers as JobSet's manager does, without leader election and webhooks.
func start(ctx context.Context, srv *fakeapi.Server) error {
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return err
	}
	if err := v1alpha2.AddToScheme(types); err != nil {
		return err
	}
	rest := restconfig.For(srv)
	rest.UserAgent = "jobset"
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: types, Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	if err := controllers.SetupJobSetIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.SetupPodIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.NewJobSetReconciler(mgr.GetClient(), types, mgr.GetEventRecorder("jobset")).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := controllers.NewPodReconciler(mgr.GetClient(), types, mgr.GetEventRecorder("pod")).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// system returns the controllers in a cluster that runs Jobs.
func system(t *testing.T, workload explore.Workload) explore.System {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/jobset").Output()
	if err != nil {
		t.Fatal(err)
	}
	return explore.System{
		Options: []fakeapi.Option{
			fakeapi.WithCRDs(os.DirFS(strings.TrimSpace(string(dir))), "config/components/crd/bases/*.yaml"),
			fakeapi.WithControllers("job-controller", "garbage-collector-controller", "scheduler", "kubelet"),
		},
		Start:    start,
		Workload: workload,
		Dir:      t.TempDir(),

		// The broadcaster of Events holds a mutex while it writes those that are repeated.
		Unordered: true,
	}
}

// running is a workload in which the containers of a JobSet run until its Jobs end.
func running(workload string) explore.Workload {
	return func(ctx context.Context, srv *fakeapi.Server) error {
		if err := srv.Kubelet().Pods("jobset.sigs.k8s.io/jobset-name=train").Run(); err != nil {
			return err
		}
		return explore.Scenario(workload)(ctx, srv)
	}
}

func TestComplete(t *testing.T) {
	explore.Run(t, system(t, explore.Scenario("testdata/complete.yaml")))
}

func TestRestart(t *testing.T) {
	explore.Run(t, system(t, func(ctx context.Context, srv *fakeapi.Server) error {
		if err := srv.Kubelet().Pods("jobset.sigs.k8s.io/job-index=1").Run(); err != nil {
			return err
		}
		if err := srv.Kubelet().Pods("jobset.sigs.k8s.io/job-index=0").CrashLoop(); err != nil {
			return err
		}
		return explore.Scenario("testdata/restart.yaml")(ctx, srv)
	}))
}

func TestSuspend(t *testing.T) {
	explore.Run(t, system(t, running("testdata/suspend.yaml")))
}

func TestRecreate(t *testing.T) {
	explore.Run(t, system(t, running("testdata/recreate.yaml")))
}
