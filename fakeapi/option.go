package fakeapi

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/audit"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/server"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/usage"
)

// An Option configures a server. The order of different options does not matter.
// Of two conflicting options the last one applies. An Option prints as the call that
// returns it: WithRelease("v1.35").
type Option interface {
	fmt.Stringer
	apply(*config)
}

// config holds the options of a server.
type config struct {
	options       []Option
	http          httptest.Options
	server        server.Config
	release       string
	profile       string // the file of WithProfileFile; "" without it
	runtimeConfig release.RuntimeConfig
	start         *time.Time // of a manual clock; nil: it runs with the wall clock
	objects       []any
	files         []files
	crds          []files
	state         io.Reader // of WithState; nil without it
	usageFolder   string    // of the environment variable usage.Dir; "" without it

	auditPolicy string
	auditWriter io.Writer // of apiserver.Config.AuditLog; nil without it

	clientCAs        [][]byte            // in PEM
	clientRoots      []*x509.Certificate // of clientCAs, and the CA of Credentials; nil without TLS
	proxyCAs         []*x509.Certificate // of authentication.RequestHeader
	proxyCertificate [2][]byte           // and its key, of Files; in PEM
	authentication   *apiserver.Authentication
	authorization    *apiserver.Authorization
	abac             func() (*authz.ABAC, error) // reads the policies of the mode ABAC once
	rbac             bool                        // of WithRBAC

	transportSecurity []string // of apiserver.Config.StrictTransportSecurity
	allowedOrigins    []string // of apiserver.Config.CORSAllowedOrigins

	namespaces []string // of WithNamespaces; nil without it

	processes map[string]func(os.Signal) error // of WithProcess, by name

	controllers []string                             // of WithControllers
	stages      []func() ([]*lifecycle.Stage, error) // each reads files of WithStages

	watched  *apiserver.Files // nil without them
	reloader *reloader        // of watched and of the CertDir; nil if there are no files

	forks *forkCount

	clusters []namedCluster // of clusters.With
}

// files are YAML or JSON files.
type files struct {
	fsys  fs.FS
	globs []string
}

// WithTLS serves HTTPS. The server has a throwaway certificate, which
// Server.Client, Server.Transport and Server.Kubeconfig trust.
func WithTLS() Option {
	return newOption("WithTLS", func(c *config) { c.http.TLS = true })
}

// WithAddress listens on a TCP address, such as "127.0.0.1:8080". The default is a
// free port of 127.0.0.1.
func WithAddress(addr string) Option {
	return newOption("WithAddress", func(c *config) { c.http.Addr = addr }, addr)
}

// WithInMemory opens no listener. Server.Client and Server.Transport call the
// handler directly, with streaming, which works in a testing/synctest bubble. A get
// takes a tenth of the time that it takes over a connection, and a write a third: they
// are served in the goroutine of their client, unless there are faults.
//
// In a bubble, set ErrorHandlers of k8s.io/apimachinery/pkg/util/runtime to its
// first element: the second one compares the time of the bubble with the time of
// the process start, which is decades later, and sleeps for the difference.
func WithInMemory() Option {
	return newOption("WithInMemory", func(c *config) { c.http.InMemory = true })
}

// WithRelease serves the API of a Kubernetes release: "v1.36", "1.34". "latest" is the newest
// one. Every version of a minor release, such as "v1.34.0", is served by the same data. The
// suffix "-all" adds the API versions that are off by default, as
// --runtime-config=api/all=true does. The default is v1.37.
func WithRelease(name string) Option {
	return newOption("WithRelease", func(c *config) { c.release = name }, name)
}

// WithManualClock stops the server's time at start. Only Server.Clock().Advance
// moves it. By default the clock runs with the wall clock.
func WithManualClock(start time.Time) Option {
	return newOption("WithManualClock", func(c *config) { c.start = &start }, start)
}

// WithSeed makes UIDs, generated names and IDs of tokens the same in every run, as long as the
// order of writes is the same. 0 means no seed. Server.Fork says what those of a fork are.
func WithSeed(seed uint64) Option {
	return newOption("WithSeed", func(c *config) { c.server.Seed = seed }, seed)
}

// A History limits the old versions of objects that a server keeps.
type History struct {
	// Age is how long versions are kept after they were replaced; 0 is five minutes.
	Age time.Duration

	// Bytes limits the memory of the old versions; 0 is 256 MiB, and math.MaxInt64 no limit. A
	// write that exceeds the limit removes the oldest versions, as Server.Compact does, until
	// three quarters are left. Watches that have sent everything go on. Watches with bookmarks
	// get one each time a third of the limit was written, so that they can be continued from
	// the last one. The story has a note of each removal, and a memory of its own: a quarter
	// of Bytes, but at least 4 MiB. A negative value is an ErrInvalidOption.
	Bytes int64
}

// WithHistory limits the history of the server.
func WithHistory(h History) Option {
	return newOption("WithHistory", func(c *config) { c.server.KeepHistory, c.server.HistoryBytes = h.Age, h.Bytes }, h)
}

// WithPace makes a request that writes an object twice wait for d in between, on the server's
// clock: a DELETE of a Pod that is not scheduled marks it, and then removes it. The default
// is 0, microseconds: a controller that acts on the first event may find that the object is
// gone. With kube-apiserver, and with the binaries of "fakeapi envtest", it takes some
// milliseconds. In a testing/synctest bubble the time passes when all goroutines are blocked.
// With WithManualClock no request waits.
func WithPace(d time.Duration) Option {
	return newOption("WithPace", func(c *config) { c.server.Pace = d }, d)
}

// WithToken adds a bearer token of a user. With it, a request with an unknown
// token fails with 401, and a request without a token is made by the user
// system:anonymous. Without WithRBAC every user may do everything.
//
// Tokens of service accounts that the server issued are always valid.
func WithToken(token string, user User) Option {
	return newOption("WithToken", func(c *config) {
		if c.server.Auth.Tokens == nil {
			c.server.Auth.Tokens = map[string]authn.User{}
		}
		c.server.Auth.Tokens[token] = authn.User(user)
		c.server.Auth.Unauthenticated = authn.AsAnonymous
	}, secret(token), user)
}

// WithRBAC authorizes requests as kube-apiserver does with
// --authorization-mode=RBAC. The server starts with the roles and bindings of a
// fresh cluster. Members of system:masters may do everything. A request that no
// role permits fails with 403.
func WithRBAC() Option {
	return newOption("WithRBAC", func(c *config) { c.rbac = true })
}

// WithObjects puts objects into the server before New returns, as Server.Store does:
// first definitions and namespaces, then the others in their order. Lists and YAML
// streams are expanded. New reads an io.Reader, such as os.Stdin, to its end. An error
// names the object of the option, or the file, and in it the document by its number,
// from 1, the kind and the name.
func WithObjects(objects ...any) Option {
	return newOption("WithObjects", func(c *config) { c.objects = append(c.objects, objects...) }, typesOf(objects))
}

// WithState starts the server with a state that Server.WriteState has written: the same
// objects with their UIDs and resourceVersions, at the same revision, without the
// history before. As a kube-apiserver that starts, the server creates its own objects
// again that are missing, and adds what its roles and bindings lack. New reads r to its
// end. The objects of other options are put into that state. A state of another format, or
// with resources that the release does not have, is an ErrInvalidOption.
func WithState(r io.Reader) Option {
	return newOption("WithState", func(c *config) { c.state = r }, reflect.TypeOf(r))
}

// WithObjectFiles puts the objects of YAML and JSON files into the server, as
// WithObjects does. Globs have the syntax of fs.Glob. A glob that matches no file
// is an fs.ErrNotExist.
func WithObjectFiles(fsys fs.FS, globs ...string) Option {
	return newOption("WithObjectFiles", func(c *config) { c.files = append(c.files, files{fsys, globs}) }, fsys, globs)
}

// WithNamespaces creates the namespaces with these names, and the namespaces of the
// objects of other options, unless they exist. Without it, an object in a namespace
// that does not exist is an ErrNotFound.
func WithNamespaces(names ...string) Option {
	return newOption("WithNamespaces", func(c *config) { c.namespaces = append(append([]string{}, c.namespaces...), names...) }, names)
}

// WithCRDs puts the CustomResourceDefinitions of YAML and JSON files into the
// server. Their resources are served when New returns. An invalid definition, or
// one whose names are taken, is an ErrInvalidObject. Globs are as for
// WithObjectFiles.
func WithCRDs(fsys fs.FS, globs ...string) Option {
	return newOption("WithCRDs", func(c *config) { c.crds = append(c.crds, files{fsys, globs}) }, fsys, globs)
}

// WithWebhookService sets the address of a Service's webhooks, such as
// "127.0.0.1:9443". Without it the server cannot call webhooks by Service. The address is also
// that of the aggregated API server of APIServices with the Service.
func WithWebhookService(namespace, name, addr string) Option {
	return newOption("WithWebhookService", func(c *config) {
		if c.server.Services == nil {
			c.server.Services = map[string]string{}
		}
		c.server.Services[namespace+"/"+name] = addr
	}, namespace, name, addr)
}

// WithFaults injects faults before New returns, as Server.Inject does. faults.ParseFiles reads
// them from files.
func WithFaults(faults ...faults.Fault) Option {
	return newOption("WithFaults", func(c *config) { c.server.Faults = append(c.server.Faults, faults...) }, faults)
}

// WithSecretsShown makes stories, and the requests of the control endpoint, show secrets. By
// default they have placeholders in place of the data of Secrets, of tokens, and of passwords in
// URLs.
func WithSecretsShown() Option {
	return newOption("WithSecretsShown", func(c *config) { c.server.ShowSecrets = true })
}

// WithoutControl turns off the control endpoint below /debug/fakeapi/.
func WithoutControl() Option {
	return newOption("WithoutControl", func(c *config) { c.server.NoControl = true })
}

// complete checks the values of the options of one cluster, and adds what follows from them. shared is
// its clock, nil for one of the options.
func (c *config) complete(shared *clock.Clock) error {
	c.forks, c.usageFolder = &forkCount{}, os.Getenv(usage.Dir)
	if err := c.readProfile(); err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	r, err := release.Open(c.release)
	if err != nil {
		return fmt.Errorf("fakeapi: %w", optionError(err))
	}
	if c.server.Release, err = r.Select(c.runtimeConfig); err != nil {
		return fmt.Errorf("fakeapi: %w", optionError(err))
	}
	c.server.Auth.UserTokens = authn.NewUserTokens()
	c.server.Port = portOf(c.http.Addr)
	switch {
	case shared != nil:
		c.server.Clock = shared
	case c.start != nil:
		c.server.Clock = clock.NewManual(*c.start)
	default:
		c.server.Clock = clock.New()
	}
	if c.auditWriter != nil {
		policy, err := audit.ParsePolicy([]byte(c.auditPolicy), c.server.Release.Minor())
		if err != nil {
			return fmt.Errorf("fakeapi: audit policy: %w", optionError(err))
		}
		c.server.Audit = audit.NewLog(policy, c.auditWriter)
	}
	if c.state != nil {
		if c.server.State, err = storage.ReadState(c.state); err != nil {
			return fmt.Errorf("fakeapi: %w", optionError(err))
		}
	}
	if err := c.readWatched(); err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	var watched apiserver.Files
	if c.watched != nil {
		watched = *c.watched
	}
	if err := c.setAuthentication(); err != nil {
		return fmt.Errorf("fakeapi: %w", inputfile.Wrap(watched.AuthenticationConfig, err))
	}
	if err := c.setAuthorization(); err != nil {
		return fmt.Errorf("fakeapi: %w", inputfile.Wrap(watched.AuthorizationConfig, err))
	}
	origins, errs := crossorigin.ParseOrigins(c.allowedOrigins)
	if errs = append(header.CheckTransportSecurity(c.transportSecurity), errs...); len(errs) > 0 {
		return fmt.Errorf("fakeapi: %w", optionError(errors.New(status.Aggregate(errs))))
	}
	c.server.Origins, c.server.StrictTransportSecurity = origins, strings.Join(c.transportSecurity, "; ")
	if err := c.setClientCAs(); err != nil {
		return fmt.Errorf("fakeapi: %w", inputfile.Wrap(watched.ClientCA, err))
	}
	c.reloader = c.newReloader()
	return nil
}

// elsewhere returns the configuration of another server on the same host, with a free port.
func (c *config) elsewhere() *config {
	host, _, err := net.SplitHostPort(c.http.Addr)
	if err != nil { // the default address has a free port
		return c
	}
	other := *c
	other.http.Addr = net.JoinHostPort(host, "0")
	return &other
}

// portOf returns the port number of a TCP address; 0 if it has none.
func portOf(addr string) int {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(text)
	return port
}
