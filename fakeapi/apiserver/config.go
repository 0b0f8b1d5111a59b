// Package apiserver has the settings that a kube-apiserver takes as flags, for
// fakeapi.WithAPIServer:
//
//	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{
//		FeatureGates: map[string]bool{"WatchList": false},
//	}))
//
// Names of files are those of the process. Keys, certificates and CAs are in PEM.
package apiserver

import (
	"io"
	"net/netip"
	"time"
)

// A PortRange is a range of ports, from First to Last.
type PortRange struct{ First, Last int }

// A Config has settings of kube-apiserver. The zero value of a field leaves the setting as it
// is. A wrong value is an ErrInvalidOption of fakeapi.New.
//
// See https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/.
type Config struct {
	// FeatureGates are gates of the release by the names of kube-apiserver, AllAlpha and
	// AllBeta included. The documentation lists those that change what the server answers. A
	// gate that the release does not have or has locked, and a gate that needs one that is
	// off, are wrong.
	FeatureGates map[string]bool

	// RuntimeConfig turns API versions and resources on and off. Keys are api/all, api/ga,
	// api/beta, api/alpha, GROUP/VERSION, GROUP/VERSION/RESOURCE, and v1 for the core group.
	// Versions that are off by default can be turned on in every release. An unknown key, v1
	// and rbac.authorization.k8s.io/v1 with the value false, and an unknown version are wrong.
	RuntimeConfig map[string]bool

	// EnableAdmissionPlugins are in addition to those that are enabled by default, and
	// DisableAdmissionPlugins are those of them that are disabled: MutatingAdmissionWebhook
	// and the like turn off webhooks and policies. A name that kube-apiserver does not have,
	// and one in both, is wrong.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string

	// AdmissionControlConfigFile is the name of a file with an AdmissionConfiguration: the
	// limitedResources of ResourceQuota, the defaults and exemptions of PodSecurity, the
	// selectors of PodNodeSelector, the tolerations of PodTolerationRestriction, the limits of
	// EventRateLimit, the imagePolicy of ImagePolicyWebhook, the kubeConfigFile of MutatingAdmissionWebhook and
	// ValidatingAdmissionWebhook, and, with the feature gate
	// ManifestBasedAdmissionControlConfig, the staticManifestsDir of the plugins of webhooks
	// and policies, whose files are read again when they change.
	//
	// See https://kubernetes.io/docs/reference/config-api/apiserver-config.v1/#apiserver-config-k8s-io-v1-AdmissionConfiguration.
	AdmissionControlConfigFile string

	// NoPrivilegedContainers refuses Pods, and templates of Pods, with privileged containers or with
	// HostProcess containers of Windows, as kube-apiserver does without --allow-privileged.
	NoPrivilegedContainers bool

	// Authentication configures how the server authenticates clients; nil is by the tokens
	// and CAs of the other options.
	Authentication *Authentication

	// Authorization configures how the server authorizes requests; nil is by the other
	// options.
	Authorization *Authorization

	// ClientCA authenticates clients by their certificates, and makes the server serve HTTPS.
	// The common name of a client's certificate is the name of the user, and its
	// organizations are the groups. A certificate must be valid at the time of the server's
	// clock. One that is not valid fails with 401, and a request without credentials is made
	// by the user system:anonymous. Text without a certificate is wrong.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates.
	ClientCA []byte

	// Certificate is the certificate of the server, which may be a chain, and Key its key.
	// They make the server serve HTTPS. A pair that does not parse is an error of
	// tls.X509KeyPair.
	Certificate, Key []byte

	// CertDir is the directory where a TLS server stores its own certificate, as apiserver.crt
	// and apiserver.key. If the files exist, the server uses them. It reads them again when
	// they change, as it does Files.
	CertDir string

	// Files are read at the start, and again when they change; nil is none. The errors of New
	// are those of os.ReadFile and those of the settings that the files take the place of.
	Files *Files

	// TLSMinVersion is the lowest version of TLS, and TLSCipherSuites are those that a TLS server
	// accepts in versions below 1.3, as in tls.Config. They need one that HTTP/2 requires, such as
	// TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256. The defaults are those of tls.Config.
	TLSMinVersion   uint16
	TLSCipherSuites []uint16

	// AllowedHosts are further names by which clients may call the server. A server that
	// listens on a loopback address refuses a request with another name in its Host header: a
	// web page that makes a name of its own resolve to 127.0.0.1 sends such requests. IP
	// addresses, localhost, the names of the certificate and those of the Service "kubernetes"
	// are always allowed. "*" allows every name. The in-memory transport is never refused.
	AllowedHosts []string

	// CORSAllowedOrigins are regular expressions for the origins of web pages that may use the
	// server, such as ^https://example\.com$. They must pin the beginning of the host, by ^ or //,
	// and its end, by $ or a colon. A page of another origin is refused, unless its requests have
	// a bearer token; then it may not read the answers.
	CORSAllowedOrigins []string

	// ServiceClusterIPRanges are the ranges of cluster IPs, at most one for each IP family.
	// The first range has at least eight addresses; its family is the default of Services.
	// The default is 10.0.0.0/24.
	ServiceClusterIPRanges []netip.Prefix

	// ServiceNodePortRange is the range of the node ports of Services. The default is 30000 to
	// 32767. The server leaves the first ports to clients that ask for one, as long as there are
	// others.
	ServiceNodePortRange PortRange

	// AdvertiseAddress is the endpoint of the Service "kubernetes", of the IP family of the first
	// ServiceClusterIPRanges. The default, in place of a loopback address too, is one of those for
	// documentation: nothing listens there.
	AdvertiseAddress netip.Addr

	// DefaultNotReadyTolerationSeconds and DefaultUnreachableTolerationSeconds are how long new Pods
	// tolerate that their Node is not ready or unreachable, in the tolerations that the admission
	// plugin DefaultTolerationSeconds adds. Nil is 300.
	DefaultNotReadyTolerationSeconds, DefaultUnreachableTolerationSeconds *int64

	// RequestTimeout is the longest time of a request that is no watch or the like. The parameter
	// timeout of a request shortens it. The default is a minute.
	RequestTimeout time.Duration

	// MaxRequestsInflight limits the reads that are served at a time and are no watches, and
	// MaxMutatingRequestsInflight the writes. Further ones fail with 429 and Retry-After, as
	// kube-apiserver's do with --enable-priority-and-fairness=false. Watches, the like, and
	// members of system:masters have no limit. 0 is no limit.
	MaxRequestsInflight, MaxMutatingRequestsInflight int

	// MinRequestTimeout ends watches without timeoutSeconds after a random time from it on,
	// below twice that, on the server's clock. Nil is 30 minutes; with 0 these watches end at
	// once.
	MinRequestTimeout *time.Duration

	// EventTTL is how long Events are kept after they were last written. The default is one
	// hour.
	EventTTL time.Duration

	// CompactionInterval compacts periodically, on the server's clock, in addition to the
	// limits of the history. Each time it removes, as fakeapi.Server.Compact does, the
	// versions that were replaced more than CompactionKeep before. 0 is never.
	CompactionInterval, CompactionKeep time.Duration

	// AuditLog gets the audit log: a line of JSON for each event that AuditPolicy selects, a
	// Policy of audit.k8s.io/v1 in YAML or JSON. Each event is one call of Write, and no two
	// calls are concurrent. An event is lost if Write fails: apiserver_audit_error_total of
	// /metrics counts it. Forks write to it too.
	//
	// See https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/.
	AuditLog    io.Writer
	AuditPolicy string

	// StrictTransportSecurity are the directives of the header Strict-Transport-Security of
	// all answers: max-age=SECONDS, includeSubDomains and preload.
	StrictTransportSecurity []string

	// MetricLabels has the values that labels of metrics may have, by METRIC,LABEL, such as
	// apiserver_request_total,code. Others are counted together, as "unexpected". Labels without an
	// entry may have any.
	MetricLabels map[string][]string

	// Flags are the command-line flags that /flagz shows, with their values.
	Flags map[string]string
}
