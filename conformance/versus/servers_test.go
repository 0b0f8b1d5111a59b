package versus

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// A server is an API server or a fake client.
type server struct {
	name     string
	start    func(testing.TB) (c requester, stop func())
	noApply  bool   // it has no server-side apply
	noStart  bool   // how long it takes to start says nothing
	prepared func() // is called after the operation was done once; nil is not called
}

// controllerRuntime returns the servers for the client of controller-runtime. Envtest is one
// of them if KUBEBUILDER_ASSETS names the folder of its binaries.
func controllerRuntime() []server {
	out := []server{
		{name: "fake", start: func(testing.TB) (requester, func()) {
			return runtimeClient{clientfake.NewClientBuilder().Build()}, func() {}
		}},
		{name: "kubefake-memory", start: kubefake(newRuntimeClient, fakeapi.WithInMemory())},
		{name: "kubefake-tcp", start: kubefake(newRuntimeClient)},
		clientAlone(newRuntimeClient),
	}
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		out = append(out, server{name: "envtest", start: startEnvtest})
	}
	return out
}

// clientGo returns the servers for the clientset of client-go.
func clientGo() []server {
	return []server{
		{name: "NewSimpleClientset", noApply: true, start: func(testing.TB) (requester, func()) {
			return clientset{fake.NewSimpleClientset()}, func() {}
		}},
		{name: "NewClientset", start: func(testing.TB) (requester, func()) {
			return clientset{fake.NewClientset()}, func() {}
		}},
		{name: "kubefake-memory", start: kubefake(newClientset, fakeapi.WithInMemory())},
		{name: "kubefake-tcp", start: kubefake(newClientset)},
		clientAlone(newClientset),
	}
}

func kubefake(newRequester func(*rest.Config) (requester, error), options ...fakeapi.Option) func(testing.TB) (requester, func()) {
	return func(tb testing.TB) (requester, func()) {
		srv, err := fakeapi.New(options...)
		require.NoError(tb, err)
		c, err := newRequester(restconfig.For(srv))
		require.NoError(tb, err)
		return c, srv.Close
	}
}

// clientAlone returns a server that takes no time: it repeats the answer that kubefake has given to
// the same request before. What it measures is the client's own share of the time.
func clientAlone(newRequester func(*rest.Config) (requester, error)) server {
	var answers *repeater
	return server{
		name: "client-alone", noStart: true,
		start: func(tb testing.TB) (requester, func()) {
			srv, err := fakeapi.New(fakeapi.WithInMemory())
			require.NoError(tb, err)
			config := restconfig.For(srv)
			config.Wrap(func(to http.RoundTripper) http.RoundTripper {
				answers = &repeater{to: to, last: map[string]*answer{}}
				return answers
			})
			c, err := newRequester(config)
			require.NoError(tb, err)
			return c, srv.Close
		},
		prepared: func() { answers.repeats = true },
	}
}

// A repeater is a transport that, once it repeats, answers a request with the last answer to one with
// the same method and path. It is for one client at a time.
type repeater struct {
	to      http.RoundTripper
	last    map[string]*answer // by method and path
	repeats bool
}

// An answer is a response whose body can be read again.
type answer struct {
	http.Response
	body []byte
}

// RoundTrip implements [http.RoundTripper].
func (r *repeater) RoundTrip(req *http.Request) (*http.Response, error) {
	key := req.Method + " " + req.URL.Path
	if last := r.last[key]; r.repeats && last != nil {
		return last.again(req), nil
	}
	resp, err := r.to.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	r.last[key] = &answer{*resp, body}
	return r.last[key].again(req), resp.Body.Close()
}

// again returns the response for a request.
func (a *answer) again(req *http.Request) *http.Response {
	out := a.Response
	out.Request, out.Body = req, io.NopCloser(bytes.NewReader(a.body))
	return &out
}

func startEnvtest(tb testing.TB) (requester, func()) {
	env := &envtest.Environment{}
	config, err := env.Start()
	require.NoError(tb, err)
	config.QPS = -1
	c, err := newRuntimeClient(config)
	require.NoError(tb, err)
	return c, func() { assert.NoError(tb, env.Stop()) }
}

const (
	namespace = "default"
	manager   = "versus"
)

// A requester makes the requests of the operations with one of the clients.
type requester interface {
	create(context.Context, *corev1.Pod) error
	get(ctx context.Context, pod string) error
	list(context.Context) (*corev1.PodList, error)
	createDeployment(context.Context, *appsv1.Deployment) (*appsv1.Deployment, error)
	update(context.Context, *appsv1.Deployment) (*appsv1.Deployment, error)
	patch(ctx context.Context, deployment string, patchType types.PatchType, data string) error
	apply(context.Context, *applyappsv1.DeploymentApplyConfiguration) error
}

type runtimeClient struct{ client client.Client }

func newRuntimeClient(config *rest.Config) (requester, error) {
	c, err := client.New(config, client.Options{})
	return runtimeClient{c}, err
}

func (r runtimeClient) create(ctx context.Context, p *corev1.Pod) error {
	return r.client.Create(ctx, p)
}

func (r runtimeClient) get(ctx context.Context, pod string) error {
	return r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: pod}, &corev1.Pod{})
}

func (r runtimeClient) list(ctx context.Context) (*corev1.PodList, error) {
	out := &corev1.PodList{}
	return out, r.client.List(ctx, out, client.InNamespace(namespace))
}

func (r runtimeClient) createDeployment(ctx context.Context, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	return d, r.client.Create(ctx, d)
}

func (r runtimeClient) update(ctx context.Context, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	return d, r.client.Update(ctx, d)
}

func (r runtimeClient) patch(ctx context.Context, deployment string, patchType types.PatchType, data string) error {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: deployment}}
	return r.client.Patch(ctx, d, client.RawPatch(patchType, []byte(data)))
}

func (r runtimeClient) apply(ctx context.Context, d *applyappsv1.DeploymentApplyConfiguration) error {
	return r.client.Apply(ctx, d, client.FieldOwner(manager), client.ForceOwnership)
}

type clientset struct{ client kubernetes.Interface }

func newClientset(config *rest.Config) (requester, error) {
	c, err := kubernetes.NewForConfig(config)
	return clientset{c}, err
}

func (c clientset) create(ctx context.Context, p *corev1.Pod) error {
	_, err := c.client.CoreV1().Pods(namespace).Create(ctx, p, metav1.CreateOptions{})
	return err
}

func (c clientset) get(ctx context.Context, pod string) error {
	_, err := c.client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	return err
}

func (c clientset) list(ctx context.Context) (*corev1.PodList, error) {
	return c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
}

func (c clientset) createDeployment(ctx context.Context, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	return c.client.AppsV1().Deployments(namespace).Create(ctx, d, metav1.CreateOptions{})
}

func (c clientset) update(ctx context.Context, d *appsv1.Deployment) (*appsv1.Deployment, error) {
	return c.client.AppsV1().Deployments(namespace).Update(ctx, d, metav1.UpdateOptions{})
}

func (c clientset) patch(ctx context.Context, deployment string, patchType types.PatchType, data string) error {
	_, err := c.client.AppsV1().Deployments(namespace).Patch(ctx, deployment, patchType, []byte(data), metav1.PatchOptions{})
	return err
}

func (c clientset) apply(ctx context.Context, d *applyappsv1.DeploymentApplyConfiguration) error {
	_, err := c.client.AppsV1().Deployments(namespace).Apply(ctx, d, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}
