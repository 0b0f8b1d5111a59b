//go:build go1.24

package main

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each row has flags and the whole error of kube-apiserver, which is reported before the server listens.
func TestKubeAPIServerRefusesFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	files := strings.NewReplacer("EMPTY", empty, "CERT", certificateFile(t))
	for _, tt := range []struct{ name, flags, err string }{
		{"grace period", "--livez-grace-period=-1s", "--livez-grace-period can not be a negative value"},
		{"underscores", "--goaway_chance=0.03", "--goaway-chance can not be less than 0 or greater than 0.02"},
		{"requests in flight", "--max-requests-inflight=-1 --max-mutating-requests-inflight=-1", "[--max-requests-inflight can not be negative value, --max-mutating-requests-inflight can not be negative value]"},
		{"no requests in flight", "--max-requests-inflight=0 --max-mutating-requests-inflight=0", "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive"},
		{"storage", "--storage-backend=etcd2 --storage-media-type=a", `[--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3', --storage-media-type "a" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml]`},
		{"overrides", "--etcd-servers-overrides=events#http://a", "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated"},
		{"reload without a file", "--encryption-provider-config-automatic-reload", "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config"},
		{"etcd certificate without a key", "--etcd-certfile=none", "error creating storage factory: KeyFile and CertFile must both be present[key: , cert: none]"},
		{"watch cache", "--watch-cache-sizes=a --goaway-chance=2", "invalid value of watch cache size: a"},
		{"watch cache size", "--watch-cache-sizes=a#b", "invalid size of watch cache size: a#b"},
		{"negative watch cache size", "--watch-cache-sizes=a#-1", "watch cache size cannot be negative: a#-1"},
		{"port", "--secure-port=65536", "--secure-port 65536 must be between 1 and 65535, inclusive. It cannot be turned off with 0"},
		{"emulated version", "--emulated-version=1.33", "[emulation version 1.33 is not between [1.34, 1.37.0], minCompatibilityVersion version 1.34 is not between [1.34, 1.33]]"},
		{"newer version", "--emulated-version=kube=1.38", "emulation version 1.38 is not between [1.34, 1.37.0]"},
		{"compatible version", "--emulated-version=1.36 --min-compatibility-version=1.37", "minCompatibilityVersion version 1.37 is not between [1.34, 1.36]"},
		{"version of another component", "--emulated-version=a=1.36 --feature-gates=Foo=true", "component not registered: a"},
		{"no version", "--min-compatibility-version=a", `could not parse "a" as version`},
		{"major version", "--emulated-version=1", `illegal version string "1"`},
		{"patch version", "--emulated-version=1.36.1", "patch version not allowed, got: kube=1.36.1"},
		{"version twice", "--emulated-version=1.36,kube=1.35", "duplicate version flag, kube=1.36 and kube=1.35"},
		{"forward compatible", "--emulation-forward-compatible", "ServerRunOptions.EmulationForwardCompatible cannot be set to true if the emulation version is the same as the binary version"},
		{"issuers", "--service-account-issuer=a --service-account-issuer= --service-account-issuer=:b --service-account-issuer=a",
			`[service-account-issuer should not be an empty string, service-account-issuer ":b" contained a ':' but was not a valid URL: parse ":b": missing protocol scheme, service-account-issuer "a" is already specified]`},
		{"headers of proxies", "--requestheader-username-headers=, --requestheader-group-headers=a, --requestheader-extra-headers-prefix=, --requestheader-uid-headers=",
			`[empty value in "requestheader-username-headers", empty value in "requestheader-group-headers", empty value in "requestheader-extra-headers-prefix"]`},
		{"UIDs of proxies", "--requestheader-uid-headers=a", "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"},
		{"UIDs of proxies without the gate", "--requestheader-uid-headers=a --feature-gates=RemoteRequestHeaderUID=false", `--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled`},
		{"OIDC without a user", "--oidc-issuer-url=https://a --oidc-client-id=a --oidc-username-claim=", "invalid authentication configuration: jwt[0].claimMappings.username: Required value: claim or expression is required"},
		{"batches of the audit log", "--audit-log-path=- --audit-log-mode=batch --audit-log-batch-max-size=0", "invalid audit batch log max batch size 0, must be a positive number"},
		{"admission twice", "--admission-control=A --enable-admission-plugins=B",
			`[admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive, admission-control plugin "A" is unknown, enable-admission-plugins plugin "B" is unknown]`},
		{"hidden metrics", "--show-hidden-metrics-for-version=1.35", `metrics.showHiddenMetricsForVersion: Invalid value: "1.35": must be omitted or have the value '1.36'; only the previous minor version is allowed`},
		{"metric labels", "--allow-metric-labels=a=b", "metrics.allowListMapping: Invalid value: {\"a\":\"b\"}: must have keys with format `metricName,labelName` where metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\""},
		{"peers without their gate", "--peer-ca-file=a --peer-advertise-ip=b --peer-advertise-port=c --feature-gates=UnknownVersionInteroperabilityProxy=false",
			"[--peer-ca-file requires UnknownVersionInteroperabilityProxy feature to be turned on, --peer-advertise-ip requires UnknownVersionInteroperabilityProxy feature to be turned on, --peer-advertise-port requires UnknownVersionInteroperabilityProxy feature to be turned on]"},
		{"peers without a certificate", "--peer-ca-file=a", "error building peer proxy handler, proxy-cert-file not specified"},
		{"signer and key", "--service-account-issuer=a --service-account-signing-key-file=a --service-account-signing-endpoint=b", "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time"},
		{"signer and key to verify", "--service-account-key-file=a --service-account-signing-endpoint=@a=b", "[can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive), " +
			"invalid value \"@a=b\" passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name]"},
		{"leases", "--coordinated-leadership-renew-deadline=1h --coordinated-leadership-retry-period=2h",
			"[--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline, --coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period]"},
		{"no service range", "--service-cluster-ip-range=a --goaway-chance=2", "service-cluster-ip-range[0] is not a valid cidr"},
		{"second service range", "--service-cluster-ip-range=10.0.0.0/24,a", "service-cluster-ip-range[1] is not an ip net"},
		{"small service range", "--service-cluster-ip-range=10.0.0.0/30", "error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses"},
		{"three service ranges", "--service-cluster-ip-range=10.0.0.0/8,10.1.0.0/16,a", "[--service-cluster-ip-range must not contain more than two entries, --service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family]"},
		{"large service ranges", "--service-cluster-ip-range=10.0.0.0/8,fd00::/64 --feature-gates=MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false", "[cannot set feature gate DisableAllocatorDualWrite to false, feature is locked to true, cannot set feature gate MultiCIDRServiceAllocator to false, feature is locked to true]"},
		{"node port of the API server", "--kubernetes-service-node-port=65536", "[--kubernetes-service-node-port 65536 must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP, kubernetes service node port range 30000-32767 doesn't contain 65536]"},
		{"number of API servers", "--apiserver-count=0", "--apiserver-count should be a positive number, but value '0' provided"},
		{"order", "--apiserver-count=0 --kubernetes-service-node-port=-1 --emulated-version=1.38 --goaway-chance=2 --storage-backend=a --authorization-mode=A --cors-allowed-origins=,",
			"[--goaway-chance can not be less than 0 or greater than 0.02, ORIGINS, emulation version 1.38 is not between [1.34, 1.37.0], --storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3', authorization-mode \"A\" is not a valid mode, " +
				"--kubernetes-service-node-port -1 must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP, --apiserver-count should be a positive number, but value '0' provided]"},

		{"log", "--logging-format=a --log-flush-frequency=0 --goaway-chance=2", `[flushFrequency: Invalid value: "0s": Must be greater than zero, format: Invalid value: "a": Unsupported log format]`},
		{"levels of files in JSON", "--logging-format=json --vmodule=a=1", "vmodule: Forbidden: Only supported for text log format"},
		{"streams of the log", "--log-text-split-stream --log-json-info-buffer-size=1k", "[options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled]"},

		{"key of a version", "--runtime-config=a=b", "runtime-config invalid key a"},
		{"value of the core group", "--runtime-config=v1=a", `invalid value of /v1: a, err: strconv.ParseBool: parsing "a": invalid syntax`},
		{"no aggregation", "--runtime-config=apiregistration.k8s.io/v1=false", "API group/version apiregistration.k8s.io/v1 must be enabled"},
		{"no priority and fairness", "--runtime-config=flowcontrol.apiserver.k8s.io/v1=false", "--runtime-config=flowcontrol.apiserver.k8s.io/v1=false conflicts with --enable-priority-and-fairness=true"},

		{"missing file", "--client-ca-file=none", "--client-ca-file: none: no such file or directory"},
		{"empty CA", "--client-ca-file=EMPTY", `--client-ca-file: missing content for CA bundle "client-ca-bundle::EMPTY"`},
		{"CA of proxies", "--requestheader-client-ca-file=testdata/authentication.yaml", `--requestheader-client-ca-file: error loading CA bundle for "request-header::testdata/authentication.yaml": data does not contain any valid RSA or ECDSA certificates`},
		{"key of tokens", "--service-account-key-file=EMPTY", "--service-account-key-file: error reading public key file EMPTY: data does not contain any valid RSA or ECDSA public keys"},
		{"signing key", "--service-account-issuer=a --service-account-signing-key-file=EMPTY", "--service-account-signing-key-file: failed to parse service-account-issuer-key-file: error reading private key file EMPTY: data does not contain a valid RSA or ECDSA private key"},
		{"missing signing key", "--service-account-issuer=a --service-account-signing-key-file=none", "--service-account-signing-key-file: failed to parse service-account-issuer-key-file: none: no such file or directory"},
		{"same CA of clients and of proxies", "--client-ca-file=CERT --requestheader-client-ca-file=CERT --goaway-chance=2 --authorization-mode=A",
			"[--goaway-chance can not be less than 0 or greater than 0.02, --requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users, authorization-mode \"A\" is not a valid mode]"},
		{"same CA and names of proxies", "--client-ca-file=CERT --requestheader-client-ca-file=CERT --requestheader-allowed-names=a --goaway-chance=2", "--goaway-chance can not be less than 0 or greater than 0.02"},
		{"audit policy", "--audit-policy-file=EMPTY", "--audit-policy-file: loading audit policy file: unknown group version field audit.k8s.io/__internal, Kind=Policy in policy: from file EMPTY"},
		{"policies of ABAC", "--authorization-mode=ABAC --authorization-policy-file=none", "--authorization-policy-file: invalid authorization config: none: no such file or directory"},
		{"certificate without a key", "--tls-cert-file=none", "missing filename for serving cert"},
		{"key without a certificate", "--tls-private-key-file=none", "missing filename for serving cert"},
		{"named certificate", "--tls-sni-cert-key=none,none", "failed to load SNI cert and key: none: no such file or directory"},
		{"cipher suite", "--tls-cipher-suites=TLS_AES_128_GCM_SHA256,a,b --tls-min-version=a --tls-sni-cert-key=none,none", "Cipher suite a not supported or doesn't exist"},
		{"version of TLS", "--tls-min-version=VersionTLS14 --client-ca-file=none", `unknown tls version "VersionTLS14"`},
		{"no cipher suite of HTTP/2", "--tls-cipher-suites=TLS_AES_128_GCM_SHA256 --secure-port=1", "error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)"},
		{"egress", "--egress-selector-config-file=none", `--egress-selector-config-file: failed to read egress selector config: unable to read egress selector configuration from "none" [none: no such file or directory]`},
		{"tracing", "--tracing-config-file=none", `--tracing-config-file: failed to read tracing config: unable to read tracing configuration from "none": none: no such file or directory`},
		{"encryption", "--encryption-provider-config=none", `--encryption-provider-config: error while parsing file: error while loading file: error reading encryption provider configuration file "none": none: no such file or directory`},
		{"content of encryption", "--encryption-provider-config=EMPTY", `--encryption-provider-config: error while parsing file: error while loading file: encryption provider configuration file "EMPTY" is empty`},
		{"certificate of kubelets", "--kubelet-client-certificate=none", `problem initializing API group "": none: no such file or directory`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := strings.Fields(files.Replace(tt.flags))
			code, _, stderr := runProgram(t, "kube-apiserver", append(args, "--etcd-servers=http://127.0.0.1:1", "--cert-dir=")...)
			assert.Equal(t, 1, code)
			_, quoted, _ := strings.Cut(stderr, `"command failed" err=`)
			got, err := strconv.Unquote(strings.TrimSpace(quoted))
			require.NoError(t, err, stderr)
			if before, rest, ok := strings.Cut(got, "empty value in --cors-allowed-origins"); ok {
				_, after, _ := strings.Cut(rest, "example\\.com(:|$)', ")
				got = before + "ORIGINS, " + after
			}
			assert.Equal(t, files.Replace(tt.err), got)
		})
	}
}

// certificateFile returns the name of a file with a certificate.
func certificateFile(t *testing.T) string {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	name := filepath.Join(t.TempDir(), "certificate")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600))
	return name
}

// An error with several lines is in the log in lines of its own.
func TestKubeAPIServerErrorOfLines(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(config, []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: []\nauthorizers: []\n"), 0o600))
	_, _, stderr := runProgram(t, "kube-apiserver", "--etcd-servers=http://127.0.0.1:1", "--cert-dir=", "--authorization-config="+config)
	_, text, _ := strings.Cut(stderr, `"command failed" `)
	assert.Equal(t, "err=<\n\t--authorization-config: "+config+": failed to load AuthorizationConfiguration from file: strict decoding error: yaml: unmarshal errors:\n"+
		"\t  line 4: key \"authorizers\" already set in map\n >\n", text)
}

// Releases before 1.35 accept the same CA for clients and for proxies.
func TestKubeAPIServerSameCAInOldReleases(t *testing.T) {
	cert := certificateFile(t)
	for _, tt := range []struct {
		release string
		want    bool
	}{{"1.34.0", false}, {"1.35.0", true}} {
		t.Run(tt.release, func(t *testing.T) {
			program := filepath.Join("k8s", tt.release+"-linux-amd64", "kube-apiserver")
			_, _, stderr := runProgram(t, program, "--etcd-servers=http://127.0.0.1:1", "--goaway-chance=2", "--client-ca-file="+cert, "--requestheader-client-ca-file="+cert)
			assert.Equal(t, tt.want, strings.Contains(stderr, "contain overlapping certificates"), stderr)
		})
	}
}

// Releases before 1.36 have other errors for flags of metrics.
func TestKubeAPIServerMetricFlagsOfOldReleases(t *testing.T) {
	old := filepath.Join("k8s", "1.35.0-linux-amd64", "kube-apiserver")
	_, _, stderr := runProgram(t, old, "--etcd-servers=http://127.0.0.1:1", "--show-hidden-metrics-for-version=1.36", "--allow-metric-labels=a=b")
	assert.Contains(t, stderr, `err="[--show-hidden-metrics-for-version must be omitted or have the value '1.34'. Only the previous minor version is allowed, `+
		"--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`]")
}

// Values of flags that do not parse are errors before all others.
func TestKubeAPIServerValues(t *testing.T) {
	for _, tt := range []struct{ name, flag, err string }{
		{"verbosity", "--v=-1", `invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax`},
		{"verbosity of files", "--vmodule=a=1,b", `invalid argument "a=1,b" for "--vmodule" flag: "b" does not have the pattern=N format`},
		{"level of files", "--vmodule=a=b", `invalid argument "a=b" for "--vmodule" flag: parsing verbosity in "a=b": strconv.ParseUint: parsing "b": invalid syntax`},
		{"buffer", "--log-json-info-buffer-size=x", `invalid argument "x" for "--log-json-info-buffer-size" flag: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		{"version", "--version=x", `invalid argument "x" for "--version" flag: strconv.ParseBool: parsing "x": invalid syntax`},
		{"another version", "--version=v1.2.3", `invalid argument "v1.2.3" for "--version" flag: version "v1.2.3" must match major/minor/patch of default version "v1.37.2"`},
		{"port of kubelets", "--kubelet-port=-1", `invalid argument "-1" for "--kubelet-port" flag: strconv.ParseUint: parsing "-1": invalid syntax`},
		{"node ports", "--service-node-port-range=80+-5", `invalid argument "80+-5" for "--service-node-port-range" flag: unable to parse port range: 80+-5`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, _, stderr := runProgram(t, "kube-apiserver", tt.flag, "--goaway-chance=2", "--version")
			assert.Equal(t, 1, code)
			assert.Equal(t, "Error: "+tt.err+"\n", stderr)
		})
	}
}
