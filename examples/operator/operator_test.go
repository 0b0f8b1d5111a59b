package operator_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kubefake/kubefake/examples/operator"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/fakeapi/usage"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1] // see fakeapi.WithInMemory
	os.Exit(m.Run())
}

// newWorld starts a server with the manifests of the operator. Each test forks it, which
// takes no time.
func newWorld(t *testing.T, options ...fakeapi.Option) *fakeapi.Server {
	return fakeapi.Start(t, append(options,
		fakeapi.WithCRDs(os.DirFS("config"), "crd/*.yaml"),
		fakeapi.WithObjectFiles(os.DirFS("config"), "webhook/*.yaml"))...)
}

const websites = "websites.shop.example.com"

// run runs the operator until the test ends, and returns a client without a cache.
func run(t *testing.T, srv *fakeapi.Server, hooks webhook.Options, r *operator.Reconciler) client.Client {
	t.Helper()
	cfg := restconfig.For(srv)
	cfg.UserAgent = "operator" // names its requests in the story, beside those of the test
	unique := true
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:        operator.Scheme(),
		WebhookServer: webhook.NewServer(hooks),
		Metrics:       metricsserver.Options{BindAddress: "0"},
		Controller:    config.Controller{SkipNameValidation: &unique},
	})
	require.NoError(t, err)
	require.NoError(t, r.SetUp(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	c, err := client.New(restconfig.For(srv), client.Options{Scheme: operator.Scheme()})
	require.NoError(t, err)
	return c
}

// Each subtest has a fork of its own, and a bubble, in which sleeping costs no time. The
// webhooks are served in memory.
func TestOperator(t *testing.T) {
	world := newWorld(t, fakeapi.WithInMemory())
	for name, test := range map[string]func(t *testing.T, srv *fakeapi.Server, c client.Client, purged <-chan string){
		"deployment and status": testDeployment,
		"finalizer":             testFinalizer,
		"webhooks":              testWebhooks,
		"stale cache":           testStaleCache,
		"conflict":              testConflict,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := world.Fork(t)
				mux := http.NewServeMux()
				_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: mux, Convert: []string{websites}})
				require.NoError(t, err)
				purged := make(chan string, 10)
				c := run(t, srv, webhook.Options{Port: -1, WebhookMux: mux}, &operator.Reconciler{Purge: func(name string) error {
					purged <- name
					return nil
				}})
				test(t, srv, c, purged)
			})
		})
	}
}

func testDeployment(t *testing.T, srv *fakeapi.Server, c client.Client, _ <-chan string) {
	ctx := t.Context()
	site := website("blog", "blog:1")
	require.NoError(t, c.Create(ctx, site))
	time.Sleep(time.Minute)
	deployment := &appsv1.Deployment{}
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(site), deployment))
	assert.Equal(t, int32(1), *deployment.Spec.Replicas)
	assert.True(t, metav1.IsControlledBy(deployment, site))

	// Nothing runs Deployments here: the test says that the Pod is ready.
	deployment.Status.ReadyReplicas, deployment.Status.Replicas = 1, 1
	require.NoError(t, c.Status().Update(ctx, deployment))
	time.Sleep(time.Minute)
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(site), site))
	assert.Equal(t, operator.WebsiteStatus{ObservedGeneration: site.Generation, ReadyReplicas: 1}, site.Status)
}

func testFinalizer(t *testing.T, srv *fakeapi.Server, c client.Client, purged <-chan string) {
	ctx := t.Context()
	site := website("blog", "blog:1")
	require.NoError(t, c.Create(ctx, site))
	time.Sleep(time.Minute)
	assert.Empty(t, purged)
	require.NoError(t, c.Delete(ctx, site))
	time.Sleep(time.Minute)
	assert.Equal(t, "blog", <-purged)
	assert.Empty(t, purged)
	_, err := srv.Get(websites, "default", "blog")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound)
}

func testWebhooks(t *testing.T, srv *fakeapi.Server, c client.Client, _ <-chan string) {
	ctx := t.Context()
	err := c.Create(ctx, website("blog", "blog:latest"))
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "the tag latest changes")

	old := &operator.WebsiteV1alpha1{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}}
	old.Spec.Image = "blog:1"
	require.NoError(t, c.Create(ctx, old))
	assert.Equal(t, int32(1), *old.Spec.Size, "the default of v1, converted")

	slow, err := srv.Inject(faults.FailWebhook("*/mutate-*"))
	require.NoError(t, err)
	assert.ErrorContains(t, c.Create(ctx, website("shop", "shop:1")), `failed calling webhook "mwebsite.shop.example.com"`)
	assert.Equal(t, 1, slow.Hits())
}

// While the watch of Deployments is frozen, the operator does not see the one that it has
// created, and tries to create it again.
func testStaleCache(t *testing.T, srv *fakeapi.Server, c client.Client, _ <-chan string) {
	ctx := t.Context()
	time.Sleep(time.Minute) // until the operator's cache is filled
	require.NoError(t, srv.SetLag("deployments.apps", fakeapi.Lag{Frozen: true}))
	site := website("blog", "blog:1")
	require.NoError(t, c.Create(ctx, site))
	time.Sleep(time.Minute)
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(site), site))
	site.Spec.Image = "blog:2"
	require.NoError(t, c.Update(ctx, site))
	time.Sleep(time.Minute)
	refused := 0
	for _, r := range srv.Requests() {
		if r.Method == http.MethodPost && r.Code == http.StatusConflict {
			refused++
		}
	}
	assert.Positive(t, refused, "creations of a Deployment that exists")

	require.NoError(t, srv.SetLag("deployments.apps", fakeapi.Lag{}))
	time.Sleep(time.Hour)
	deployment := &appsv1.Deployment{}
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(site), deployment))
	assert.Equal(t, "blog:2", deployment.Spec.Template.Spec.Containers[0].Image)
}

// The first update of the status fails with 409: the operator reads again.
func testConflict(t *testing.T, srv *fakeapi.Server, c client.Client, _ <-chan string) {
	ctx := t.Context()
	conflict, err := srv.Inject(faults.ConflictOnce(websites + "/status"))
	require.NoError(t, err)
	site := website("blog", "blog:1")
	require.NoError(t, c.Create(ctx, site))
	time.Sleep(time.Minute)
	assert.Equal(t, 1, conflict.Hits())
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(site), site))
	assert.Equal(t, site.Generation, site.Status.ObservedGeneration)
}

// The operator asks for what its role grants, and for nothing else. It asks in no way that loses
// what others write, or that costs a cluster more than it needs to.
func TestRole(t *testing.T) {
	world := newWorld(t, fakeapi.WithInMemory())
	synctest.Test(t, func(t *testing.T) {
		srv := world.Fork(t)
		usage.Expect(t, srv, usage.Expectation{
			Roles:    []string{"config/rbac/*.yaml"},
			Client:   usage.Client{UserAgent: "operator"},
			Findings: true,
		})
		mux := http.NewServeMux()
		_, err := srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: mux, Convert: []string{websites}})
		require.NoError(t, err)
		c := run(t, srv, webhook.Options{Port: -1, WebhookMux: mux}, &operator.Reconciler{Purge: func(string) error { return nil }})
		ctx := t.Context()
		site := website("blog", "blog:1")
		require.NoError(t, c.Create(ctx, site))
		time.Sleep(time.Minute)
		require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(site), site))
		site.Spec.Image = "blog:2"
		require.NoError(t, c.Update(ctx, site))
		time.Sleep(time.Hour)
		require.NoError(t, c.Delete(ctx, site))
		time.Sleep(time.Minute)
	})
}

// The webhooks listen, as with envtest. Each fork has an address of its own. A call waits
// until the webhook server listens.
func TestWebhookServer(t *testing.T) {
	world := newWorld(t)
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := world.Fork(t)
			hooks, err := srv.InstallWebhooks(fakeapi.WebhookOptions{CertDir: t.TempDir(), Convert: []string{websites}})
			require.NoError(t, err)
			c := run(t, srv, webhook.Options{Host: hooks.Host, Port: hooks.Port, CertDir: hooks.CertDir}, &operator.Reconciler{})
			assert.ErrorContains(t, c.Create(t.Context(), website("blog", "blog:latest")), "the tag latest changes")
			old := &operator.WebsiteV1alpha1{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}}
			old.Spec.Image = "blog:1"
			require.NoError(t, c.Create(t.Context(), old))
			assert.Equal(t, int32(1), *old.Spec.Size, "the default of v1, converted")
		})
	}
}

func website(name, image string) *operator.Website {
	return &operator.Website{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: operator.WebsiteSpec{Image: image}}
}
