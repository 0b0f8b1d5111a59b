package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/scenarios"
)

// A serveCommand is the command line of serve. Flags that kube-apiserver has
// have its names.
type serveCommand struct {
	listen        string
	tls           bool
	certDir       string
	kubeconfig    string
	tokens        string
	authorization string
	profile       string
	runtimeConfig switches
	featureGates  switches
	serviceRanges []netip.Prefix
	objects       string
	scenario      string
	speed         float64
	crds          string
	services      map[string]string
	seed          uint64
	clock         time.Time
	history       time.Duration
	eventTTL      time.Duration
	compactEvery  time.Duration
	compactKeep   time.Duration
	lags          []lag
	faults        []string
	chaos         uint64
	control       bool
}

// serve starts a server, prints its URL and keeps it until ctx ends.
func serve(ctx context.Context, args []string, stdout io.Writer) error {
	c := &serveCommand{runtimeConfig: switches{}, featureGates: switches{}, authorization: "AlwaysAllow"}
	if help, err := c.flags().parse(args, stdout); help || err != nil {
		return err
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	srv, err := fakeapi.New(options...)
	if err != nil {
		return err
	}
	defer srv.Close()
	for _, l := range c.lags {
		if err := l.set(srv); err != nil {
			return err
		}
	}
	if c.kubeconfig != "" {
		if err := srv.WriteKubeconfig(c.kubeconfig); err != nil {
			return err
		}
	}
	if c.scenario != "" {
		return c.replay(ctx, srv, stdout)
	}
	fmt.Fprintln(stdout, srv.URL)
	<-ctx.Done()
	return nil
}

// replay lets the history of a scenario happen while it serves.
func (c *serveCommand) replay(ctx context.Context, srv *fakeapi.Server, stdout io.Writer) error {
	f, err := scenarios.Load(c.scenario)
	if err != nil {
		return err
	}
	p := scenarios.NewPlayback(srv, f, scenarios.Speed(c.speed))
	if err := p.Begin(); err != nil {
		return fmt.Errorf("%s: %w", c.scenario, err)
	}
	fmt.Fprintln(stdout, srv.URL)
	if err := p.Run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", c.scenario, err)
	}
	<-ctx.Done()
	return nil
}

func (c *serveCommand) flags() *flagSet {
	return &flagSet{
		synopsis: "fakeapi serve [flags]",
		groups: []flagGroup{
			{"Where it is reached", func(fs *flag.FlagSet) {
				fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`, on a free port if that is 0; the URL is printed on start")
				fs.BoolVar(&c.tls, "tls", false, "serve HTTPS with a throwaway certificate")
				fs.StringVar(&c.certDir, "cert-dir", "", "keep the certificate in `DIR`, as apiserver.crt and apiserver.key; those that are there are served")
				fs.StringVar(&c.kubeconfig, "kubeconfig", "", "write a kubeconfig to `FILE` on start")
				fs.BoolVar(&c.control, "control", true, "serve /debug/fakeapi/, by which tests compact, reset, move the clock, ...")
			}},
			{"Who may do what", func(fs *flag.FlagSet) {
				fs.StringVar(&c.tokens, "token-auth-file", "", "know the users of the CSV `FILE`: token,user,uid,\"group1,group2\"; without it everybody is an administrator")
				fs.Func("authorization-mode", "authorize by `MODE`: AlwaysAllow, or RBAC, by the roles and bindings in the server (default AlwaysAllow)", c.setAuthorization)
			}},
			{"What it serves", func(fs *flag.FlagSet) {
				fs.StringVar(&c.profile, "profile", release.Default, "serve the API of a Kubernetes `RELEASE`; \"fakeapi version\" lists them")
				fs.Func("runtime-config", "serve all API versions, with `api/all=true`, instead of those on by default", c.runtimeConfig.set)
				fs.Func("feature-gates", "turn features on and off, as in `GATE=true`,...; the one gate is CBORServingAndStorage: application/cbor is spoken", c.setFeatureGates)
				fs.Func("service-cluster-ip-range", "give Services addresses of `CIDR`, or of two, one of each IP family (default 10.0.0.0/24)", c.setServiceRanges)
				fs.Func("controllers", "run the controllers of `LIST`; there are none, so the only value is none (default none)", checkControllers)
			}},
			{"What it starts with", func(fs *flag.FlagSet) {
				fs.StringVar(&c.crds, "crds", "", "serve the custom resources that the CustomResourceDefinitions in `DIR` (*.yaml, *.yml, *.json) define")
				fs.Func("webhook-service", "call the webhooks of a service at an address, with `NAMESPACE/NAME=ADDRESS`; it can be given more than once", c.setService)
				fs.StringVar(&c.objects, "objects", "", "put the objects in `DIR` (*.yaml, *.yml, *.json)")
				fs.StringVar(&c.scenario, "scenario", "", "let the history in `FILE` happen, as fakeapi record --state wrote it")
				fs.Float64Var(&c.speed, "speed", 1, "let it happen `FACTOR` times as fast")
			}},
			{"Time and chance", func(fs *flag.FlagSet) {
				fs.Uint64Var(&c.seed, "seed", 0, "make the same UIDs and generated names in every run with `NUMBER`; 0 makes random ones")
				fs.Func("clock", "let time stand still at `TIME` (RFC 3339) until POST /debug/fakeapi/clock moves it", c.setClock)
				fs.DurationVar(&c.history, "history", 5*time.Minute, "keep old versions for `DURATION`")
				fs.DurationVar(&c.eventTTL, "event-ttl", time.Hour, "delete events `DURATION` after they were last written")
				fs.DurationVar(&c.compactEvery, "compact-every", 0, "compact each time that `DURATION` has passed: watches and continue tokens from before get a 410")
				fs.DurationVar(&c.compactKeep, "compact-keep", 0, "keep the last `DURATION` when compacting by --compact-every")
				fs.Func("lag", "let what is read from watch caches trail, as `[RESOURCE=]LAG`: by 3s, by 5 revisions, or frozen; it can be given more than once", c.setLag)
				fs.Func("faults", "inject the faults that the YAML or JSON `FILE` lists, which may be a pattern; it can be given more than once", c.setFaults)
				fs.Uint64Var(&c.chaos, "chaos", 0, "inject a bit of everything that goes wrong, the same in every run with `SEED`; 0 is none")
			}},
		},
	}
}

func (c *serveCommand) setAuthorization(mode string) error {
	if mode != "AlwaysAllow" && mode != "RBAC" {
		return errors.New("it is neither AlwaysAllow nor RBAC")
	}
	c.authorization = mode
	return nil
}

func (c *serveCommand) setFeatureGates(value string) error {
	if err := c.featureGates.set(value); err != nil {
		return err
	}
	return apiserver.CheckFeatureGates(c.featureGates)
}

func (c *serveCommand) setService(value string) error {
	service, addr, ok := strings.Cut(value, "=")
	namespace, name, named := strings.Cut(service, "/")
	if !ok || !named || namespace == "" || name == "" || addr == "" {
		return errors.New("it is not of the form NAMESPACE/NAME=ADDRESS")
	}
	if c.services == nil {
		c.services = map[string]string{}
	}
	c.services[service] = addr
	return nil
}

func (c *serveCommand) setFaults(file string) error {
	c.faults = append(c.faults, file)
	return nil
}

func (c *serveCommand) setClock(value string) (err error) {
	c.clock, err = time.Parse(time.RFC3339, value)
	return err
}

// options are those of the server that the command line asks for.
func (c *serveCommand) options() ([]fakeapi.Option, error) {
	release, err := c.release()
	if err != nil {
		return nil, &usageError{err}
	}
	options := []fakeapi.Option{
		fakeapi.WithAddress(c.listen),
		fakeapi.WithProfile(release),
		fakeapi.WithFeatureGates(c.featureGates),
		fakeapi.WithServiceRanges(c.serviceRanges...),
		fakeapi.WithSeed(c.seed),
		fakeapi.WithClock(c.clock),
		fakeapi.WithHistory(c.history),
		fakeapi.WithEventTTL(c.eventTTL),
		fakeapi.WithCompaction(c.compactEvery, c.compactKeep),
	}
	switch {
	case c.tls:
		options = append(options, fakeapi.WithTLS(), fakeapi.WithCertDir(c.certDir))
	case c.certDir != "":
		return nil, &usageError{errors.New("--cert-dir needs --tls")}
	}
	if c.history <= 0 {
		return nil, &usageError{errors.New("--history must be positive")}
	}
	if c.eventTTL <= 0 {
		return nil, &usageError{errors.New("--event-ttl must be positive")}
	}
	if c.compactEvery < 0 || c.compactKeep < 0 {
		return nil, &usageError{errors.New("--compact-every and --compact-keep must not be negative")}
	}
	if !(c.speed > 0) {
		return nil, &usageError{errors.New("--speed must be positive")}
	}
	if c.authorization == "RBAC" {
		options = append(options, fakeapi.WithRBAC())
	}
	if !c.control {
		options = append(options, fakeapi.WithoutControl())
	}
	for _, file := range c.faults {
		options = append(options, fakeapi.WithFaultFiles(os.DirFS(filepath.Dir(file)), filepath.Base(file)))
	}
	if c.chaos != 0 {
		options = append(options, fakeapi.WithFaults(fakeapi.Chaos(c.chaos)...))
	}
	if c.tokens != "" {
		users, err := readTokens(c.tokens)
		if err != nil {
			return nil, err
		}
		options = append(options, users...)
	}
	for _, load := range []struct {
		dir  string
		with func(fs.FS, ...string) fakeapi.Option
	}{{c.crds, fakeapi.WithCRDs}, {c.objects, fakeapi.WithObjectFiles}} {
		if load.dir == "" {
			continue
		}
		globs, err := objectFiles(load.dir)
		if err != nil {
			return nil, err
		}
		options = append(options, load.with(os.DirFS(load.dir), globs...))
	}
	for service, addr := range c.services {
		namespace, name, _ := strings.Cut(service, "/")
		options = append(options, fakeapi.WithWebhookService(namespace, name, addr))
	}
	return options, nil
}

// release is the name of the profile to serve.
func (c *serveCommand) release() (string, error) {
	name := c.profile
	for _, key := range slices.Sorted(maps.Keys(c.runtimeConfig)) {
		if key != "api/all" {
			return "", fmt.Errorf("--runtime-config: %q cannot be turned on or off, only api/all can", key)
		}
		name = strings.TrimSuffix(name, "-all")
		if c.runtimeConfig[key] {
			name += "-all"
		}
	}
	if _, err := release.Open(name); err != nil {
		return "", fmt.Errorf("--profile: %w", err)
	}
	return name, nil
}

// objectFiles are the globs of the YAML and JSON files of a directory, of which
// there must be one.
func objectFiles(dir string) ([]string, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	fsys := os.DirFS(dir)
	var globs []string
	for _, glob := range []string{"*.yaml", "*.yml", "*.json"} {
		names, err := fs.Glob(fsys, glob)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			globs = append(globs, glob)
		}
	}
	if len(globs) == 0 {
		return nil, fmt.Errorf("no .yaml, .yml or .json file in %s", dir)
	}
	return globs, nil
}
