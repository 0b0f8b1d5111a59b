package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/flags"
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
	clientCA                      string
	anonymous                     bool
	issuers, audiences            []string
	accountKeys                   []string
	signingKey                    string
	proxyCA                       string
	proxyNames                    []string
	proxyCertFile, proxyKeyFile   string
	proxyHeaders                  apiserver.RequestHeader
	plugins                       plugin.Selection
	runtimeConfig                 []string
	audit                         auditFlags
	fairness                      bool
	maxReads, maxWrites           int
	minWatchSeconds               int
	transportSecurity             []string
	metricLabels                  map[string]string
	admissionControl              []string // the deprecated form of plugins
	etcd                          etcdClient
	version                       string
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
		served := releaseOf(executable)
		c.serve.releaseName = served.Name()
		fs := c.flags(served.Minor())
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
		case fs.NArg() > 0:
			fmt.Fprintf(failures, "Error: \"kube-apiserver\" does not take any arguments, got %q\n", fs.Args())
			return 1
		case c.version != "false":
			fmt.Fprintln(stdout, "Kubernetes", served.Version())
			return 0
		}
		if err := c.run(ctx, stdout, stderr); err != nil {
			fmt.Fprintf(failures, "E%s kube-apiserver: \"command failed\" err=%q\n", time.Now().Format(logTime), withFlag(c.serveFlags, withFlag(fs, message(err))))
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

// flags returns the flags of kube-apiserver in a minor release. Those without an effect
// here are accepted with values of their type.
func (c *kubeAPIServer) flags(minor int) *pflag.FlagSet {
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	s := c.serve
	fs.IPVar(&c.advertiseAddress, "advertise-address", nil, "")
	fs.IPVar(&c.bindAddress, "bind-address", net.IPv4zero, "listen on this address")
	fs.IntVar(&c.securePort, "secure-port", 6443, "listen on this port")
	fs.StringVar(&s.certDir, "cert-dir", "/var/run/kubernetes", "read apiserver.crt and apiserver.key from this folder, or write them")
	fs.StringVar(&c.certFile, "tls-cert-file", "", "serve with this certificate")
	fs.StringVar(&c.keyFile, "tls-private-key-file", "", "the key of --tls-cert-file")
	fs.StringVar(&c.proxyCertFile, "proxy-client-cert-file", "", "the client certificate for aggregated API servers")
	fs.StringVar(&c.proxyKeyFile, "proxy-client-key-file", "", "the key of --proxy-client-cert-file")
	flagSet{fs}.Func("tls-sni-cert-key", "serve clients that ask for a name with a certificate, as in CERT,KEY:NAME,...; repeatable", c.addNamedCertificate)
	fs.StringVar(&c.clientCA, "client-ca-file", "", "authenticate client certificates of these CAs")
	fs.StringVar(&c.proxyCA, "requestheader-client-ca-file", "", "authenticate proxies by certificates of these CAs")
	fs.StringSliceVar(&c.proxyNames, "requestheader-allowed-names", nil, "common names of proxies; none allows all")
	fs.StringSliceVar(&c.proxyHeaders.UsernameHeaders, "requestheader-username-headers", nil, "headers with the name of the user")
	fs.StringSliceVar(&c.proxyHeaders.UIDHeaders, "requestheader-uid-headers", nil, "headers with the UID of the user")
	fs.StringSliceVar(&c.proxyHeaders.GroupHeaders, "requestheader-group-headers", nil, "headers with the groups of the user")
	fs.StringSliceVar(&c.proxyHeaders.ExtraHeaderPrefixes, "requestheader-extra-headers-prefix", nil, "prefixes of headers with extra information")
	fs.StringVar(&s.tokens, "token-auth-file", "", "authenticate the users of this CSV file")
	s.authn.define(flagSet{fs})
	fs.BoolVar(&c.anonymous, "anonymous-auth", true, "make requests without credentials as system:anonymous")
	s.authz.define(flagSet{fs})
	fs.StringArrayVar(&c.issuers, "service-account-issuer", nil, "issue tokens as the first issuer, and accept those of all")
	fs.StringSliceVar(&c.audiences, "api-audiences", nil, "audiences of the server")
	fs.StringArrayVar(&c.accountKeys, "service-account-key-file", nil, "verify tokens with the keys of this file")
	fs.StringVar(&c.signingKey, "service-account-signing-key-file", "", "sign tokens with this key")
	fs.StringSliceVar(&c.etcd.servers, "etcd-servers", nil, "the etcd that keeps the state between starts")
	fs.StringSliceVar(&c.plugins.Enable, "enable-admission-plugins", nil, "enable these admission plugins")
	fs.StringSliceVar(&c.plugins.Disable, "disable-admission-plugins", nil, "disable these admission plugins")
	fs.StringVar(&c.plugins.ConfigFile, "admission-control-config-file", "", "configure admission plugins by the AdmissionConfiguration in this file")
	fs.StringSliceVar(&c.admissionControl, "admission-control", nil, "enable only these admission plugins")
	c.audit.define(fs, minor)
	fs.StringVar(&c.etcd.prefix, "etcd-prefix", "/registry", "the state of this name")
	fs.StringVar(&c.etcd.caFile, "etcd-cafile", "", "trust an etcd of these CAs")
	fs.StringVar(&c.etcd.certFile, "etcd-certfile", "", "the client certificate for etcd")
	fs.StringVar(&c.etcd.keyFile, "etcd-keyfile", "", "the key of --etcd-certfile")
	fs.DurationVar(&s.eventTTL, "event-ttl", s.eventTTL, "delete Events this long after their last write")
	flagSet{fs}.Func("service-cluster-ip-range", "assign cluster IPs from these CIDRs", s.setServiceRanges)
	flagSet{fs}.Func("runtime-config", "turn API versions and resources on and off", func(value string) error { c.runtimeConfig = append(c.runtimeConfig, value); return nil })
	fs.BoolVar(&c.fairness, "enable-priority-and-fairness", true, "with false, limit the requests in flight")
	fs.IntVar(&c.minWatchSeconds, "min-request-timeout", 1800, "end watches without timeoutSeconds after a random time from so many seconds on, below twice that")
	fs.StringSliceVar(&c.transportSecurity, "strict-transport-security-directives", nil, "the directives of the header Strict-Transport-Security of all answers")
	fs.StringToStringVar(&c.metricLabels, "allow-metric-labels", nil, "the values that labels of metrics may have, as in METRIC,LABEL=VALUE,...")
	fs.IntVar(&c.maxReads, "max-requests-inflight", 400, "the limit of reads in flight")
	fs.IntVar(&c.maxWrites, "max-mutating-requests-inflight", 200, "the limit of writes in flight")
	flagSet{fs}.Func("feature-gates", "enable and disable features", func(value string) error { c.serve.featureGates = append(c.serve.featureGates, value); return nil })
	fs.StringVar(&c.version, "version", "false", "print the version")
	fs.Lookup("version").NoOptDefVal = "true"
	for f := range flags.KubeAPIServer(minor) {
		if fs.Lookup(f.Name) == nil {
			acceptFlag(fs, f)
		}
	}
	c.given = fs
	return fs
}

// acceptFlag defines a flag without effect.
func acceptFlag(fs *pflag.FlagSet, f flags.Flag) {
	switch f.Type {
	case "bool":
		fs.Bool(f.Name, false, "")
	case "int":
		fs.Int(f.Name, 0, "")
	case "Level": // the flag v
		fs.IntP(f.Name, f.Name, 0, "")
	case "float":
		fs.Float64(f.Name, 0, "")
	case "float32":
		fs.Float32(f.Name, 0, "")
	case "duration":
		fs.Duration(f.Name, 0, "")
	case "ip":
		fs.IP(f.Name, nil, "")
	case "strings":
		fs.StringSlice(f.Name, nil, "")
	case "stringArray":
		fs.StringArray(f.Name, nil, "")
	case "int32Slice":
		fs.Int32Slice(f.Name, nil, "")
	default:
		fs.String(f.Name, "", "")
	}
}

// printHelp prints the flags with an effect, and then those without an effect.
func (c *kubeAPIServer) printHelp(w io.Writer, fs *pflag.FlagSet) {
	fmt.Fprintf(w, "kube-apiserver of fakeapi: a Kubernetes API server for tests, of release %s.\n\n", c.serve.releaseName)
	fmt.Fprintf(w, "The environment variable %s has flags of \"fakeapi serve\", %s a\nfolder for the story of each server, and %s a folder for what clients\nhave asked.\n", flagsVariable, storyVariable, usage.Dir)
	for _, part := range []struct {
		title  string
		effect bool
	}{{"Flags", true}, {"Flags without effect", false}} {
		fmt.Fprintf(w, "\n%s:\n\n", part.title)
		fs.VisitAll(func(f *pflag.Flag) {
			if (f.Usage != "") == part.effect {
				_, usage := pflag.UnquoteUsage(f)
				fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("      --%-44s %s", f.Name, usage), " "))
			}
		})
	}
}

// run runs the server until ctx ends.
func (c *kubeAPIServer) run(ctx context.Context, stdout, stderr io.Writer) error {
	stderr = &sharedWriter{w: stderr}
	c.serve.tls = true
	c.serve.listen = net.JoinHostPort(c.bindAddress.String(), strconv.Itoa(c.securePort))
	if err := c.setServeFlags(os.Getenv(flagsVariable)); err != nil {
		return fmt.Errorf("%s: %w", flagsVariable, err)
	}
	if _, err := c.serve.gates(); err != nil {
		return err
	}
	if errs := c.validate(); len(errs) > 0 {
		return errors.New(status.Aggregate(errs))
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	served, err := release.Open(c.serve.releaseName)
	if err != nil {
		return err
	}
	policy, log, err := c.audit.open(ctx, served.Minor(), stdout, stderr)
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
	if err != nil {
		return err
	}
	defer srv.Close()
	ctx, stop := withParent(ctx)
	defer stop()
	err = c.serve.wait(ctx, srv, func() {
		fmt.Fprintf(stderr, "I%s kube-apiserver: fakeapi serves %s\n", time.Now().Format(logTime), srv.URL)
	})
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	backdoor.Of(srv).Shutdown(grace)
	srv.Close() // no write comes after the state
	return errors.Join(err, c.etcd.store(srv), writeStory(srv), c.serve.writeUsage(srv))
}

// validate sets what several flags decide together, and returns what is wrong with the
// flags, in the words of kube-apiserver.
func (c *kubeAPIServer) validate() (errs []error) {
	if len(c.etcd.servers) == 0 {
		errs = append(errs, errors.New("--etcd-servers must be specified"))
	}
	errs = append(errs, c.serve.authn.validate()...)
	errs = append(errs, c.serve.authz.validate()...)
	errs = append(errs, c.setPlugins()...)
	errs = append(errs, c.audit.validate()...)
	for _, value := range c.runtimeConfig {
		if err := c.serve.setRuntimeConfig(value); err != nil {
			return append(errs, err)
		}
	}
	if on, ok := c.serve.runtimeConfig["api/all"]; ok && !on && c.fairness {
		errs = append(errs, errors.New("--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true"))
	}
	if served, err := release.Open(c.serve.releaseName); err == nil {
		if _, err := served.Select(c.serve.runtimeConfig); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// setPlugins selects the admission plugins.
func (c *kubeAPIServer) setPlugins() (errs []error) {
	served, err := release.Open(c.serve.releaseName)
	if err != nil {
		return []error{err}
	}
	names := plugin.Names(served.Minor())
	if c.admissionControl != nil {
		if len(c.plugins.Enable)+len(c.plugins.Disable) > 0 {
			return []error{errors.New("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive")}
		}
		errs = plugin.CheckOnly(served.Minor(), c.admissionControl)
		c.plugins.Enable = c.admissionControl
		c.plugins.Disable = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(c.admissionControl, name) })
	}
	if errs == nil {
		errs = c.plugins.Check(served.Minor())
	}
	if c.admissionControl == nil && !slices.Contains(c.plugins.Disable, plugin.ServiceAccount) {
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

// setServeFlags sets flags of serve, separated by spaces. Quotes and backslashes have
// their meaning of a shell.
func (c *kubeAPIServer) setServeFlags(text string) error {
	words, err := splitWords(text)
	if err != nil {
		return err
	}
	if err := c.serveFlags.Parse(words); err != nil {
		return errors.New(flagErrorText(c.serveFlags, err))
	}
	if c.serveFlags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", c.serveFlags.Arg(0))
	}
	return nil
}

// addNamedCertificate adds a value of --tls-sni-cert-key.
func (c *kubeAPIServer) addNamedCertificate(value string) error {
	pair, names, hasNames := strings.Cut(value, ":")
	var out apiserver.NamedCertificateFiles
	if hasNames {
		if strings.TrimSpace(names) == "" {
			return errors.New("empty names list is not allowed")
		}
		for _, name := range strings.Split(names, ",") {
			out.Names = append(out.Names, strings.TrimSpace(name))
		}
	}
	files := strings.Split(strings.TrimSpace(pair), ",")
	if len(files) != 2 {
		return errors.New("expected comma separated certificate and key file paths")
	}
	out.Certificate, out.Key = strings.TrimSpace(files[0]), strings.TrimSpace(files[1])
	c.namedCertificates = append(c.namedCertificates, out)
	return nil
}

// options returns the options of the server.
func (c *kubeAPIServer) options() ([]fakeapi.Option, error) {
	files := fileReader{}
	authentication := apiserver.Authentication{
		NoAnonymous:              !c.anonymous || c.serve.authz.allowsAll(), // as kube-apiserver does
		ServiceAccountIssuers:    c.issuers,
		APIAudiences:             c.audiences,
		ServiceAccountSigningKey: files.read(c.signingKey),
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
	}
	if !c.fairness {
		settings.MaxRequestsInflight, settings.MaxMutatingRequestsInflight = c.maxReads, c.maxWrites
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
	served, err := release.Open(c.serve.releaseName)
	if err != nil {
		return nil, err
	}
	if err := c.serve.authn.apply(&authentication, served.Minor(), c.given.Changed("anonymous-auth")); err != nil {
		return nil, err
	}
	options, err := c.serve.options()
	if err != nil {
		return nil, err
	}
	return append(options, fakeapi.WithAPIServer(settings)), nil
}

// splitValues splits each value at its commas.
func splitValues(m map[string]string) map[string][]string {
	if m == nil {
		return nil
	}
	out := map[string][]string{}
	for name, values := range m {
		out[name] = strings.Split(values, ",")
	}
	return out
}

// flagValues returns the flags with their values, as /flagz shows them.
//
// Differs from kube-apiserver: debugging: the default of a flag without effect is the zero
// value of its type. Request: GET /flagz.
func (c *kubeAPIServer) flagValues() map[string]string {
	values := map[string]string{}
	c.given.VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	for _, given := range c.texts {
		name, text := given[0], given[1]
		if _, ok := c.given.Lookup(name).Value.(funcValue); !ok {
			continue
		}
		if values[name] != "" {
			text = values[name] + "," + text
		}
		values[name] = text
	}
	return values
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

// splitWords splits text into words as a shell does: at spaces, except in quotes and
// after a backslash.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	started, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, started = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if started {
				words = append(words, word.String())
				word.Reset()
			}
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("unclosed quote in %q", text)
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
