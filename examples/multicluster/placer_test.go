package multicluster_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	members "sigs.k8s.io/multicluster-runtime/providers/clusters"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/multicluster"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1] // see fakeapi.WithInMemory
	os.Exit(m.Run())
}

// regions are the clusters beside the hub.
var regions = []string{"east", "west"}

// world are the clusters of the tests.
func world() []fakeapi.Option {
	return []fakeapi.Option{clusters.With("hub"), clusters.With("east"), clusters.With("west")}
}

// run runs the controller until ctx ends. hub is the server of that cluster.
func run(ctx context.Context, hub *fakeapi.Server, v multicluster.Version) error {
	provider := members.New()
	for _, name := range regions {
		c, err := cluster.New(rig.Config(clusters.Get(hub, name), "placer"), func(o *cluster.Options) { o.Scheme = multicluster.Scheme() })
		if err != nil {
			return err
		}
		if err := provider.Add(ctx, name, c); err != nil {
			return err
		}
	}
	m, err := mcmanager.New(rig.Config(hub, "placer"), provider, mcmanager.Options{
		Scheme:  multicluster.Scheme(),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	again := true // the controller starts several times in this process
	p := &multicluster.Placer{Version: v, Regions: regions}
	if err := p.SetUp(m, mccontroller.Options{SkipNameValidation: &again}); err != nil {
		return err
	}
	return m.Start(ctx)
}

// put creates or changes the ConfigMap of a user in the hub.
func put(hub *fakeapi.Server, region string) error {
	o := fakeapi.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"tea": "2"},
		"metadata": map[string]any{"namespace": "default", "name": "prices", "labels": map[string]any{multicluster.RegionLabel: region}},
	}
	if old, err := hub.Get("configmaps", "default", "prices"); err == nil {
		o["metadata"].(map[string]any)["annotations"] = old["metadata"].(map[string]any)["annotations"]
	}
	_, err := hub.Store(o)
	return err
}

// has returns the clusters that have the copy.
func has(hub *fakeapi.Server) (names []string) {
	for _, name := range regions {
		if _, err := clusters.Get(hub, name).Get("configmaps", "default", "prices"); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// While the user moves the ConfigMap from east to west, the controller cannot reach east.
func placerTest(v multicluster.Version) rig.Test {
	return func(t testing.TB, hub *fakeapi.Server) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, hub, v) }()
		t.Cleanup(func() {
			cancel()
			assert.NoError(t, <-ended)
		})
		require.NoError(t, put(hub, "east"))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"east"}, has(hub))

		cut, err := clusters.Get(hub, "east").Inject(faults.Partition("placer*")...)
		require.NoError(t, err)
		require.NoError(t, put(hub, "west"))
		time.Sleep(time.Minute)
		cut.Remove()
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"west"}, has(hub), "clusters with a copy")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, placerTest(multicluster.Everywhere), world()...) }

// This test does not show what is wrong with the first attempt of a fix; TestExploreAttempt does.
func TestAttempt(t *testing.T) { rig.Passes(t, placerTest(multicluster.RecordsLast), world()...) }

func TestBuggy(t *testing.T) {
	rig.Fails(t, "clusters with a copy", placerTest(multicluster.RecordsFirst), world()...)
}
