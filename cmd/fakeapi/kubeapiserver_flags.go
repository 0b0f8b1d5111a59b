package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
	"github.com/kubefake/kubefake/internal/release/flags"
)

// flags returns the flags of kube-apiserver in a minor release. Those without an effect
// here are accepted with values of their type.
func (c *kubeAPIServer) flags(minor int) *pflag.FlagSet {
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	s := c.serve
	fs.IPVar(&c.advertiseAddress, "advertise-address", nil, "the endpoint of the Service kubernetes")
	fs.IPVar(&c.bindAddress, "bind-address", net.IPv4zero, "listen on this address")
	fs.IntVar(&c.securePort, "secure-port", 6443, "listen on this port")
	fs.StringVar(&s.certDir, "cert-dir", "/var/run/kubernetes", "read apiserver.crt and apiserver.key from this folder, or write them")
	fs.StringVar(&c.certFile, "tls-cert-file", "", "serve with this certificate")
	fs.StringVar(&c.keyFile, "tls-private-key-file", "", "the key of --tls-cert-file")
	fs.StringSliceVar(&c.cipherSuites, "tls-cipher-suites", nil, "accept these cipher suites in TLS below 1.3")
	fs.StringVar(&c.minTLSVersion, "tls-min-version", "", "the lowest version of TLS, VersionTLS10 to VersionTLS13")
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
	fs.DurationVar(&c.maxTokenExpiration, "service-account-max-token-expiration", 0, "the longest time that new tokens are valid")
	fs.BoolVar(&c.extendTokens, "service-account-extend-token-expiration", true, "let the tokens of Pods be valid for a year")
	fs.StringVar(&c.keySetURL, "service-account-jwks-uri", "", "where the OpenID configuration says that the keys of tokens are")
	fs.BoolVar(&c.bootstrapTokens, "enable-bootstrap-token-auth", false, "authenticate bootstrap tokens, of Secrets in kube-system")
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
	fs.StringVar(&c.serviceRanges, "service-cluster-ip-range", "", "assign cluster IPs from these CIDRs")
	flagSet{fs}.Func("service-node-port-range", "assign node ports from this range", s.setNodePorts)
	fs.Int64Var(&c.notReadySeconds, "default-not-ready-toleration-seconds", defaulttolerationseconds.DefaultSeconds, "how long Pods tolerate that their Node is not ready")
	fs.Int64Var(&c.unreachableSeconds, "default-unreachable-toleration-seconds", defaulttolerationseconds.DefaultSeconds, "how long Pods tolerate that their Node is unreachable")
	fs.StringSliceVar(&s.allowedOrigins, "cors-allowed-origins", nil, "let web pages of these origins use the server, regular expressions")
	fs.DurationVar(&c.requestTimeout, "request-timeout", time.Minute, "the longest time of a request that is no watch or the like")
	fs.BoolVar(&c.allowPrivileged, "allow-privileged", false, "let Pods have privileged containers")
	flagSet{fs}.Func("runtime-config", "turn API versions and resources on and off", c.addRuntimeConfig)
	fs.BoolVar(&c.fairness, "enable-priority-and-fairness", true, "with false, limit the requests in flight")
	fs.IntVar(&c.minWatchSeconds, "min-request-timeout", 1800, "end watches without timeoutSeconds after a random time from so many seconds on, below twice that")
	fs.StringSliceVar(&c.transportSecurity, "strict-transport-security-directives", nil, "the directives of the header Strict-Transport-Security of all answers")
	fs.StringToStringVar(&c.metricLabels, "allow-metric-labels", nil, "the values that labels of metrics may have, as in METRIC,LABEL=VALUE,...")
	fs.IntVar(&c.maxReads, "max-requests-inflight", 400, "the limit of reads in flight")
	fs.IntVar(&c.maxWrites, "max-mutating-requests-inflight", 200, "the limit of writes in flight")
	flagSet{fs}.Func("feature-gates", "enable and disable features", func(value string) error { c.serve.featureGates = append(c.serve.featureGates, value); return nil })
	fs.Var(&checkedText{"false", "version", func(value string) error { return checkVersion(value, c.served.Version()) }}, "version", "print the version")
	fs.Lookup("version").NoOptDefVal = "true"
	for f := range flags.KubeAPIServer(minor) {
		if fs.Lookup(f.Name) == nil {
			acceptFlag(fs, f)
		}
	}
	for _, f := range deprecatedFlags {
		acceptFlag(fs, f)
	}
	c.given = fs
	return fs
}

// deprecatedFlags are flags without effect that the help does not list.
var deprecatedFlags = []flags.Flag{
	{Name: "apiserver-count", Type: "int"}, {Name: "default-watch-cache-size", Type: "int"},
	{Name: "kubelet-port", Type: "uint"}, {Name: "kubelet-read-only-port", Type: "uint"},
}

// checkVersion checks a value of --version, which may be a version that the server then reports.
func checkVersion(value, served string) error {
	switch rest, ok := strings.CutPrefix(value, served); {
	case value == "raw" || ok && (rest == "" || rest[0] == '-' || rest[0] == '+'):
		return nil
	case strings.HasPrefix(value, "v"):
		return fmt.Errorf("version %q must match major/minor/patch of default version %q", value, served)
	}
	_, err := strconv.ParseBool(value)
	return err
}

// addRuntimeConfig adds the keys of a value of --runtime-config, as they are.
func (c *kubeAPIServer) addRuntimeConfig(value string) error {
	if c.runtimeConfig == nil {
		c.runtimeConfig = map[string]string{}
	}
	for _, pair := range strings.Split(value, ",") {
		if key, text, _ := strings.Cut(pair, "="); pair != "" {
			c.runtimeConfig[strings.TrimSpace(key)] = strings.TrimSpace(text)
		}
	}
	return nil
}

// acceptFlag defines a flag without effect.
func acceptFlag(fs *pflag.FlagSet, f flags.Flag) {
	defer func() {
		if value, ok := flagDefaults[f.Name]; ok {
			defined := fs.Lookup(f.Name)
			if err := defined.Value.Set(value); err != nil { // unreachable: the defaults are valid
				panic(err)
			}
			defined.DefValue = value
		}
	}()
	switch f.Type {
	case "bool":
		fs.Bool(f.Name, false, "")
	case "int":
		fs.Int(f.Name, 0, "")
	case "uint":
		fs.Uint(f.Name, 0, "")
	case "Level": // the flag v
		fs.VarP(&checkedText{"0", f.Type, checkVerbosity}, f.Name, f.Name, "")
	case "pattern=N,...":
		fs.Var(&checkedText{"", f.Type, checkVModule}, f.Name, "")
	case "quantity":
		fs.Var(&checkedText{"0", f.Type, checkQuantity}, f.Name, "")
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

// withoutEffect returns the flags that were given and have no effect here, sorted.
func (c *kubeAPIServer) withoutEffect() (names []string) {
	c.given.Visit(func(f *pflag.Flag) {
		if f.Usage == "" {
			names = append(names, "--"+f.Name)
		}
	})
	return names
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
