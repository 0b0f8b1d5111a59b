// Package controllermanager explores controllers of kube-controller-manager at the newest
// release. docs/track-record.md has what is found.
package controllermanager

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	ctrlutil "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	klog.SetLogger(logr.Discard())
}

// A controller is made of its client and informers as kube-controller-manager does, and run with
// a number of workers.
type controller func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (run func(ctx context.Context, workers int), err error)

var controllers = map[string]controller{
	"clusterrole-aggregation-controller": func(_ context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		return clusterroleaggregation.NewClusterRoleAggregation(f.Rbac().V1().ClusterRoles(), client.RbacV1()).Run, nil
	},
	"cronjob-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c, err := cronjob.NewControllerV2(ctx, f.Batch().V1().Jobs(), f.Batch().V1().CronJobs(), client)
		if err != nil {
			return nil, err
		}
		return c.Run, nil
	},
	"daemonset-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c, err := daemon.NewDaemonSetsController(ctx, f.Apps().V1().DaemonSets(), f.Apps().V1().ControllerRevisions(), f.Core().V1().Pods(), f.Core().V1().Nodes(),
			client, flowcontrol.NewBackOff(time.Second, 15*time.Minute))
		if err != nil {
			return nil, err
		}
		return c.Run, nil
	},
	"deployment-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c, err := deployment.NewDeploymentController(ctx, f.Apps().V1().Deployments(), f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), client)
		if err != nil {
			return nil, err
		}
		return c.Run, nil
	},
	"disruption-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		mapper := testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)
		scales := scale.New(client.CoreV1().RESTClient(), mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
		c := disruption.NewDisruptionController(ctx, f.Core().V1().Pods(), f.Policy().V1().PodDisruptionBudgets(), f.Core().V1().ReplicationControllers(),
			f.Apps().V1().ReplicaSets(), f.Apps().V1().Deployments(), f.Apps().V1().StatefulSets(), client, mapper, scales, client.Discovery())
		return c.Run, nil
	},
	"endpoints-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		return endpoint.NewEndpointController(ctx, f.Core().V1().Pods(), f.Core().V1().Services(), f.Core().V1().Endpoints(), client, 0).Run, nil
	},
	"endpointslice-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c := endpointslice.NewController(ctx, f.Core().V1().Pods(), f.Core().V1().Services(), f.Core().V1().Nodes(), f.Discovery().V1().EndpointSlices(), 100, client, 0)
		return c.Run, nil
	},
	"endpointslice-mirroring-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c := endpointslicemirroring.NewController(ctx, f.Core().V1().Endpoints(), f.Discovery().V1().EndpointSlices(), f.Core().V1().Services(), 1000, client, 0)
		return c.Run, nil
	},
	"job-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c, err := job.NewController(ctx, client, f.Core().V1().Pods(), f.Batch().V1().Jobs(), nil, nil)
		if err != nil {
			return nil, err
		}
		return c.Run, nil
	},
	"persistentvolumeclaim-protection-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), f.Core().V1().PersistentVolumeClaims(), f.Core().V1().Pods(), client)
		if err != nil {
			return nil, err
		}
		return c.Run, nil
	},
	"replicaset-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		return replicaset.NewReplicaSetController(ctx, f.Apps().V1().ReplicaSets(), f.Core().V1().Pods(), client, replicaset.BurstReplicas).Run, nil
	},
	"resourceclaim-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		c, err := resourceclaim.NewController(klog.FromContext(ctx), client, f.Core().V1().Pods(), f.Scheduling().V1beta1().PodGroups(),
			f.Resource().V1().ResourceClaims(), f.Resource().V1().ResourceClaimTemplates())
		if err != nil {
			return nil, err
		}
		return c.Run, nil
	},
	"statefulset-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		return statefulset.NewStatefulSetController(ctx, f.Core().V1().Pods(), f.Apps().V1().StatefulSets(), f.Core().V1().PersistentVolumeClaims(),
			f.Apps().V1().ControllerRevisions(), client).Run, nil
	},
	"taint-eviction-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		if err := ctrlutil.AddPodNodeNameIndexer(f.Core().V1().Pods().Informer()); err != nil {
			return nil, err
		}
		c, err := tainteviction.New(ctx, client, f.Core().V1().Pods(), f.Core().V1().Nodes(), "taint-eviction-controller")
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ int) { c.Run(ctx) }, nil
	},
	"ttl-after-finished-controller": func(ctx context.Context, client kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context, int), error) {
		return ttlafterfinished.New(ctx, f.Batch().V1().Jobs(), client).Run, nil
	},
}

// start runs a controller with one worker.
func start(name string) func(ctx context.Context, srv *fakeapi.Server) error {
	return func(ctx context.Context, srv *fakeapi.Server) error {
		config := restconfig.For(srv)
		config.UserAgent = name
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		f := informers.NewSharedInformerFactory(client, 0)
		run, err := controllers[name](ctx, client, f)
		if err != nil {
			return err
		}
		f.Start(ctx.Done())
		defer f.Shutdown()
		run(ctx, 1)
		return nil
	}
}

// system returns a controller in a cluster that runs others.
func system(t *testing.T, controller, workload string, others ...string) explore.System {
	return explore.System{
		Options:  []fakeapi.Option{fakeapi.WithControllers(append(others, "-"+controller)...)},
		Start:    start(controller),
		Workload: explore.Scenario("testdata/" + workload),
		Dir:      t.TempDir(),
	}
}

// generated are the actions for controllers whose objects have generated names: all but Lose,
// after which they cannot know whether there is one.
var generated = []explore.Action{
	explore.Crash, explore.CrashAfter, explore.Stop, explore.Hold, explore.Delay, explore.Conflict, explore.Expire,
	explore.Compact, explore.Rewind,
}

// schedule is what a controller may do that is stopped at the times of a schedule.
var schedule = []explore.Exception{
	{Oracle: explore.EndState, Resource: "cronjobs.batch", Field: "status", Reason: "a CronJob that is suspended when the controller starts has missed its times"},
	{Oracle: explore.EndState, Resource: "jobs.batch", Reason: "the same"},
	{Oracle: explore.EndState, Resource: "pods", Reason: "the same"},
}

// templates have a revision if the controller has seen them.
var templates = []explore.Exception{
	{Oracle: explore.Valid, Resource: "statefulsets.apps", Reason: "currentReplicas is counted below 0: kubernetes/kubernetes#75498"},
}

// Each controller runs beside the others of the cluster.
func TestControllers(t *testing.T) {
	for _, row := range []struct {
		controller, workload string
		actions              []explore.Action // nil is all
		ignore               []explore.Exception
	}{
		{controller: "clusterrole-aggregation-controller", workload: "roles.yaml"},
		{controller: "cronjob-controller", workload: "schedule.yaml", ignore: schedule},
		{controller: "daemonset-controller", workload: "daemonset.yaml", actions: generated},
		{controller: "deployment-controller", workload: "deployment.yaml"},
		{controller: "deployment-controller", workload: "rollback.yaml"},
		{controller: "endpoints-controller", workload: "endpoints.yaml"},
		{controller: "endpointslice-controller", workload: "service.yaml", actions: generated},
		{controller: "endpointslice-mirroring-controller", workload: "mirror.yaml", actions: generated},
		{controller: "job-controller", workload: "job.yaml", actions: generated},
		{controller: "persistentvolumeclaim-protection-controller", workload: "claim-in-use.yaml"},
		{controller: "replicaset-controller", workload: "replicaset.yaml", actions: generated},
		{controller: "resourceclaim-controller", workload: "resourceclaim.yaml", actions: generated},
		{controller: "statefulset-controller", workload: "statefulset.yaml", ignore: templates},
		{controller: "statefulset-controller", workload: "partition.yaml", ignore: templates},
		{controller: "ttl-after-finished-controller", workload: "job-ttl.yaml"},
	} {
		t.Run(row.controller+"/"+row.workload, func(t *testing.T) {
			s := system(t, row.controller, row.workload, "*")
			s.Actions, s.Ignore = row.actions, row.ignore
			explore.Run(t, s)
		})
	}
}

// Bugs: docs/track-record.md. Where the workload does the part of the other controllers, the plan can be
// tried against a bare kube-apiserver: -explore.real.
func TestBugs(t *testing.T) {
	for _, row := range []struct {
		controller, workload string
		action               explore.Action
		others               []string
		ignore               []explore.Exception
	}{
		{controller: "cronjob-controller", workload: "cronjob-by-hand.yaml", action: explore.Hold, ignore: schedule},
		{controller: "cronjob-controller", workload: "cronjob.yaml", action: explore.Hold, others: []string{"*"}, ignore: schedule},
		{controller: "disruption-controller", workload: "disruption-by-hand.yaml", action: explore.Hold},
		{controller: "disruption-controller", workload: "disruption.yaml", action: explore.Hold, others: []string{"*"}},
		{controller: "endpoints-controller", workload: "endpoints-by-hand.yaml", action: explore.Delay},
		{controller: "resourceclaim-controller", workload: "reservation-by-hand.yaml", action: explore.Delay},
		{controller: "taint-eviction-controller", workload: "eviction-by-hand.yaml", action: explore.Expire},
	} {
		t.Run(row.workload, func(t *testing.T) {
			s := system(t, row.controller, row.workload, row.others...)
			s.Actions, s.Ignore = []explore.Action{row.action}, row.ignore
			s.Pace = explore.Pace{Hold: 10 * time.Second, Limit: time.Hour} // against a real server too
			explore.Run(t, s)
		})
	}
}
