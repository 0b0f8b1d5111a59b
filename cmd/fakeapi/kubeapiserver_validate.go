package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/encryption"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// flagDefaults are the defaults of flags without effect that are no zero values, and that a
// check needs.
var flagDefaults = map[string]string{
	"apiserver-count":                       "1",
	"coordinated-leadership-lease-duration": "15s",
	"coordinated-leadership-renew-deadline": "10s",
	"coordinated-leadership-retry-period":   "2s",
	"log-flush-frequency":                   "5s",
	"logging-format":                        "text",
}

// A flagCheck is a rule for the values of one flag: each element of a list, or the only one.
type flagCheck struct {
	flag    string
	allows  func(value string) bool
	message string // of the error; %s and %q are the value
}

// check returns the errors of checks, one for each flag.
func (c *kubeAPIServer) check(checks []flagCheck) (errs []error) {
	for _, check := range checks {
		for _, value := range c.values(check.flag) {
			if !check.allows(value) {
				errs = append(errs, errors.New(strings.ReplaceAll(strings.ReplaceAll(check.message, "%q", strconv.Quote(value)), "%s", value)))
				break
			}
		}
	}
	return errs
}

// values returns the elements of a flag with a list, or the value of another flag. There are
// none of a flag that the release does not have.
func (c *kubeAPIServer) values(flag string) []string {
	f := c.given.Lookup(flag)
	if f == nil {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// value returns the value of a flag without a list, "" if the release does not have it.
func (c *kubeAPIServer) value(flag string) string { return strings.Join(c.values(flag), ",") }

// The checks of single flags, in the order in which kube-apiserver reports them. Those of
// other flags are in between: validate has the whole order.
var (
	runChecks = []flagCheck{
		{"livez-grace-period", notNegative, "--livez-grace-period can not be a negative value"},
		{"max-requests-inflight", notNegative, "--max-requests-inflight can not be negative value"},
		{"max-mutating-requests-inflight", notNegative, "--max-mutating-requests-inflight can not be negative value"},
		{"request-timeout", notNegative, "--request-timeout can not be negative value"},
		{"goaway-chance", from(0, 0.02), "--goaway-chance can not be less than 0 or greater than 0.02"},
		{"min-request-timeout", notNegative, "--min-request-timeout can not be negative value"},
		{"storage-initialization-timeout", notNegative, "--storage-initialization-timeout can not be negative value"},
		{"shutdown-delay-duration", notNegative, "--shutdown-delay-duration can not be negative value"},
		{"shutdown-watch-termination-grace-period", notNegative, "shutdown-watch-termination-grace-period, if provided, can not be a negative value"},
	}
	etcdChecks = []flagCheck{
		{"storage-backend", oneOf("", "etcd3"), "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'"},
		{"etcd-servers-overrides", isServerOverride, "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated"},
	}
	mediaTypes  = []string{"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"}
	mediaChecks = []flagCheck{
		{"storage-media-type", oneOf(append(mediaTypes, "")...), "--storage-media-type %q invalid, allowed values: " + strings.Join(mediaTypes, ", ")},
	}
	servingChecks = []flagCheck{
		{"secure-port", from(1, math.MaxUint16), "--secure-port %s must be between 1 and 65535, inclusive. It cannot be turned off with 0"},
	}
	proxyChecks = []flagCheck{
		{"requestheader-username-headers", notBlank, `empty value in "requestheader-username-headers"`},
		{"requestheader-group-headers", notBlank, `empty value in "requestheader-group-headers"`},
		{"requestheader-extra-headers-prefix", notBlank, `empty value in "requestheader-extra-headers-prefix"`},
		{"requestheader-allowed-names", notBlank, `empty value in "requestheader-allowed-names"`},
	}
	proxyUIDChecks = []flagCheck{
		{"requestheader-uid-headers", notBlank, `empty value in "requestheader-uid-headers"`},
	}
	peerChecks = []flagCheck{ // without the gate UnknownVersionInteroperabilityProxy
		{"peer-ca-file", oneOf(""), "--peer-ca-file requires UnknownVersionInteroperabilityProxy feature to be turned on"},
		{"peer-advertise-ip", oneOf(""), "--peer-advertise-ip requires UnknownVersionInteroperabilityProxy feature to be turned on"},
		{"peer-advertise-port", oneOf(""), "--peer-advertise-port requires UnknownVersionInteroperabilityProxy feature to be turned on"},
	}
	nodePortChecks = []flagCheck{
		{"kubernetes-service-node-port", from(0, math.MaxUint16), "--kubernetes-service-node-port %s must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP"},
	}
	countChecks = []flagCheck{
		{"apiserver-count", from(1, math.Inf(1)), "--apiserver-count should be a positive number, but value '%s' provided"},
	}
)

func notNegative(value string) bool { return !strings.HasPrefix(value, "-") }

func notBlank(value string) bool { return strings.TrimSpace(value) != "" }

// from allows numbers from low to high.
func from(low, high float64) func(string) bool {
	return func(value string) bool {
		n, err := strconv.ParseFloat(value, 64)
		return err == nil && n >= low && n <= high
	}
}

func oneOf(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, value) }
}

// isServerOverride reports whether a value is GROUP/RESOURCE#SERVER;SERVER...
func isServerOverride(value string) bool {
	resource, servers, ok := strings.Cut(value, "#")
	return ok && strings.Count(resource, "/") == 1 && !strings.Contains(servers, "#") && !slices.Contains(strings.Split(servers, ";"), "")
}

// validate sets what several flags decide together, and returns what is wrong with the
// flags, in the words and in the order of kube-apiserver.
func (c *kubeAPIServer) validate() (errs []error) {
	add := func(more ...error) { errs = append(errs, more...) }
	served := c.served

	add(c.check(runChecks)...)
	add(header.CheckTransportSecurity(c.transportSecurity)...)
	_, origins := crossorigin.ParseOrigins(c.serve.allowedOrigins)
	add(origins...)
	add(c.versions.validate()...)
	if c.versions.emulated == c.versions.binary {
		for _, flag := range []struct{ name, field string }{
			{"emulation-forward-compatible", "EmulationForwardCompatible"}, {"runtime-config-emulation-forward-compatible", "RuntimeConfigEmulationForwardCompatible"},
		} {
			if c.value(flag.name) == "true" {
				add(fmt.Errorf("ServerRunOptions.%s cannot be set to true if the emulation version is the same as the binary version", flag.field))
			}
		}
	}

	if len(c.etcd.servers) == 0 {
		add(errors.New("--etcd-servers must be specified"))
	}
	add(c.check(etcdChecks)...)
	if c.value("encryption-provider-config") == "" && c.value("encryption-provider-config-automatic-reload") == "true" {
		add(errors.New("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"))
	}
	add(c.check(mediaChecks)...)

	add(c.validateFairness()...)
	add(c.check(servingChecks)...)
	add(c.serve.authn.validate()...)
	add(c.validateIssuers()...)
	add(c.check(proxyChecks)...)
	switch headers := c.proxyHeaders.UIDHeaders; {
	case len(headers) == 0:
	case !served.Enabled("RemoteRequestHeaderUID"):
		add(errors.New(`--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled`))
	default:
		add(c.check(proxyUIDChecks)...)
		if !slices.ContainsFunc(headers, func(h string) bool { return strings.EqualFold(h, "X-Remote-Uid") }) {
			add(errors.New("--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"))
		}
	}
	if behavior.SeparateProxyCAs.In(served.Minor()) && len(c.proxyNames) == 0 && haveCommonCertificate(c.clientCA, c.proxyCA) {
		add(errors.New("--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users"))
	}
	add(c.serve.authz.validate()...)
	add(c.audit.validate()...)
	add(c.setPlugins()...)
	if err := c.served.CheckGroups(c.runtimeConfig); err != nil {
		add(err)
	}
	add(c.validateMetrics()...)
	if !served.Enabled("UnknownVersionInteroperabilityProxy") {
		add(c.check(peerChecks)...)
	}
	add(c.validateSigningEndpoint()...)
	add(c.validateLeaderElection()...)

	add(c.validateServiceRanges()...)
	add(c.check(nodePortChecks)...)
	if port, _ := strconv.Atoi(c.value("kubernetes-service-node-port")); port > 0 {
		ports := cmp.Or(c.serve.nodePorts, apiserver.PortRange{First: 30000, Last: 32767})
		if port < ports.First || port > ports.Last {
			add(fmt.Errorf("kubernetes service node port range %d-%d doesn't contain %d", ports.First, ports.Last, port))
		}
	}
	if address, ok := netip.AddrFromSlice(c.advertiseAddress); ok && !address.IsUnspecified() && c.value("endpoint-reconciler-type") != "none" {
		if primary := c.serve.serviceRanges[0]; address.Unmap().Is4() != primary.Addr().Is4() {
			add(fmt.Errorf("service IP family %q must match public address family %q", primary, address.Unmap()))
		}
	}
	add(c.check(countChecks)...)
	return errs
}

// complete sets what follows from several flags. It fails, in the order of kube-apiserver, for
// flags that can only be parsed then.
func (c *kubeAPIServer) complete() error {
	if err := c.parseServiceRanges(); err != nil {
		return err
	}
	if d := c.maxTokenExpiration; d != 0 && (d < time.Hour || d > 1<<32*time.Second) {
		return errors.New("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
	}
	if c.signingKey != "" && len(c.issuers) > 0 && c.issuers[0] != "" {
		if c.value("service-account-signing-endpoint") != "" {
			return errors.New("service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time")
		}
		text, err := inputfile.Read(c.signingKey)
		if err == nil {
			if _, err = serviceaccount.ParsePrivateKey(text); err != nil {
				err = fmt.Errorf("error reading private key file %s: %w", c.signingKey, err)
			}
		}
		if err != nil {
			return fmt.Errorf("failed to parse service-account-issuer-key-file: %w", err)
		}
	}
	if c.serve.eventTTL <= 0 {
		c.serve.eventTTL = math.MaxInt64 // without an end
	}
	if c.value("watch-cache") == "false" && c.given.Changed("watch-cache") {
		return nil
	}
	for _, size := range c.values("watch-cache-sizes") {
		resource, number, ok := strings.Cut(size, "#")
		if !ok || strings.Contains(number, "#") {
			return fmt.Errorf("invalid value of watch cache size: %s", size)
		}
		switch n, err := strconv.Atoi(number); {
		case err != nil:
			return fmt.Errorf("invalid size of watch cache size: %s", size)
		case n < 0:
			return fmt.Errorf("watch cache size cannot be negative: %s#%s", resource, number)
		}
	}
	return nil
}

// apply applies the flags whose errors kube-apiserver reports after all others, each alone.
func (c *kubeAPIServer) apply() error {
	if err := c.serve.setRuntimeConfig(c.runtimeConfig); err != nil {
		return err
	}
	selected, err := c.served.Select(c.serve.runtimeConfig)
	if err != nil {
		return err
	}
	if aggregation := (resource.GroupVersion{Group: "apiregistration.k8s.io", Version: "v1"}); !slices.Contains(selected.GroupVersions(), aggregation) {
		return fmt.Errorf("API group/version %s must be enabled", aggregation)
	}
	if err := c.checkCertificates(); err != nil {
		return err
	}
	for _, file := range fileFlags {
		if name := c.value(file.flag); name != "" {
			text, err := inputfile.Read(name)
			if err != nil {
				return fmt.Errorf(strings.ReplaceAll(file.message, "FILE", name), err)
			}
			if file.check != nil {
				if err := file.check(c, name, text); err != nil {
					return err
				}
			}
		}
	}
	if c.fairness && c.maxReads == 0 && c.maxWrites == 0 {
		return errors.New("invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive")
	}
	return nil
}

// fileFlags are the flags without effect of files, with the error of kube-apiserver for a FILE that
// cannot be read, and with what checks the text of a file, which may be nil.
var fileFlags = []struct {
	flag, message string
	check         func(c *kubeAPIServer, name string, text []byte) error
}{
	{"egress-selector-config-file", `failed to read egress selector config: unable to read egress selector configuration from "FILE" [%w]`, nil},
	{"tracing-config-file", `failed to read tracing config: unable to read tracing configuration from "FILE": %w`, nil},
	{"encryption-provider-config", `error while parsing file: error while loading file: error reading encryption provider configuration file "FILE": %w`, (*kubeAPIServer).checkEncryption},
	{"kubelet-certificate-authority", `problem initializing API group "": %w`, nil},
	{"kubelet-client-certificate", `problem initializing API group "": %w`, nil},
	{"kubelet-client-key", `problem initializing API group "": %w`, nil},
}

// checkEncryption checks the file of --encryption-provider-config.
func (c *kubeAPIServer) checkEncryption(name string, text []byte) error {
	return encryption.Check(name, text, encryption.Options{
		Minor:  c.served.Minor(),
		Reload: c.value("encryption-provider-config-automatic-reload") == "true",
		KMSv1:  c.served.Enabled("KMSv1"),
	})
}

// checkCertificates checks the files of certificates and of keys, and the settings of TLS.
func (c *kubeAPIServer) checkCertificates() error {
	if c.certFile != "" || c.keyFile != "" {
		if err := checkPair(c.certFile, c.keyFile); err != nil {
			return err
		}
	}
	for _, name := range c.cipherSuites {
		if cipherSuites()[name] == 0 {
			return fmt.Errorf("Cipher suite %s not supported or doesn't exist", name)
		}
	}
	if c.minTLSVersion != "" && tlsVersions[c.minTLSVersion] == 0 {
		return fmt.Errorf("unknown tls version %q", c.minTLSVersion)
	}
	for _, named := range c.namedCertificates {
		if err := checkPair(named.Certificate, named.Key); err != nil {
			return fmt.Errorf("failed to load SNI cert and key: %w", err)
		}
	}
	for _, bundle := range []struct{ purpose, file string }{{"client-ca-bundle", c.clientCA}, {"request-header", c.proxyCA}} {
		if bundle.file == "" {
			continue
		}
		text, err := inputfile.Read(bundle.file)
		switch {
		case err != nil:
			return err
		case len(text) == 0:
			return fmt.Errorf(`missing content for CA bundle "%s::%s"`, bundle.purpose, bundle.file)
		case !x509.NewCertPool().AppendCertsFromPEM(text):
			return fmt.Errorf(`error loading CA bundle for "%s::%s": data does not contain any valid RSA or ECDSA certificates`, bundle.purpose, bundle.file)
		}
	}
	for _, name := range c.accountKeys {
		text, err := inputfile.Read(name)
		if err != nil {
			return err
		}
		if _, err := serviceaccount.ParsePublicKeys(text); err != nil {
			return fmt.Errorf("error reading public key file %s: %w", name, err)
		}
	}
	if c.value("peer-ca-file") != "" && c.proxyCertFile == "" {
		return errors.New("error building peer proxy handler, proxy-cert-file not specified")
	}
	if c.proxyCertFile != "" && c.proxyKeyFile != "" {
		return checkPair(c.proxyCertFile, c.proxyKeyFile)
	}
	return nil
}

// tlsVersions are the values of --tls-min-version.
var tlsVersions = map[string]uint16{
	"VersionTLS10": tls.VersionTLS10, "VersionTLS11": tls.VersionTLS11, "VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13,
}

// cipherSuites returns the values of --tls-cipher-suites.
func cipherSuites() map[string]uint16 {
	out := map[string]uint16{ // older names
		"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		out[suite.Name] = suite.ID
	}
	return out
}

// haveCommonCertificate reports whether two files have the same certificate.
func haveCommonCertificate(file, other string) bool {
	others := certificatesOf(other)
	return slices.ContainsFunc(certificatesOf(file), func(c *x509.Certificate) bool { return slices.ContainsFunc(others, c.Equal) })
}

// certificatesOf returns the certificates in a file; none if it cannot be read, or one of them cannot be parsed.
func certificatesOf(file string) (found []*x509.Certificate) {
	files := fileReader{}
	for rest := files.read(file); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return found
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		found = append(found, certificate)
	}
}

// checkPair returns the error for the files of a certificate and its key.
func checkPair(cert, key string) error {
	if cert == "" || key == "" {
		return errors.New("missing filename for serving cert")
	}
	files := fileReader{}
	certPEM, keyPEM := files.read(cert), files.read(key)
	if files.err != nil {
		return files.err
	}
	_, err := tls.X509KeyPair(certPEM, keyPEM)
	return err
}

// validateFairness checks that the API of priority and fairness is on, unless that is off.
func (c *kubeAPIServer) validateFairness() []error {
	if !c.fairness {
		return nil
	}
	for _, key := range []string{"flowcontrol.apiserver.k8s.io/v1", "api/ga", "api/all"} { // in the order of precedence
		switch c.runtimeConfig[key] {
		case "false":
			return []error{fmt.Errorf("--runtime-config=%s=false conflicts with --enable-priority-and-fairness=true", key)}
		case "true":
			return nil
		}
	}
	return nil
}

// validateIssuers checks the flags of tokens of service accounts.
//
// Differs from kube-apiserver: required flags: it requires --service-account-issuer,
// --service-account-key-file and --service-account-signing-key-file. Here an issuer and a key are
// generated without them. Request: any, without these flags.
func (c *kubeAPIServer) validateIssuers() (errs []error) {
	for i, issuer := range c.issuers {
		if strings.Contains(issuer, ":") {
			if _, err := url.Parse(issuer); err != nil {
				errs = append(errs, fmt.Errorf("service-account-issuer %q contained a ':' but was not a valid URL: %w", issuer, err))
				continue
			}
		}
		switch {
		case issuer == "":
			errs = append(errs, errors.New("service-account-issuer should not be an empty string"))
		case slices.Contains(c.issuers[:i], issuer):
			errs = append(errs, fmt.Errorf("service-account-issuer %q is already specified", issuer))
		}
	}
	if c.keySetURL != "" {
		if u, err := url.Parse(c.keySetURL); err != nil {
			errs = append(errs, fmt.Errorf("service-account-jwks-uri must be a valid URL: %w", err))
		} else if u.Scheme != "https" {
			errs = append(errs, fmt.Errorf("service-account-jwks-uri requires https scheme, parsed as: %v", u))
		}
	}
	return errs
}

// validateMetrics checks the flags of metrics.
func (c *kubeAPIServer) validateMetrics() (errs []error) {
	invalid := func(field string, value any, detail, before1_36 string) {
		if behavior.MetricsConfiguration.In(c.served.Minor()) {
			errs = append(errs, validation.Invalid(validation.NewPath("metrics").Child(field), value, detail))
		} else {
			errs = append(errs, errors.New(before1_36))
		}
	}
	if v, previous := c.value("show-hidden-metrics-for-version"), fmt.Sprintf("1.%d", c.served.Minor()-1); v != "" && v != previous {
		invalid("showHiddenMetricsForVersion", v, fmt.Sprintf("must be omitted or have the value '%s'; only the previous minor version is allowed", previous),
			fmt.Sprintf("--show-hidden-metrics-for-version must be omitted or have the value '%s'. Only the previous minor version is allowed", previous))
	}
	if metrics.AllowList(splitValues(c.metricLabels)).Check() != nil {
		labels := map[string]any{}
		for key, values := range c.metricLabels {
			labels[key] = values
		}
		invalid("allowListMapping", labels, metrics.AllowListKeys, "--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`")
	}
	return errs
}

// validateSigningEndpoint checks the flag of a signer of tokens outside of the server.
func (c *kubeAPIServer) validateSigningEndpoint() (errs []error) {
	endpoint := c.value("service-account-signing-endpoint")
	if endpoint == "" {
		return nil
	}
	if c.signingKey != "" || len(c.accountKeys) > 0 {
		errs = append(errs, errors.New("can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)"))
	}
	if !c.served.Enabled("ExternalServiceAccountTokenSigner") {
		errs = append(errs, errors.New("setting `--service-account-signing-endpoint` requires enabling ExternalServiceAccountTokenSigner feature gate"))
	}
	if strings.HasPrefix(endpoint, "@") && !abstractSocket.MatchString(endpoint) {
		errs = append(errs, fmt.Errorf("invalid value %q passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name", endpoint))
	}
	return errs
}

var abstractSocket = regexp.MustCompile(`^@([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+$`)

// validateLeaderElection checks the times of coordinated leader elections.
func (c *kubeAPIServer) validateLeaderElection() (errs []error) {
	names := []string{"coordinated-leadership-lease-duration", "coordinated-leadership-renew-deadline", "coordinated-leadership-retry-period"}
	for i := range names[1:] {
		longer, _ := time.ParseDuration(c.value(names[i]))
		shorter, _ := time.ParseDuration(c.value(names[i+1]))
		if c.given.Lookup(names[i]) != nil && longer <= shorter {
			errs = append(errs, fmt.Errorf("--%s must be greater than --%s", names[i], names[i+1]))
		}
	}
	return errs
}

// parseServiceRanges parses the ranges of cluster IPs, without the checks of validateServiceRanges.
func (c *kubeAPIServer) parseServiceRanges() error {
	c.serve.serviceRanges = allocator.Ranges(nil)
	if c.serviceRanges == "" {
		return nil
	}
	c.serve.serviceRanges = nil
	for i, text := range strings.Split(c.serviceRanges, ",") {
		_, network := validation.ParseCIDR(text)
		switch {
		case i == 0 && network == nil:
			return errors.New("service-cluster-ip-range[0] is not a valid cidr")
		case i == 1 && network == nil:
			return errors.New("service-cluster-ip-range[1] is not an ip net")
		case i > 1:
			continue // validateServiceRanges refuses it
		}
		address, _ := netip.AddrFromSlice(network.IP)
		ones, bits := network.Mask.Size()
		if i == 0 && bits-ones < 3 {
			return errors.New("error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses")
		}
		c.serve.serviceRanges = append(c.serve.serviceRanges, netip.PrefixFrom(address, ones))
	}
	return nil
}

// maxRangeBits is the number of host bits of the largest range of cluster IPs that is stored as a bitmap.
const maxRangeBits = 20

// validateServiceRanges checks the ranges of cluster IPs.
func (c *kubeAPIServer) validateServiceRanges() (errs []error) {
	if strings.Count(c.serviceRanges, ",") > 1 {
		errs = append(errs, errors.New("--service-cluster-ip-range must not contain more than two entries"))
	}
	bitmaps := !c.served.Enabled("MultiCIDRServiceAllocator") || !c.served.Enabled("DisableAllocatorDualWrite")
	for i, r := range c.serve.serviceRanges {
		name := "--service-cluster-ip-range"
		if i == 1 {
			if r.Addr().Is4() == c.serve.serviceRanges[0].Addr().Is4() {
				errs = append(errs, errors.New("--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"))
			}
			name += "[1]"
		}
		if bits := r.Addr().BitLen(); bitmaps && bits-r.Bits() > maxRangeBits {
			errs = append(errs, fmt.Errorf("specified %s is too large; for %d-bit addresses, the mask must be >= %d", name, bits, bits-maxRangeBits))
		}
	}
	return errs
}
