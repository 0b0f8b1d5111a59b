// Package rabbitmq explores the operator of RabbitMQ clusters. The script run has the
// versions and what is found.
package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rabbitmq/cluster-operator/api/v1beta1"
	"github.com/rabbitmq/cluster-operator/controllers"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// A manager collects controllers instead of running them. That of this controller-runtime
// sleeps while it holds a mutex for which its other goroutines wait, which stops the clock
// of a bubble.
type manager struct {
	ctrl.Manager
	controllers []ctrlmanager.Runnable
	panics      chan string
}

// Add implements ctrl.Manager.
func (m *manager) Add(c ctrlmanager.Runnable) error {
	m.controllers = append(m.controllers, c)
	if err := m.SetFields(c); err != nil {
		return err
	}
	if field := reflect.Indirect(reflect.ValueOf(c)).FieldByName("Do"); field.IsValid() { // of a Controller
		field.Set(reflect.ValueOf(recovering{field.Interface().(reconcile.Reconciler), m.panics}))
	}
	return nil
}

// A recovering is a Reconciler whose panics are sent to a channel. They would end the test.
type recovering struct {
	reconcile.Reconciler
	panics chan<- string
}

// Reconcile implements reconcile.Reconciler.
func (r recovering) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			select {
			case r.panics <- fmt.Sprintf("%v\n%s", p, debug.Stack()):
			default: // one is enough
			}
			err = errors.New("panic")
		}
	}()
	return r.Reconciler.Reconcile(ctx, req)
}

// Start implements ctrl.Manager: it runs the cache and the controllers until ctx ends. It
// panics if a reconciler does.
func (m *manager) Start(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- m.run(ctx) }()
	select {
	case err := <-ended:
		return err
	case p := <-m.panics:
		panic(p)
	}
}

func (m *manager) run(ctx context.Context) error {
	var running errgroup.Group
	running.Go(func() error { return m.GetCache().Start(ctx) })
	m.GetCache().WaitForCacheSync(ctx)
	for _, c := range m.controllers {
		running.Go(func() error { return c.Start(ctx) })
	}
	return running.Wait()
}

// start runs the operator as its main function does, without leader election.
func start(ctx context.Context, srv *fakeapi.Server) error {
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return err
	}
	if err := v1beta1.AddToScheme(types); err != nil {
		return err
	}
	config := &rest.Config{
		Host: srv.URL, Transport: srv.Transport(), QPS: -1, UserAgent: "operator",
		BearerToken: srv.Credentials(fakeapi.User{Name: "operator", Groups: []string{"system:masters"}}).BearerToken,
	}
	whole, err := ctrl.NewManager(config, ctrl.Options{Scheme: types, MetricsBindAddress: "0"})
	if err != nil {
		return err
	}
	mgr := &manager{Manager: whole, panics: make(chan string, 1)}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	err = (&controllers.RabbitmqClusterReconciler{
		Client: mgr.GetClient(), Scheme: types, Recorder: &record.FakeRecorder{},
		Namespace: "default", ClusterConfig: config, Clientset: client, PodExecutor: executor{},
	}).SetupWithManager(mgr)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// An executor is a RabbitMQ in which each command succeeds.
type executor struct{}

// Exec implements controllers.PodExecutor.
func (executor) Exec(*kubernetes.Clientset, *rest.Config, string, string, string, ...string) (stdout, stderr string, err error) {
	return "", "", nil
}

// system returns the operator in a cluster that runs StatefulSets and expands volumes.
func system(t *testing.T, workload string) explore.System {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/rabbitmq/cluster-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	return explore.System{
		Options: []fakeapi.Option{
			fakeapi.WithCRDs(os.DirFS(strings.TrimSpace(string(dir))), "config/crd/bases/*.yaml"),
			fakeapi.WithControllers("statefulset-controller", "garbage-collector-controller", "endpoints-controller",
				"scheduler", "kubelet", "persistentvolumeclaim-protection-controller", "persistentvolume-binder-controller", "storage-provisioner"),
		},
		Start:    start,
		Workload: explore.Scenario(workload),
		Ignore: []explore.Exception{
			{Resource: "services", Field: "spec.ports", Reason: "the operator writes the ports in the order of a map"},
			{Resource: "endpoints", Field: "subsets", Reason: "they have the ports of the Service"},
			{Oracle: explore.WriteBudget, Reason: "the operator tries five times in a row after a conflict, also while its view is old"},
			{Oracle: explore.Leaks, Reason: "watches of this client-go leave a goroutine if they end in the middle of an event"},
			{
				Resource: "rabbitmqclusters.rabbitmq.com", Field: "status.conditions",
				Reason: "they report Endpoints, which the operator does not watch",
			},
			{Resource: "secrets", Field: "data", Reason: "the operator makes random passwords"},
		},
		Dir: t.TempDir(),
	}
}

// A user who creates a cluster again while the old one is being deleted is refused, so the
// operator runs while users delete it.
func TestRecreate(t *testing.T) {
	s := system(t, "testdata/recreate.yaml")
	s.Actions = []explore.Action{
		explore.Crash, explore.CrashAfter, explore.Lose, explore.Hold, explore.Delay, explore.Conflict, explore.Expire, explore.Compact,
		explore.Rewind,
	}
	explore.Run(t, s)
}

func TestExpand(t *testing.T) {
	s := system(t, "testdata/expand.yaml")
	s.Ignore = append(s.Ignore, explore.Exception{
		Resource: "persistentvolumeclaims", Field: "status.allocatedResources", Reason: "a claim that is created with the new size is not expanded",
	})
	explore.Run(t, s)
}

func TestScale(t *testing.T) { explore.Run(t, system(t, "testdata/scale.yaml")) }
