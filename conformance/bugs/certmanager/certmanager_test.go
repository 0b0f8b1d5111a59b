// Package certmanager explores the controllers of cert-manager at a current release.
package certmanager

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func init() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps under a lock
	klog.SetLogger(logr.Discard())
	http.DefaultTransport = &servers
}

// controllers are those of certificates and of the issuers that need nothing outside of the cluster.
var controllers = []string{
	issuers.ControllerName, trigger.ControllerName, keymanager.ControllerName, requestmanager.ControllerName, issuing.ControllerName,
	readiness.ControllerName, revisionmanager.ControllerName, approver.ControllerName, ca.CRControllerName, selfsigned.CRControllerName,
}

// servers is what cert-manager's clients, which are made of a kubeconfig file, connect with.
var servers transports

// transports are those of servers in memory, by host.
type transports struct{ byHost sync.Map }

func (t *transports) RoundTrip(r *http.Request) (*http.Response, error) {
	to, ok := t.byHost.Load(r.URL.Host)
	if !ok {
		return nil, fmt.Errorf("no server %s", r.URL.Host)
	}
	return to.(http.RoundTripper).RoundTrip(r)
}

// start runs controllers as cert-manager's main does, without leader election.
func start(dir string) func(context.Context, *fakeapi.Server) error {
	return func(ctx context.Context, srv *fakeapi.Server) error {
		url := fmt.Sprintf("http://%p.test", srv)
		if !srv.InMemory() { // in front of a real server
			url = srv.URL
		}
		_, host, _ := strings.Cut(url, "//")
		servers.byHost.Store(host, srv.Transport())
		defer servers.byHost.Delete(host)
		config := clientcmdapi.NewConfig()
		config.Clusters["c"] = &clientcmdapi.Cluster{Server: url}
		config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: restconfig.For(srv).BearerToken}
		config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
		config.CurrentContext = "x"
		name := filepath.Join(dir, host)
		if err := clientcmd.WriteToFile(*config, name); err != nil {
			return err
		}
		defer os.Remove(name)
		factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
			Kubeconfig: name, KubernetesAPIQPS: 10000, KubernetesAPIBurst: 10000,
			IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "kube-system"},
			CertificateOptions: controller.CertificateOptions{
				CertificateRequestMinimumBackoffDuration: time.Hour, CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
			},
		})
		if err != nil {
			return err
		}
		ctrl, err := factory.Build()
		if err != nil {
			return err
		}
		var run []controller.Interface
		for _, name := range controllers {
			c, err := controller.Known()[name](factory)
			if err != nil {
				return err
			}
			run = append(run, c)
		}
		var done sync.WaitGroup
		defer done.Wait()
		for _, c := range run {
			done.Go(func() { c.Run(1, ctx) })
		}
		ctrl.SharedInformerFactory.Start(ctx.Done())
		ctrl.KubeSharedInformerFactory.Start(ctx.Done())
		defer ctrl.SharedInformerFactory.Shutdown()
		defer ctrl.KubeSharedInformerFactory.Shutdown()
		<-ctx.Done()
		return nil
	}
}

// matches says that a certificate and its key belong together, as whoever mounts the Secret requires.
var matches = explore.Always("the certificate of a Secret is of its key", func(s explore.State) error {
	for _, secret := range s.List("secrets") {
		data, _ := secret["data"].(map[string]any)
		crt, _ := base64.StdEncoding.DecodeString(fmt.Sprint(data["tls.crt"]))
		key, _ := base64.StdEncoding.DecodeString(fmt.Sprint(data["tls.key"]))
		if data["tls.crt"] == nil || len(crt) == 0 {
			continue
		}
		if _, err := tls.X509KeyPair(crt, key); err != nil {
			return fmt.Errorf("%v: %w", secret["metadata"].(map[string]any)["name"], err)
		}
	}
	return nil
})

// system returns the controllers in a cluster with their definitions.
func system(t *testing.T, workload string) explore.System {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	return explore.System{
		Options: []fakeapi.Option{
			fakeapi.WithCRDs(os.DirFS(strings.TrimSpace(string(dir))), "deploy/crds/*.yaml"),
			fakeapi.WithControllers("garbage-collector-controller"),
		},
		Start:      start(t.TempDir()),
		Workload:   explore.Scenario(workload),
		Invariants: []explore.Invariant{matches},
		Ignore: []explore.Exception{
			{Oracle: explore.Orphans, Resource: "secrets", Reason: "Secrets stay, unless --enable-certificate-owner-ref is set"},
		},
		Pace: explore.Pace{Hold: 10 * time.Second, Quiet: 5 * time.Second, Limit: 12 * time.Second}, // a loop of issuances goes on for minutes
		Dir:  t.TempDir(),
	}
}

func TestIssue(t *testing.T) { explore.Run(t, system(t, "testdata/issue.yaml")) }
