// Package envtest runs controller-runtime's envtest with the binaries of "fakeapi
// envtest install". The program suites runs it with other versions of controller-runtime,
// and with a real control plane.
package envtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// assets is the folder of the binaries. KUBEBUILDER_ASSETS, if set, names another one,
// such as that of a real control plane.
var assets = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "fakeapi-envtest-")
	if err != nil {
		return "", err
	}
	fakeapi := filepath.Join(dir, "fakeapi")
	build := exec.Command("go", "build", "-o", fakeapi, "./cmd/fakeapi")
	build.Dir = "../.." // the root module
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	out, err := exec.Command(fakeapi, "envtest", "env", "--dir", dir).Output()
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(out), "'")
	folder, _, _ := strings.Cut(rest, "'")
	return folder, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := assets(); err == nil && os.Getenv("KUBEBUILDER_ASSETS") == "" {
		os.RemoveAll(filepath.Dir(filepath.Dir(dir)))
	}
	os.Exit(code)
}

// newEnvironment returns an environment with the binaries.
func newEnvironment(t *testing.T) *envtest.Environment {
	dir, err := assets()
	require.NoError(t, err)
	return &envtest.Environment{BinaryAssetsDirectory: dir}
}

// start starts an environment and stops it when the test ends.
func start(t *testing.T, env *envtest.Environment) client.Client {
	config, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return c
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func TestStart(t *testing.T) {
	t.Parallel()
	c := start(t, newEnvironment(t))
	require.NoError(t, c.Create(t.Context(), newConfigMap("a")))
	err := c.Create(t.Context(), newConfigMap("A_"))
	assert.True(t, apierrors.IsInvalid(err), err)
}

var (
	starts   = flag.Int("starts", 20, "the number of environments that TestMany starts in a row")
	together = flag.Int("together", 24, "the number of environments that TestMany starts at a time")
)

// Many environments at a time and one after the other have ports and a state of their
// own, and leave nothing.
func TestMany(t *testing.T) {
	newEnvironment(t) // writes the binaries
	for _, row := range []struct {
		name           string
		times, atATime int
	}{
		{"in parallel", *together, *together},
		{"in a row", *starts, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			group := errgroup.Group{}
			group.SetLimit(row.atATime)
			for range row.times {
				group.Go(func() error {
					env := newEnvironment(t)
					config, err := env.Start()
					if err != nil {
						return err
					}
					c, err := client.New(config, client.Options{})
					if err == nil {
						err = c.Create(t.Context(), newConfigMap("a"))
					}
					return errors.Join(err, env.Stop())
				})
			}
			require.NoError(t, group.Wait())
			left, err := os.ReadDir(temporary)
			require.NoError(t, err)
			assert.Empty(t, left, "files")
			assert.Empty(t, processes(t, temporary))
		})
	}
}

// processes returns the command lines of the processes that name text.
func processes(t *testing.T, text string) []string {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline") // none where there is no /proc
	require.NoError(t, err)
	var out []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), text) { // the process may have ended
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// A kube-apiserver that starts again finds its objects in etcd.
func TestRestart(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	c := start(t, env)
	before := newConfigMap("a")
	require.NoError(t, c.Create(t.Context(), before))
	require.NoError(t, env.ControlPlane.APIServer.Stop())
	require.NoError(t, env.ControlPlane.APIServer.Start())
	again, err := env.AddUser(envtest.User{Name: "again", Groups: []string{"system:masters"}}, nil) // for the new certificate
	require.NoError(t, err)
	c, err = client.New(again.Config(), client.Options{})
	require.NoError(t, err)
	after := &corev1.ConfigMap{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(before), after))
	assert.Equal(t, before.ObjectMeta, after.ObjectMeta)
	after.Data = map[string]string{"k": "v"}
	require.NoError(t, c.Update(t.Context(), after))
	assert.Greater(t, after.ResourceVersion, before.ResourceVersion)
}

func TestAddUser(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	start(t, env)
	jane, err := env.AddUser(envtest.User{Name: "jane", Groups: []string{"developers"}}, nil)
	require.NoError(t, err)
	clientset, err := kubernetes.NewForConfig(jane.Config())
	require.NoError(t, err)
	_, err = clientset.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), err)
	assert.ErrorContains(t, err, `User "jane" cannot list resource "secrets"`)
}

func TestCustomResources(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	env.CRDInstallOptions.CRDs = []*apiextensionsv1.CustomResourceDefinition{{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}}
	c := start(t, env)
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "default", "name": "w"},
	}}
	require.NoError(t, c.Create(t.Context(), widget))
	assert.NotEmpty(t, widget.GetUID())
}

// Webhooks are called at the address of the environment, with its certificate.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	path, none := "/validate", admissionregistrationv1.SideEffectClassNone
	env.WebhookInstallOptions.ValidatingWebhooks = []*admissionregistrationv1.ValidatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:         "shop.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "shop", Path: &path}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}}
	c := start(t, env)

	handler, err := admission.StandaloneWebhook(&admission.Webhook{
		Handler: admission.HandlerFunc(func(_ context.Context, r admission.Request) admission.Response {
			return admission.ValidationResponse(r.Name != "closed", "the shop is closed")
		}),
	}, admission.StandaloneOptions{})
	require.NoError(t, err)
	options := env.WebhookInstallOptions
	listener, err := net.Listen("tcp", net.JoinHostPort(options.LocalServingHost, strconv.Itoa(options.LocalServingPort)))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	server := &http.Server{Handler: mux}
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	go server.ServeTLS(listener, filepath.Join(options.LocalServingCertDir, "tls.crt"), filepath.Join(options.LocalServingCertDir, "tls.key"))

	for err == nil { // kube-apiserver calls a new webhook after some time
		err = c.Create(t.Context(), newConfigMap("closed"), client.DryRunAll)
	}
	assert.ErrorContains(t, err, `admission webhook "shop.example.com" denied the request: the shop is closed`)
	assert.NoError(t, c.Create(t.Context(), newConfigMap("open")))
}

func TestServiceAccountToken(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	start(t, env)
	admin, err := kubernetes.NewForConfig(env.Config)
	require.NoError(t, err)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot"}}
	_, err = admin.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
	request, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)

	config := *env.Config
	config.CertData, config.KeyData, config.BearerToken = nil, nil, request.Status.Token
	robot, err := kubernetes.NewForConfig(&config)
	require.NoError(t, err)
	_, err = robot.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, `User "system:serviceaccount:default:robot" cannot list resource "pods"`)
}
