package fakeapi

import (
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/release"
)

// An Option configures a server. Options commute: their order does not matter.
// Of two that say the same thing differently the last counts.
type Option func(*config)

// config is what the options say.
type config struct {
	http    httptest.Options
	server  apiserver.Config
	profile string
	start   time.Time // of a clock that stands still; zero: it runs
	objects []any
	files   []files
	crds    []files
	faults  []files
}

// files are YAML or JSON files to load objects from.
type files struct {
	fsys  fs.FS
	globs []string
}

// WithTLS serves HTTPS with a throwaway certificate that Server.Client,
// Server.Transport and Server.Kubeconfig trust.
func WithTLS() Option { return func(c *config) { c.http.TLS = true } }

// WithCertDir keeps the certificate of a TLS server in a directory, as
// apiserver.crt and apiserver.key; those that are there already are served.
func WithCertDir(dir string) Option { return func(c *config) { c.http.CertDir = dir } }

// WithAddress listens on a TCP address, such as "127.0.0.1:8080". The default
// is a free port of the loopback.
func WithAddress(addr string) Option { return func(c *config) { c.http.Addr = addr } }

// WithInMemory opens no listener: Server.Client and Server.Transport call the
// handler directly and stream. That works in a testing/synctest bubble.
//
// Of client-go's error handlers (ErrorHandlers of k8s.io/apimachinery's
// util/runtime) keep only the first in a bubble: the other one reckons with the
// time outside, which is decades later, and sleeps until then.
func WithInMemory() Option { return func(c *config) { c.http.InMemory = true } }

// WithProfile serves the API surface of a Kubernetes release: "v1.36",
// "v1.34.4", or with "-all" all API versions, as --runtime-config=api/all=true
// has it. The default is the newest release.
func WithProfile(name string) Option { return func(c *config) { c.profile = name } }

// WithClock has time stand still at start until Server.Clock moves it. Without
// it time runs with the wall clock.
func WithClock(start time.Time) Option { return func(c *config) { c.start = start } }

// WithSeed makes UIDs and generated names the same in every run. Two writes
// that race still get them in either order. 0 is no seed.
func WithSeed(seed uint64) Option { return func(c *config) { c.server.Seed = seed } }

// WithHistory keeps old versions for d after they were replaced; the default is
// five minutes.
func WithHistory(d time.Duration) Option { return func(c *config) { c.server.KeepHistory = d } }

// WithEventTTL deletes events d after they were last written; the default is an
// hour.
func WithEventTTL(d time.Duration) Option {
	return func(c *config) { c.server.EventTTL = d }
}

// WithCompaction compacts again and again, on the server's clock: each time,
// what was replaced more than keep before is forgotten, as by Server.Compact. It
// comes on top of WithHistory, which forgets what is old steadily. A negative
// time is an error of New, and an every of 0 is no schedule.
func WithCompaction(every, keep time.Duration) Option {
	return func(c *config) { c.server.Compaction = apiserver.Compaction{Every: every, Keep: keep} }
}

// A User is the user of a client: a struct with Name and UID (strings), Groups
// ([]string) and Extra (map[string][]string).
type User = authn.User

// WithToken adds a bearer token of a user. With it, a request with an unknown
// token fails with 401, and a request without a token is made by the user
// system:anonymous. Without WithRBAC every user may do everything.
//
// Tokens of service accounts that the server issued are always valid.
func WithToken(token string, user User) Option {
	return func(c *config) {
		if c.server.Auth.Tokens == nil {
			c.server.Auth.Tokens = map[string]User{}
		}
		c.server.Auth.Tokens[token] = user
	}
}

// WithRBAC authorizes requests as kube-apiserver does with
// --authorization-mode=RBAC: by the roles and bindings that are in the server,
// where those of a fresh cluster are from the start. Members of system:masters
// may do everything; what no role permits is refused with 403.
func WithRBAC() Option { return func(c *config) { c.server.Auth.RBAC = true } }

// WithServiceRanges gives services cluster IPs of these ranges, at most one of
// an IP family, the first of at least eight addresses; services are of its
// family unless they ask for another. The default is 10.0.0.0/24. Other ranges
// are an error of New.
func WithServiceRanges(ranges ...netip.Prefix) Option {
	return func(c *config) { c.server.ServiceRanges = ranges }
}

// WithFeatureGates turns features on and off by the names of kube-apiserver's
// feature gates. The server has CBORServingAndStorage, which is off by default;
// any other is an error of New.
func WithFeatureGates(gates map[string]bool) Option {
	return func(c *config) {
		if c.server.FeatureGates == nil {
			c.server.FeatureGates = map[string]bool{}
		}
		maps.Copy(c.server.FeatureGates, gates)
	}
}

// WithObjects puts objects into the server before it is handed out, as
// Server.Put does: namespaces first, then in their order. A list, and YAML of
// several documents, stand for the objects in them.
func WithObjects(objects ...any) Option {
	return func(c *config) { c.objects = append(c.objects, objects...) }
}

// WithObjectFiles puts the objects of YAML and JSON files into the server, as
// WithObjects does. A glob is one of fs.Glob; one that matches no file is an
// error.
func WithObjectFiles(fsys fs.FS, globs ...string) Option {
	return func(c *config) { c.files = append(c.files, files{fsys, globs}) }
}

// WithCRDs serves custom resources: those that the CustomResourceDefinitions in
// YAML and JSON files define. The server is handed out once they are served; a
// definition that is invalid, or whose names another one has, is an error that
// tells its file and field. A glob is one of fs.Glob; one that matches no file
// is an error.
func WithCRDs(fsys fs.FS, globs ...string) Option {
	return func(c *config) { c.crds = append(c.crds, files{fsys, globs}) }
}

// WithWebhookService has the webhooks of a service be called at an address, such
// as "127.0.0.1:9443". There is no cluster in which services are found.
func WithWebhookService(namespace, name, addr string) Option {
	return func(c *config) {
		if c.server.Services == nil {
			c.server.Services = map[string]string{}
		}
		c.server.Services[namespace+"/"+name] = addr
	}
}

// WithFaults injects faults before the server is handed out.
func WithFaults(faults ...Fault) Option {
	return func(c *config) {
		for _, f := range faults {
			c.server.Faults = append(c.server.Faults, fault.Fault(f))
		}
	}
}

// WithFaultFiles injects the faults of YAML and JSON files, each one or a list of
// them, as WithFaults does. A glob is one of fs.Glob; one that matches no file is
// an error.
func WithFaultFiles(fsys fs.FS, globs ...string) Option {
	return func(c *config) { c.faults = append(c.faults, files{fsys, globs}) }
}

// WithoutControl turns off the control endpoint below /debug/fakeapi/.
func WithoutControl() Option { return func(c *config) { c.server.NoControl = true } }

// newConfig reads the options.
func newConfig(options []Option) (*config, error) {
	c := &config{}
	for _, o := range options {
		o(c)
	}
	p, err := release.Open(c.profile)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	c.server.Release = p
	c.server.Port = portOf(c.http.Addr)
	c.server.Clock = clock.New()
	if !c.start.IsZero() {
		c.server.Clock = clock.NewManual(c.start)
	}
	if err := c.readFaults(); err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return c, nil
}

// portOf is the port of a TCP address, 0 if it has none or a name.
func portOf(addr string) int {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(text)
	return port
}
