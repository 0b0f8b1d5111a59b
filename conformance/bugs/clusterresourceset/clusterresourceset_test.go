// Package clusterresourceset explores the ClusterResourceSet controller of Cluster API at a current release.
package clusterresourceset

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourceset"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourcesetbinding"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
}

// workloads are the clusters beside the management cluster, by the names of their Clusters.
var workloads = []string{"east", "west"}

// A workloadCache has the clients of the workload clusters, which are always connected.
type workloadCache struct {
	clustercache.ClusterCache
	clients map[string]client.Client
}

// GetClient implements [clustercache.ClusterCache].
func (c *workloadCache) GetClient(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	if found := c.clients[cluster.Name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%s: %w", cluster, clustercache.ErrClusterNotConnected)
}

// startResourceSets runs the controllers of ClusterResourceSets. srv is the management cluster.
func startResourceSets(ctx context.Context, srv *fakeapi.Server) error {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, addonsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(types); err != nil {
			return err
		}
	}
	remote := &workloadCache{clustercache.NewFakeEmptyClusterCache(), map[string]client.Client{}}
	for _, name := range workloads {
		rest := restconfig.For(clusters.Get(srv, name))
		rest.UserAgent = "resourcesets"
		c, err := client.New(rest, client.Options{Scheme: types})
		if err != nil {
			return err
		}
		remote.clients[name] = c
	}
	rest := restconfig.For(srv)
	rest.UserAgent = "resourcesets"
	mgr, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: types, Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Client:     client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}}}},
	})
	if err != nil {
		return err
	}
	secrets, err := cache.New(rest, cache.Options{Scheme: types, Mapper: mgr.GetRESTMapper()})
	if err == nil {
		err = mgr.Add(secrets)
	}
	if err != nil {
		return err
	}
	options := controller.Options{SkipNameValidation: ptr.To(true)}
	sets := &clusterresourceset.Reconciler{Client: mgr.GetClient(), ClusterCache: remote}
	if err := sets.SetupWithManager(ctx, mgr, options, secrets); err != nil {
		return err
	}
	bindings := &clusterresourcesetbinding.Reconciler{Client: mgr.GetClient()}
	if err := bindings.SetupWithManager(ctx, mgr, options); err != nil {
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

// A ClusterResourceSet has objects of two workload clusters in a ConfigMap of the management cluster.
func TestClusterResourceSet(t *testing.T) {
	explore.Run(t, explore.System{
		Options: []fakeapi.Option{
			clusters.With("management", fakeapi.WithCRDs(os.DirFS(moduleDir(t)), "core/config/crd/bases/*cluster.x-k8s.io_*.yaml"),
				fakeapi.WithObjectFiles(os.DirFS("testdata"), "workloads.yaml")),
			clusters.With("east"), clusters.With("west"),
		},
		Start:    startResourceSets,
		Workload: explore.Scenario("testdata/resourceset.yaml"),
		Ignore: []explore.Exception{
			{Oracle: explore.Leaks, Reason: "watches of Cluster API leave goroutines if their process ends in the middle of an event"},
		},
		Dir: t.TempDir(),
	})
}
