// Package testing starts the kube-apiserver of fakeserver. It stands in the place of
// k8s.io/kubernetes/cmd/kube-apiserver/app/testing, and declares the same names.
package testing

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storageversion"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	logsapi "k8s.io/component-base/logs/api/v1"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	testutil "k8s.io/kubernetes/test/utils"
	"k8s.io/kubernetes/test/utils/fakeserver"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func init() { logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged }

type TearDownFunc func()

type TestServerInstanceOptions struct {
	SkipHealthzCheck       bool
	EnableCertAuth         bool
	StorageVersionWrapFunc func(storageversion.Manager) storageversion.Manager
	ProxyCA                *ProxyCA
	BinaryVersion          string
	RequestTimeout         time.Duration
	DisableInvariantChecks bool // of metrics that this server does not have
}

type TestServer struct {
	ClientConfig      *rest.Config
	ServerOpts        *options.ServerRunOptions
	TearDownFn        TearDownFunc
	TmpDir            string
	EtcdClient        *clientv3.Client // closed: there is no etcd to write to
	EtcdStoragePrefix string
}

type Logger interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
}

type ProxyCA struct {
	ProxySigningCert *x509.Certificate
	ProxySigningKey  *rsa.PrivateKey
}

func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return &TestServerInstanceOptions{EnableCertAuth: true}
}

func StartTestServer(t ktesting.TB, instance *TestServerInstanceOptions, customFlags []string, storage *storagebackend.Config) (result TestServer, err error) {
	if instance == nil {
		instance = NewDefaultTestServerOptions()
	}
	if instance.StorageVersionWrapFunc != nil {
		t.Skip("it changes the server in its process")
	}
	result.TmpDir, err = os.MkdirTemp("", "kubernetes-kube-apiserver")
	if err != nil {
		return result, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(result.TmpDir)
		}
	}()

	s, sets, gates, err := newOptions(instance)
	if err != nil {
		return result, err
	}
	if instance.EnableCertAuth {
		if err := setCertificates(s, instance.ProxyCA, result.TmpDir); err != nil {
			return result, err
		}
	}
	s.ServiceClusterIPRanges = "10.0.0.0/16"
	key, err := fakeserver.WriteKey(result.TmpDir)
	if err != nil {
		return result, err
	}
	all := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, set := range sets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(customFlags); err != nil {
		return result, err
	}
	if !all.Changed("advertise-address") && !all.Changed("endpoint-reconciler-type") {
		s.EndpointReconcilerType = "none"
	}
	s.ServiceAccountSigningKeyFile = key
	s.Authentication.ServiceAccounts.Issuers = []string{"https://foo.bar.example.com"}
	s.Authentication.ServiceAccounts.KeyFiles = []string{key}
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return result, err
	}
	shareGates(t, gates)

	flags := append(fakeserver.Changed(sets), fakeserver.Gates(gates)...)
	if storage != nil {
		flags = append(flags, "--etcd-prefix="+storage.Prefix)
		s.Etcd.StorageConfig = *storage
	}
	t.Logf("kube-apiserver %s", strings.Join(flags, " "))
	server, err := fakeserver.Start(result.TmpDir, fakeserver.Minor(gates), flags, !instance.SkipHealthzCheck)
	if err != nil {
		return result, err
	}
	s.SecureServing.BindPort = server.Port()
	if s.SecureServing.ServerCert.CertKey.CertFile == "" {
		s.SecureServing.ServerCert.CertKey.CertFile = server.CertFile()
	}
	s.GenericServerRunOptions.AdvertiseAddress = net.IPv4(127, 0, 0, 1)
	result.ClientConfig = server.Config()
	result.ServerOpts = s
	result.EtcdClient, err = clientv3.New(clientv3.Config{Endpoints: []string{os.Getenv(fakeserver.EtcdVariable)}})
	if err != nil {
		server.Stop()
		return result, err
	}
	result.EtcdClient.Close()
	if storage != nil {
		result.EtcdStoragePrefix = storage.Prefix
	}
	dir := result.TmpDir
	result.TearDownFn = func() {
		server.Stop()
		os.RemoveAll(dir)
	}
	return result, nil
}

func StartTestServerOrDie(t testing.TB, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	result, err := StartTestServer(t, instance, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &result
}

func GetEtcdClients(storagebackend.TransportConfig) (*clientv3.Client, clientv3.KV, error) {
	return nil, nil, errors.New("there is no etcd behind this server")
}

// newOptions returns options, flags that set them, and the gates that the flags change.
func newOptions(instance *TestServerInstanceOptions) (*options.ServerRunOptions, map[string]*pflag.FlagSet, featuregate.MutableVersionedFeatureGate, error) {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	effective := compatibility.DefaultKubeEffectiveVersionForTest()
	if instance.BinaryVersion != "" {
		effective = basecompatibility.NewEffectiveVersionFromString(instance.BinaryVersion, "", "")
	}
	effective.SetEmulationVersion(gates.EmulationVersion())
	effective.SetMinCompatibilityVersion(gates.MinCompatibilityVersion())
	registry := basecompatibility.NewComponentGlobalsRegistry()
	if err := registry.Register(basecompatibility.DefaultKubeComponent, effective, gates); err != nil {
		return nil, nil, nil, err
	}
	s := options.NewServerRunOptions()
	s.GenericServerRunOptions.ComponentGlobalsRegistry = registry
	sets := s.Flags().FlagSets
	if instance.RequestTimeout > 0 {
		s.GenericServerRunOptions.RequestTimeout = instance.RequestTimeout
	}
	return s, sets, gates, nil
}

// setCertificates sets the certificate authorities of clients and of proxies.
func setCertificates(s *options.ServerRunOptions, proxy *ProxyCA, dir string) error {
	if proxy == nil {
		key, err := testutil.NewPrivateKey()
		if err != nil {
			return err
		}
		ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "front-proxy-ca"}, key)
		if err != nil {
			return err
		}
		proxy = &ProxyCA{ca, key}
	}
	key, err := testutil.NewPrivateKey()
	if err != nil {
		return err
	}
	clients, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "client-ca"}, key)
	if err != nil {
		return err
	}
	*s.Authentication.RequestHeader = serveroptions.NewDelegatingAuthenticationOptions().RequestHeader
	s.Authentication.RequestHeader.AllowedNames = []string{"ash", "misty", "brock"}
	s.Authentication.RequestHeader.ClientCAFile = filepath.Join(dir, "proxy-ca.crt")
	s.Authentication.ClientCert.ClientCA = filepath.Join(dir, "client-ca.crt")
	return errors.Join(
		os.WriteFile(s.Authentication.RequestHeader.ClientCAFile, testutil.EncodeCertPEM(proxy.ProxySigningCert), 0o600),
		os.WriteFile(s.Authentication.ClientCert.ClientCA, testutil.EncodeCertPEM(clients), 0o600),
	)
}

// shareGates sets the gates of the process, which many tests ask, to those of a server.
func shareGates(t ktesting.TB, gates featuregate.MutableVersionedFeatureGate) {
	process := utilfeature.DefaultMutableFeatureGate
	if !gates.EmulationVersion().EqualTo(process.EmulationVersion()) || !gates.MinCompatibilityVersion().EqualTo(process.MinCompatibilityVersion()) {
		featuregatetesting.SetFeatureGateVersionsDuringTest(t, process, gates.EmulationVersion(), gates.MinCompatibilityVersion())
	}
	changed := map[featuregate.Feature]bool{}
	for name := range process.GetAll() {
		if on := gates.Enabled(name); on != process.Enabled(name) {
			changed[name] = on
		}
	}
	if len(changed) > 0 {
		featuregatetesting.SetFeatureGatesDuringTest(t, process, changed)
	}
}
