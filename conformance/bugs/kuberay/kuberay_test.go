// Package kuberay explores the controllers of KubeRay at a current release.
package kuberay

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/ray-project/kuberay/ray-operator/apis/config/v1alpha1"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/batchscheduler"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils/dashboardclient"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils/types"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	// Otherwise head Pods have generated names, and two of them stop the operator: kuberay#3013.
	os.Setenv(utils.ENABLE_DETERMINISTIC_HEAD_POD_NAME, "true")
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
}

// start runs the controllers as KubeRay's manager does, without leader election and webhooks.
func start(ctx context.Context, srv *fakeapi.Server) error {
	rand.Seed(srv.Revision()) // for the names of clusters, which the operator generates
	objects := runtime.NewScheme()
	if err := scheme.AddToScheme(objects); err != nil {
		return err
	}
	if err := rayv1.AddToScheme(objects); err != nil {
		return err
	}
	rest := restconfig.For(srv)
	rest.UserAgent = "kuberay-operator"
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: objects, Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: {Label: labels.SelectorFromSet(labels.Set{utils.KubernetesCreatedByLabelKey: utils.ComponentName})},
		}},
	})
	if err != nil {
		return err
	}
	schedulers, err := batchscheduler.NewSchedulerManager(ctx, v1alpha1.Configuration{}, rest, mgr.GetClient())
	if err != nil {
		return err
	}
	if err := ray.NewReconciler(ctx, mgr, ray.RayClusterReconcilerOptions{BatchSchedulerManager: schedulers}).SetupWithManager(mgr, 1); err != nil {
		return err
	}
	if err := ray.NewRayServiceReconciler(ctx, mgr, heads{srv}).SetupWithManager(mgr, 1); err != nil {
		return err
	}
	if err := ray.NewRayJobReconciler(ctx, mgr, ray.RayJobReconcilerOptions{BatchSchedulerManager: schedulers}, heads{srv}).SetupWithManager(mgr, 1); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// heads are the head nodes of Ray, which answer by what runs in the cluster.
type heads struct{ srv *fakeapi.Server }

func (h heads) GetDashboardClient(manager.Manager) func(*rayv1.RayCluster, string) (dashboardclient.RayDashboardClientInterface, error) {
	return func(*rayv1.RayCluster, string) (dashboardclient.RayDashboardClientInterface, error) {
		return dashboard{h.srv}, nil
	}
}

func (h heads) GetHttpProxyClient(manager.Manager) func(string, string, string, int) utils.RayHttpProxyClientInterface {
	return func(string, string, string, int) utils.RayHttpProxyClientInterface { return proxy{} }
}

// A proxy is healthy.
type proxy struct{}

func (proxy) CheckProxyActorHealth(context.Context) error { return nil }

// A dashboard says that each application runs, and that a job has succeeded if its submitter has.
type dashboard struct{ srv *fakeapi.Server }

func (dashboard) InitClient(*http.Client, string)                 {}
func (dashboard) UpdateDeployments(context.Context, []byte) error { return nil }

func (dashboard) GetServeDetails(context.Context) (*types.ServeDetails, error) {
	return &types.ServeDetails{}, nil
}

func (dashboard) GetMultiApplicationStatus(context.Context) (map[string]*types.ServeApplicationStatus, error) {
	return map[string]*types.ServeApplicationStatus{"app": {Name: "app", Status: rayv1.ApplicationStatusEnum.RUNNING}}, nil
}

func (d dashboard) GetJobInfo(_ context.Context, id string) (*types.RayJobInfo, error) {
	info := &types.RayJobInfo{JobId: id, JobStatus: rayv1.JobStatusRunning}
	jobs, err := d.srv.List("jobs.batch", "")
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		if b, err := json.Marshal(job); err == nil && bytes.Contains(b, []byte(`"`+id+`"`)) && bytes.Contains(b, []byte(`"Complete"`)) {
			info.JobStatus = rayv1.JobStatusSucceeded
		}
	}
	return info, nil
}

func (dashboard) ListJobs(context.Context) (*[]types.RayJobInfo, error) {
	return &[]types.RayJobInfo{}, nil
}
func (dashboard) SubmitJob(_ context.Context, job *rayv1.RayJob) (string, error) {
	return job.Status.JobId, nil
}
func (dashboard) SubmitJobReq(context.Context, *types.RayJobRequest) (string, error) { return "", nil }
func (dashboard) GetJobLog(context.Context, string) (*string, error)                 { return new(string), nil }
func (dashboard) StopJob(context.Context, string) error                              { return nil }
func (dashboard) DeleteJob(context.Context, string) error                            { return nil }

// system returns the controllers in a cluster that runs Pods and Jobs.
func system(t *testing.T, workload string) explore.System {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ray-project/kuberay/ray-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	return explore.System{
		Options: []fakeapi.Option{
			fakeapi.WithCRDs(os.DirFS(strings.TrimSpace(string(dir))), "config/crd/bases/*.yaml"),
			fakeapi.WithControllers("job-controller", "garbage-collector-controller", "endpointslice-controller", "endpoints-controller", "scheduler", "kubelet"),
		},
		Start:    start,
		Workload: explore.Scenario(workload),
		Ignore: []explore.Exception{
			{Oracle: explore.EndState, Resource: "rayclusters.ray.io", Field: "status.stateTransitionTimes.suspended", Reason: "it is the time of a suspension, which an operator that is late does not see"},
			{Oracle: explore.EndState, Resource: "rayclusters.ray.io", Field: "status.observedGeneration", Reason: "the operator writes no status for it alone: utils/consistency.go"},
			{Oracle: explore.Churn, Name: "train-*", Reason: "an operator that is late starts what is suspended then"},
			{Oracle: explore.Churn, Resource: "jobs.batch", Reason: "an operator that is late starts what is suspended then"},
			{Oracle: explore.Churn, Resource: "pods", Name: "east-*-worker-*", Reason: "a bug: an operator that starts with an old view creates a worker too many, and deletes one: kuberay#715"},
			{Oracle: explore.EndState, Name: "train*", Reason: "an operator that is late sees the suspension before the job has ended"},
		},
		// Lose is left out: Pods have generated names.
		Actions: []explore.Action{
			explore.Crash, explore.CrashAfter, explore.Stop, explore.Hold, explore.Delay, explore.Conflict, explore.Expire,
			explore.Compact, explore.Rewind,
		},
		Dir: t.TempDir(),
	}
}

func TestCluster(t *testing.T) { explore.Run(t, system(t, "testdata/cluster.yaml")) }

func TestRecreate(t *testing.T) { explore.Run(t, system(t, "testdata/recreate.yaml")) }

func TestJob(t *testing.T) { explore.Run(t, system(t, "testdata/job.yaml")) }

// TestJobByHand needs nothing that runs Pods, so its plan can be tried against a bare kube-apiserver:
// -explore.real.
func TestJobByHand(t *testing.T) {
	s := system(t, "testdata/job-by-hand.yaml")
	s.Options = s.Options[:1] // the definitions
	s.Actions = []explore.Action{explore.Hold}
	s.Pace = explore.Pace{Hold: 10 * time.Second, Quiet: 10 * time.Second, Limit: time.Hour}
	explore.Run(t, s)
}
