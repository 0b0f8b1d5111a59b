// Package testing starts the kube-apiserver of fakeserver. It stands in the place of
// k8s.io/apiextensions-apiserver/pkg/cmd/server/testing, and declares the same names.
package testing

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	extensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiextensions-apiserver/test/fakeserver"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
)

func init() { logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged }

type TearDownFunc func()

type TestServerInstanceOptions struct{}

type TestServer struct {
	ClientConfig    *rest.Config
	ServerOpts      *options.CustomResourceDefinitionsServerOptions
	TearDownFn      TearDownFunc
	TmpDir          string
	CompletedConfig extensionsapiserver.CompletedConfig // the zero value
}

type Logger interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

func NewDefaultTestServerOptions() *TestServerInstanceOptions { return &TestServerInstanceOptions{} }

// notHere are flags of apiextensions-apiserver that kube-apiserver does not have.
var notHere = []string{"authentication-skip-lookup", "authentication-kubeconfig", "authorization-kubeconfig", "kubeconfig"}

func StartTestServer(t Logger, _ *TestServerInstanceOptions, customFlags []string, _ *storagebackend.Config) (result TestServer, err error) {
	s := options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.AddFlags(set)
	if err := set.Parse(customFlags); err != nil {
		return result, err
	}
	result.TmpDir, err = os.MkdirTemp("", "apiextensions-apiserver")
	if err != nil {
		return result, err
	}
	flags := fakeserver.Changed(map[string]*pflag.FlagSet{"": set})
	flags = slices.DeleteFunc(flags, func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		return slices.Contains(notHere, name)
	})
	key, err := fakeserver.WriteKey(result.TmpDir)
	if err != nil {
		return result, err
	}
	flags = append(flags, "--runtime-config=api/all=true", "--service-account-issuer=https://foo.bar.example.com",
		"--service-account-key-file="+key, "--service-account-signing-key-file="+key)
	gates := utilfeature.DefaultMutableFeatureGate
	server, err := fakeserver.Start(result.TmpDir, fakeserver.Minor(gates), append(flags, fakeserver.Gates(gates)...), true)
	if err != nil {
		os.RemoveAll(result.TmpDir)
		return result, err
	}
	dir := result.TmpDir
	result.ClientConfig = server.Config()
	result.ClientConfig.ContentType = "" // as the loopback client of apiextensions-apiserver
	result.ServerOpts = s
	result.TearDownFn = func() {
		server.Stop()
		os.RemoveAll(dir)
	}
	return result, nil
}

func StartTestServerOrDie(t Logger, instance *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	result, err := StartTestServer(t, instance, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &result
}
