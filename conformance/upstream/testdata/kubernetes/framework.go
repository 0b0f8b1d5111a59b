package framework

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/test/utils"
	"k8s.io/kubernetes/test/utils/fakeserver"
)

type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	ModifyServerConfig     func(*controlplane.Config)
	DisableInvariantChecks bool // of metrics that this server does not have
}

type TearDownFunc func()

// StartTestServer starts the kube-apiserver of fakeserver. It stands in the place of the
// function of this name in k8s.io/kubernetes/test/integration/framework.
func StartTestServer(_ context.Context, t testing.TB, setup TestServerSetup) (client.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	more, ok := configFlags(setup.ModifyServerConfig)
	if !ok {
		t.Skip("it changes the server in its process")
	}
	dir, err := os.MkdirTemp("", "test-integration")
	if err != nil {
		t.Fatal(err)
	}
	config, stop, err := startFakeServer(t, dir, setup.ModifyServerRunOptions, more)
	if err != nil {
		os.RemoveAll(dir)
		t.Fatal(err)
	}
	clients, err := client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients, config, func() {
		stop()
		os.RemoveAll(dir)
	}
}

func startFakeServer(t testing.TB, dir string, modify func(*options.ServerRunOptions), more []string) (*rest.Config, func(), error) {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	effective := compatibility.DefaultKubeEffectiveVersionForTest()
	effective.SetEmulationVersion(gates.EmulationVersion())
	registry := basecompatibility.NewComponentGlobalsRegistry()
	if err := registry.Register(basecompatibility.DefaultKubeComponent, effective, gates); err != nil {
		return nil, nil, err
	}
	opts := options.NewServerRunOptions()
	opts.GenericServerRunOptions.ComponentGlobalsRegistry = registry
	sets := opts.Flags().FlagSets

	key, keyErr := fakeserver.WriteKey(dir)
	proxyCA, proxyErr := newCA(dir, "front-proxy-ca")
	clientCA, clientErr := newCA(dir, "client-ca")
	if err := errors.Join(keyErr, proxyErr, clientErr); err != nil {
		return nil, nil, err
	}
	opts.ServiceAccountSigningKeyFile = key
	opts.Etcd.StorageConfig.Prefix = "/" + uuid.New().String() + "/registry"
	opts.Etcd.StorageConfig.Transport.ServerList = []string{GetEtcdURL()}
	opts.ServiceClusterIPRanges = "10.0.0.0/24"
	opts.Authentication.RequestHeader.UsernameHeaders = []string{"X-Remote-User"}
	opts.Authentication.RequestHeader.GroupHeaders = []string{"X-Remote-Group"}
	opts.Authentication.RequestHeader.ExtraHeaderPrefixes = []string{"X-Remote-Extra-"}
	opts.Authentication.RequestHeader.AllowedNames = []string{"kube-aggregator"}
	opts.Authentication.RequestHeader.ClientCAFile = proxyCA
	opts.Authentication.APIAudiences = []string{"https://foo.bar.example.com"}
	opts.Authentication.ServiceAccounts.Issuers = []string{"https://foo.bar.example.com"}
	opts.Authentication.ServiceAccounts.KeyFiles = []string{key}
	opts.Authentication.ClientCert.ClientCA = clientCA
	opts.Authorization.Modes = []string{"Node", "RBAC"}
	opts.SecureServing.ServerCert.CertDirectory = dir
	if modify != nil {
		modify(opts)
	}
	shareGates(t, gates)

	flags := slices.Concat(fakeserver.Changed(sets), fakeserver.Gates(gates), more)
	t.Logf("kube-apiserver %s", strings.Join(flags, " "))
	server, err := fakeserver.Start(dir, fakeserver.Minor(gates), flags, true)
	if err != nil {
		return nil, nil, err
	}
	return server.Config(), server.Stop, nil
}

// configFlags returns the flags for what modify sets. It reports false if modify changes
// anything else.
func configFlags(modify func(*controlplane.Config)) (flags []string, ok bool) {
	if modify == nil {
		return nil, true
	}
	defer func() {
		if recover() != nil { // modify reads what only a real configuration has
			ok = false
		}
	}()
	empty := func() *controlplane.Config {
		return &controlplane.Config{ControlPlane: controlplaneapiserver.Config{Generic: &genericapiserver.Config{LoopbackClientConfig: &rest.Config{}}}}
	}
	c := empty()
	modify(c)
	enabled, _ := c.ControlPlane.Extra.APIResourceConfigSource.(*serverstorage.ResourceConfig)
	c.ControlPlane.Extra.APIResourceConfigSource = nil
	if reconciler := c.Extra.EndpointReconcilerType; reconciler != "" {
		flags = append(flags, "--endpoint-reconciler-type="+string(reconciler))
		c.Extra.EndpointReconcilerType = ""
	}
	if !reflect.DeepEqual(c, empty()) {
		return nil, false
	}
	if enabled == nil {
		return flags, true
	}
	usual := controlplane.DefaultAPIResourceConfigSource()
	for version, on := range enabled.GroupVersionConfigs {
		if on != usual.GroupVersionConfigs[version] && legacyscheme.Scheme.IsVersionRegistered(version) {
			flags = append(flags, fmt.Sprintf("--runtime-config=%s=%t", version, on))
		}
	}
	for resource, on := range enabled.ResourceConfigs {
		if on != usual.ResourceConfigs[resource] {
			flags = append(flags, fmt.Sprintf("--runtime-config=%s/%s=%t", resource.GroupVersion(), resource.Resource, on))
		}
	}
	return flags, true
}

// newCA writes the certificate of a certificate authority, and returns its file.
func newCA(dir, name string) (string, error) {
	key, err := utils.NewPrivateKey()
	if err != nil {
		return "", err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name+".crt")
	return file, os.WriteFile(file, utils.EncodeCertPEM(ca), 0o600)
}

// shareGates sets the gates of the process, which many tests ask, to those of a server.
func shareGates(t testing.TB, gates featuregate.MutableVersionedFeatureGate) {
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
