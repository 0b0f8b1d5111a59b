package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/status"
)

// logTime is the form of the time in the log of kube-apiserver.
const logTime = "0102 15:04:05.000000"

// flagsVariable is the environment variable with flags of serve, which the server
// has in addition to those of kube-apiserver.
const flagsVariable = "FAKEAPI_FLAGS"

// storyVariable is the environment variable with a directory, to which each server
// writes its story when it ends.
const storyVariable = "FAKEAPI_STORY"

// A kubeAPIServer runs the server under the name and with the flags of
// kube-apiserver.
type kubeAPIServer struct {
	serve      *serveCommand
	serveFlags *pflag.FlagSet

	bindAddress, advertiseAddress net.IP
	securePort                    int
	certFile, keyFile             string
	namedCertificates             []apiserver.NamedCertificateFiles
	cipherSuites                  []string
	minTLSVersion                 string
	clientCA                      string
	anonymous                     bool
	issuers, audiences            []string
	accountKeys                   []string
	signingKey                    string
	maxTokenExpiration            time.Duration
	extendTokens                  bool
	keySetURL                     string
	bootstrapTokens               bool
	proxyCA                       string
	proxyNames                    []string
	proxyCertFile, proxyKeyFile   string
	proxyHeaders                  apiserver.RequestHeader
	plugins                       plugin.Selection
	serviceRanges                 string
	runtimeConfig                 map[string]string // as in the flag, by key
	audit                         auditFlags
	fairness                      bool
	maxReads, maxWrites           int
	minWatchSeconds               int
	requestTimeout                time.Duration
	notReadySeconds               int64
	unreachableSeconds            int64
	transportSecurity             []string
	metricLabels                  map[string]string
	allowPrivileged               bool
	admissionControl              []string // the deprecated form of plugins
	etcd                          etcdClient
	served                        *release.Release // with the feature gates
	versions                      effectiveVersions
	given                         *pflag.FlagSet // all flags; those without a field too
	texts                         [][2]string    // names and values as given
}

// newKubeAPIServer returns the program kube-apiserver of an executable, whose folder
// may name the release.
func newKubeAPIServer(executable string) program {
	return func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		failures := printable.Writer(failureOutput(stderr))
		stdout, stderr = printable.Writer(stdout), printable.Writer(stderr)
		c := &kubeAPIServer{}
		c.serve = newServe()
		c.serveFlags = c.serve.flagSet()
		c.serve.inputs = newInputs(stdin)
		c.serve.pace = defaultPace
		c.served = releaseOf(executable)
		c.serve.releaseName = c.served.Name()
		fs := c.flags(c.served.Minor())
		switch err := fs.ParseAll(args, func(f *pflag.Flag, value string) error {
			c.texts = append(c.texts, [2]string{f.Name, value})
			return fs.Set(f.Name, value)
		}); {
		case errors.Is(err, pflag.ErrHelp):
			c.printHelp(stdout, fs)
			return 0
		case err != nil:
			fmt.Fprintln(failures, "Error:", err)
			return 1
		case slices.ContainsFunc(fs.Args(), func(arg string) bool { return arg != "" }):
			fmt.Fprintf(failures, "Error: \"kube-apiserver\" does not take any arguments, got %q\n", fs.Args())
			return 1
		}
		err := c.prepare()
		if isTrue, _ := strconv.ParseBool(c.value("version")); err == nil && (isTrue || c.value("version") == "raw") {
			fmt.Fprintln(stdout, "Kubernetes", c.served.Version())
			return 0
		}
		if err == nil {
			err = c.run(ctx, stdout, stderr)
		}
		if err != nil {
			fmt.Fprintf(failures, "E%s kube-apiserver: \"command failed\" err=%s\n", time.Now().Format(logTime), logValue(c.failure(err)))
			return 1
		}
		return 0
	}
}

// defaultPace is about the time between the two writes of a DELETE of a Pod by kube-apiserver.
// Suites rely on it without knowing: their controllers read what an event has shown.
const defaultPace = 10 * time.Millisecond

// shutdownGrace is the time that requests in flight have to end. envtest waits for 20 seconds.
//
// Differs from kube-apiserver: end of the program: kube-apiserver waits for requests in flight as
// long as --request-timeout says, which is a minute by default. Here it waits for ten seconds.
// Request: SIGTERM while the body of a POST is not complete.
const shutdownGrace = 10 * time.Second

// failure returns the message of an error.
//
// Differs from kube-apiserver: errors of files: the flag and the name of the file are in the message, and
// the name of the system call is not. Request: any, with --client-ca-file=none.
func (c *kubeAPIServer) failure(err error) string {
	return withFlag(c.serveFlags, withFlag(c.given, message(err)))
}

// logValue returns a value in the log of kube-apiserver: quoted, or in lines of its own.
func logValue(text string) string {
	if !strings.Contains(text, "\n") {
		return strconv.Quote(text)
	}
	return "<\n\t" + strings.ReplaceAll(text, "\n", "\n\t") + "\n >"
}

// folder matches the name of a folder of envtest binaries.
var folder = regexp.MustCompile(`^(1\.\d+)\.\d+-`)

// releaseOf returns the release that the folder of an executable names; the default
// one if it names none that is known.
func releaseOf(executable string) *release.Release {
	if path, err := filepath.Abs(executable); err == nil {
		executable = path
	}
	if m := folder.FindStringSubmatch(filepath.Base(filepath.Dir(executable))); m != nil {
		if r, err := release.Open("v" + m[1]); err == nil {
			return r
		}
	}
	r, err := release.Open(release.Default)
	if err != nil {
		panic("fakeapi: the default release: " + err.Error()) // unreachable: it is embedded
	}
	return r
}

// prepare checks what kube-apiserver does before it prints its version: the release, its
// feature gates and the versions to emulate.
func (c *kubeAPIServer) prepare() error {
	if err := c.setServeFlags(os.Getenv(flagsVariable)); err != nil {
		return fmt.Errorf("%s: %w", flagsVariable, err)
	}
	served, err := release.Open(c.serve.releaseName)
	if err != nil {
		return err
	}
	c.served = served
	if err := c.setVersions(); err != nil {
		return err
	}
	gates, err := release.ParseGates(c.serve.featureGates)
	if err != nil {
		return err
	}
	c.served, err = served.WithGates(gates)
	return err
}

// run runs the server until ctx ends.
func (c *kubeAPIServer) run(ctx context.Context, stdout, stderr io.Writer) error {
	stderr = &sharedWriter{w: stderr}
	c.serve.tls = true
	c.serve.listen = net.JoinHostPort(c.bindAddress.String(), strconv.Itoa(c.securePort))
	if errs := c.validateLogging(); len(errs) > 0 {
		return errors.New(status.Aggregate(errs))
	}
	if err := c.complete(); err != nil {
		return err
	}
	if errs := c.validate(); len(errs) > 0 {
		return errors.New(status.Aggregate(errs))
	}
	if err := c.apply(); err != nil {
		return err
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	policy, log, err := c.audit.open(ctx, c.served.Minor(), stdout, stderr)
	if err != nil {
		return err
	}
	if log != nil {
		defer log.Close()
		options = append(options, fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: policy, AuditLog: log}))
	}
	state, err := c.etcd.load(ctx)
	if err != nil {
		return err
	}
	if state != nil {
		options = append(options, fakeapi.WithState(state))
	}
	srv, err := c.serve.start(options, stderr)
	if op := new(net.OpError); errors.As(err, &op) && op.Op == "listen" {
		return fmt.Errorf("failed to create listener: failed to listen on %s: %w", c.serve.listen, op)
	}
	if err != nil {
		return err
	}
	defer srv.Close()
	ctx, stop := withParent(ctx)
	defer stop()
	err = c.serve.wait(ctx, srv, func() {
		fmt.Fprintf(stderr, "I%s kube-apiserver: fakeapi serves %s\n", time.Now().Format(logTime), srv.URL)
		if idle := c.withoutEffect(); len(idle) > 0 {
			fmt.Fprintf(stderr, "W%s kube-apiserver: flags without effect: %s\n", time.Now().Format(logTime), strings.Join(idle, ", "))
		}
	})
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	backdoor.Of(srv).Shutdown(grace)
	srv.Close() // no write comes after the state
	return errors.Join(err, c.etcd.store(srv), writeStory(srv), c.serve.writeUsage(srv))
}

// setPlugins selects the admission plugins, and returns the errors of their names.
func (c *kubeAPIServer) setPlugins() (errs []error) {
	minor := c.served.Minor()
	if c.admissionControl != nil {
		if c.plugins.Enable != nil || c.plugins.Disable != nil {
			errs = append(errs, errors.New("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"))
		}
		errs = append(errs, plugin.CheckOnly(minor, c.admissionControl)...)
	}
	errs = append(errs, c.plugins.Check(minor)...)
	switch {
	case c.admissionControl != nil:
		c.plugins.Enable = c.admissionControl
		c.plugins.Disable = slices.DeleteFunc(plugin.Names(minor), func(name string) bool { return slices.Contains(c.admissionControl, name) })
	case !slices.Contains(c.plugins.Disable, plugin.ServiceAccount):
		c.plugins.Enable = append(c.plugins.Enable, plugin.ServiceAccount)
	}
	return errs
}

// writeStory writes the story of a server to a file in the folder that the
// environment names, if it names one.
func writeStory(srv *fakeapi.Server) error {
	dir := os.Getenv(storyVariable)
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "story-*.html")
	if err != nil {
		return err
	}
	err = errors.Join(srv.WriteStory(f), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// options returns the options of the server.
func (c *kubeAPIServer) options() ([]fakeapi.Option, error) {
	files := fileReader{}
	authentication := apiserver.Authentication{
		NoAnonymous:              !c.anonymous || c.serve.authz.allowsAll(), // as kube-apiserver does
		ServiceAccountIssuers:    c.issuers,
		APIAudiences:             c.audiences,
		ServiceAccountSigningKey: files.read(c.signingKey),
		BootstrapTokens:          c.bootstrapTokens,

		ServiceAccountMaxTokenExpiration: c.maxTokenExpiration,
		NoServiceAccountTokenExtension:   !c.extendTokens,
		ServiceAccountJWKSURI:            c.keySetURL,
	}
	for _, name := range c.accountKeys {
		authentication.ServiceAccountKeys = append(authentication.ServiceAccountKeys, files.read(name))
	}
	if c.proxyCA != "" {
		c.proxyHeaders.AllowedNames = c.proxyNames
		authentication.RequestHeader = &c.proxyHeaders
	}
	minRequestTimeout := time.Duration(c.minWatchSeconds) * time.Second
	settings := apiserver.Config{
		Flags:                      c.flagValues(),
		Authentication:             &authentication,
		MinRequestTimeout:          &minRequestTimeout,
		StrictTransportSecurity:    c.transportSecurity,
		MetricLabels:               splitValues(c.metricLabels),
		EnableAdmissionPlugins:     c.plugins.Enable,
		DisableAdmissionPlugins:    c.plugins.Disable,
		AdmissionControlConfigFile: c.plugins.ConfigFile,
		NoPrivilegedContainers:     !c.allowPrivileged,
		RequestTimeout:             c.requestTimeout,
		TLSMinVersion:              tlsVersions[c.minTLSVersion],

		DefaultNotReadyTolerationSeconds:    &c.notReadySeconds,
		DefaultUnreachableTolerationSeconds: &c.unreachableSeconds,
	}
	settings.AdvertiseAddress, _ = netip.AddrFromSlice(c.advertiseAddress)
	settings.AdvertiseAddress = settings.AdvertiseAddress.Unmap()
	if !c.fairness {
		settings.MaxRequestsInflight, settings.MaxMutatingRequestsInflight = c.maxReads, c.maxWrites
	}
	for _, name := range c.cipherSuites {
		settings.TLSCipherSuites = append(settings.TLSCipherSuites, cipherSuites()[name])
	}
	if c.certFile != "" {
		c.serve.certDir = ""
	}
	c.serve.watched = apiserver.Files{
		Certificate: c.certFile, Key: c.keyFile, NamedCertificates: c.namedCertificates,
		ClientCA: c.clientCA, RequestHeaderCA: c.proxyCA, AuthenticationConfig: c.serve.authn.config,
	}
	if c.proxyCertFile != "" && c.proxyKeyFile != "" { // otherwise kube-apiserver has none
		c.serve.watched.ProxyClientCertificate, c.serve.watched.ProxyClientKey = c.proxyCertFile, c.proxyKeyFile
	}
	if files.err != nil {
		return nil, files.err
	}
	if err := c.serve.authn.apply(&authentication, c.served.Minor(), c.given.Changed("anonymous-auth")); err != nil {
		return nil, err
	}
	options, err := c.serve.options()
	if err != nil {
		return nil, err
	}
	return append(options, fakeapi.WithAPIServer(settings)), nil
}

// A fileReader reads files until an error.
type fileReader struct{ err error }

// read returns the content of a file; nil for "" and after an error.
func (r *fileReader) read(name string) []byte {
	if name == "" || r.err != nil {
		return nil
	}
	var text []byte
	text, r.err = inputfile.Read(name)
	return text
}
