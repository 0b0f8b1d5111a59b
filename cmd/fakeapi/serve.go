package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/scenarios"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A serveCommand holds the flags of serve. Flags that kube-apiserver has too have
// the same names.
type serveCommand struct {
	listen           string
	replicas         int
	clusters         []string
	allowedHosts     []string
	allowedOrigins   []string
	tls              bool
	certDir          string
	kubeconfig       string
	tokens           string
	enablePlugins    []string
	disablePlugins   []string
	authn            authenticationFlags
	authz            authorizationFlags
	releaseName      string
	profile          string
	runtimeConfig    release.RuntimeConfig
	featureGates     []string
	serviceRanges    []netip.Prefix
	nodePorts        apiserver.PortRange
	objects          []string
	createNamespaces bool
	reenact          string
	speed            float64
	crds             []string
	services         map[string]string
	processes        map[string]string // files with process IDs, by name
	seed             uint64
	clock            time.Time
	history          time.Duration
	historyBytes     int64
	eventTTL         time.Duration
	pace             time.Duration
	controllers      []string
	stages           []string
	compactEvery     time.Duration
	compactKeep      time.Duration
	lags             []lag
	upgrades         []upgrade
	faults           []string
	chaos            uint64
	control          bool
	quiet            bool
	showSecrets      bool
	withParent       bool
	deleteAtEnd      string // a directory
	usage            string
	explore          string // a directory

	inputs  inputFS
	watched apiserver.Files
}

// newServe returns a command without the default values of its flags, which their
// definition sets.
func newServe() *serveCommand {
	return &serveCommand{runtimeConfig: release.RuntimeConfig{}}
}

// flagSet returns the flags, which set the fields of the command.
func (c *serveCommand) flagSet() *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.Usage = func() {}
	for _, g := range c.flags() {
		g.define(flagSet{fs})
	}
	return fs
}

// newServeCommand returns the command serve.
func newServeCommand() *cobra.Command {
	c := newServe()
	cmd := &cobra.Command{
		Use:        "serve",
		Short:      "run a server until interrupted",
		SuggestFor: []string{"run", "start", "up"},
		Args:       noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.inputs = newInputs(cmd.InOrStdin())
			return c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	setFlags(cmd, c.flags()...)
	completeValues(cmd, "authorization-mode", modes...)
	completeValues(cmd, "release", release.Names()...)
	return cmd
}

// run runs a server until ctx ends. When the server is ready, it prints the URL to
// stdout, and how to use the server to stderr.
func (c *serveCommand) run(ctx context.Context, stdout, stderr io.Writer) error {
	stderr = &sharedWriter{w: stderr}
	if c.withParent {
		var stop context.CancelFunc
		ctx, stop = withParent(ctx)
		defer stop()
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	srv, err := c.start(options, stderr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; --listen 127.0.0.1:0 takes a free port", err)
	}
	if err != nil {
		return err
	}
	if c.deleteAtEnd != "" {
		defer os.RemoveAll(c.deleteAtEnd)
	}
	defer srv.Close()
	kubeconfig, remove, err := c.writeKubeconfig(srv, 1)
	if err != nil {
		return err
	}
	defer remove()
	others, remove, err := c.otherServers(srv)
	if err != nil {
		return err
	}
	defer remove()
	defer manageMemory(allClusters(srv))()
	for _, cluster := range allClusters(srv) {
		defer c.upgradeLater(ctx, cluster, stderr)()
	}
	ready := func() {
		if !crossorigin.IsLoopback(c.listen) && c.tokens == "" && !c.authn.isSet() {
			fmt.Fprintf(stderr, "warning: other machines can reach %s, and without --token-auth-file every client is an administrator\n", c.listen)
		}
		fmt.Fprintln(stdout, srv.URL)
		for _, o := range others {
			fmt.Fprintln(stdout, o.url)
		}
		c.printNextSteps(stderr, srv.URL, kubeconfig, others)
	}
	err = c.wait(ctx, srv, ready)
	srv.Close() // no request comes after the usage
	return errors.Join(err, c.writeUsage(srv))
}

// writeUsage writes what clients have asked to the file of --usage.
func (c *serveCommand) writeUsage(srv *fakeapi.Server) error {
	if c.usage == "" {
		return nil
	}
	all := usage.Of(srv)
	for _, cluster := range allClusters(srv)[1:] {
		all.Add(usage.Of(cluster))
	}
	return outputfile.Write(c.usage, 0o666, all.Write)
}

// allClusters returns the servers of all clusters of which srv is one.
func allClusters(srv *fakeapi.Server) []*fakeapi.Server {
	names := clusters.Names(srv)
	if names == nil {
		return []*fakeapi.Server{srv}
	}
	out := make([]*fakeapi.Server, len(names))
	for i, name := range names {
		out[i] = clusters.Get(srv, name)
	}
	return out
}

// start starts a server with the lags and the files of the flags. It logs reloads of the files
// to stderr. The caller must close it.
func (c *serveCommand) start(options []fakeapi.Option, stderr io.Writer) (*fakeapi.Server, error) {
	c.watched.AuthorizationConfig = c.authz.config
	c.watched.OnReload = func(file string, err error) {
		if err != nil {
			fmt.Fprintf(stderr, "E%s fakeapi: \"reading a file again\" err=%q file=%q\n", time.Now().Format(logTime), message(err), file)
			return
		}
		fmt.Fprintf(stderr, "I%s fakeapi: \"read a file again\" file=%q\n", time.Now().Format(logTime), file)
	}
	srv, err := fakeapi.New(append(options, fakeapi.WithAPIServer(apiserver.Config{Files: &c.watched}))...)
	if err != nil {
		return nil, err
	}
	for _, cluster := range allClusters(srv) {
		if c.usage != "" {
			usage.Start(cluster)
		}
		if c.explore != "" {
			explore.Show(cluster, c.explore)
		}
		for _, l := range c.lags {
			if err := l.set(cluster); err != nil {
				srv.Close()
				return nil, &usageError{fmt.Errorf("--lag: %s", message(err))}
			}
		}
	}
	return srv, nil
}

// wait makes the changes of --reenact, if it is given, and waits until ctx ends. It
// calls ready when the server is ready for clients.
func (c *serveCommand) wait(ctx context.Context, srv *fakeapi.Server, ready func()) error {
	if c.reenact != "" {
		return c.serveHistory(ctx, srv, ready)
	}
	ready()
	<-ctx.Done()
	return nil
}

// serveHistory serves and makes the changes of a scenario's history. It calls ready
// when the first ones are made.
func (c *serveCommand) serveHistory(ctx context.Context, srv *fakeapi.Server, ready func()) error {
	f, err := c.inputs.loadOne(c.reenact)
	if err != nil {
		return err
	}
	r, err := scenarios.NewReenactment(srv, f, scenarios.Speed(c.speed))
	if err != nil {
		return err
	}
	if err := r.Start(); err != nil {
		return fmt.Errorf("%s: %w", c.reenact, err)
	}
	ready()
	if err := r.Run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", c.reenact, err)
	}
	<-ctx.Done()
	return nil
}

func (c *serveCommand) flags() []flagGroup {
	return []flagGroup{
		{"Address and credentials", func(fs flagSet) {
			fs.StringVar(&c.listen, "listen", defaultAddress, "listen on `ADDRESS`; port 0 is a free port; the URL is printed")
			fs.IntVar(&c.replicas, "replicas", 1, "run `NUMBER` API servers of one cluster, each with a URL, a kubeconfig, watch caches, lags and faults of its own; the other flags for lags and faults are for the first one")
			fs.StringSliceVar(&c.clusters, "clusters", nil, "run the clusters `NAME`,..., which share the clock and the seed: the first one at --listen, the others at the next ports, with one kubeconfig, which has a context for each; the other flags are for all of them")
			fs.Func("allowed-hosts", allowedHostsUsage, hosts(&c.allowedHosts))
			fs.StringSliceVar(&c.allowedOrigins, "cors-allowed-origins", nil, "let web pages use the server whose origins match the regular expressions `REGEXP`,..., such as ^https://example\\.com$")
			fs.BoolVar(&c.tls, "tls", false, "serve HTTPS with a generated certificate")
			fs.StringVar(&c.certDir, "cert-dir", "", "use apiserver.crt and apiserver.key in `DIR`; they are created if they do not exist")
			fs.StringVar(&c.kubeconfig, "kubeconfig", "", "write a kubeconfig for the server to `FILE`, not to a file in the user's cache directory")
			fs.BoolVar(&c.quiet, "quiet", false, "print only the URL")
			fs.StringVar(&c.usage, "usage", "", "write what clients have asked to `FILE` at the end, for fakeapi usage")
			fs.StringVar(&c.explore, "explore", "", "show on the page of the server what searches of fakeapi explore, and of tests with -explore.dir, leave in `DIRECTORY`")
			fs.BoolVar(&c.withParent, "with-parent", false, "end when the process that started this one has ended")
			fs.StringVar(&c.deleteAtEnd, "delete-at-end", "", "delete `DIR` with all that it has when the server has ended")
			fs.BoolVar(&c.control, "control", true, "serve the control endpoint /debug/fakeapi/")
			fs.BoolVar(&c.showSecrets, "show-secrets", false, "show secrets in stories and in the requests of the control endpoint")
		}},
		{"Authentication and authorization", func(fs flagSet) {
			fs.StringVar(&c.tokens, "token-auth-file", "", "authenticate the users in the CSV `FILE`: token,user,uid,\"group1,group2\"; without it every client is an administrator")
			c.authn.define(fs)
			c.authz.define(fs)
		}},
		{"API", func(fs flagSet) {
			fs.StringVar(&c.releaseName, "release", release.Default, "serve the API of a Kubernetes `RELEASE`, such as 1.35, v1.35.0 or latest; \"fakeapi version\" lists them")
			fs.Func("runtime-config", "turn API versions and resources on and off, as in `KEY=true`,...; keys are api/all, api/ga, api/beta, api/alpha, GROUP/VERSION and GROUP/VERSION/RESOURCE", c.addRuntimeConfig)
			fs.StringVar(&c.profile, "profile", "", "serve the API of the cluster in `FILE`, which fakeapi record --profile writes; its webhooks are called only if --enable-admission-plugins names their plugins")
			fs.Func("feature-gates", "set feature gates of the release, as in `GATE=true`,...; AllAlpha and AllBeta set all of a stage", func(value string) error { c.featureGates = append(c.featureGates, value); return nil })
			fs.Func("service-cluster-ip-range", "assign cluster IPs from `CIDR`, or from two, one per IP family (default 10.0.0.0/24)", c.setServiceRanges)
			fs.Func("service-node-port-range", "assign node ports from `FIRST-LAST` (default 30000-32767)", c.setNodePorts)
			fs.StringSliceVar(&c.enablePlugins, "enable-admission-plugins", nil, "enable the admission plugins `NAME`,... in addition to the default ones")
			fs.StringSliceVar(&c.disablePlugins, "disable-admission-plugins", nil, "disable the admission plugins `NAME`,..., which are enabled by default")
			fs.Func("controllers", "run the controllers in `LIST`, as kube-controller-manager does: * is all of them, with a scheduler and a kubelet; foo turns foo on, -foo turns it off (default none)", selectControllers(&c.controllers))
			fs.StringArrayVar(&c.stages, "stages", nil, "with the controller kubelet, make Pods and Nodes behave as the Stages of KWOK in `FILE` say, which may be a directory, a pattern or -, the standard input; repeatable")
		}},
		{"Initial state", func(fs flagSet) {
			fs.StringArrayVar(&c.crds, "crds", nil, "create the CustomResourceDefinitions in `FILE`, which may be a directory, a pattern or -, the standard input; repeatable")
			fs.Func("webhook-service", "call the webhooks, or the aggregated API server, of a service at an address, as in `NAMESPACE/NAME=ADDRESS`; repeatable", c.setService)
			fs.StringArrayVar(&c.objects, "objects", nil, "create the objects in `FILE`, which may be a directory, a pattern or -, the standard input; repeatable")
			fs.BoolVar(&c.createNamespaces, "create-namespaces", false, "create the namespaces of these objects that do not exist")
			fs.StringVar(&c.reenact, "reenact", "", "make the changes of the history in `FILE`, which fakeapi record --state writes, at their times")
			fs.Float64Var(&c.speed, "speed", 1, "make them `FACTOR` times as fast")
		}},
		{"Time, randomness and faults", func(fs flagSet) {
			fs.Uint64Var(&c.seed, "seed", 0, "generate the same UIDs and names in each run with the seed `NUMBER`; 0 means random")
			fs.Func("manual-clock", "use a clock that stands at `TIME` (RFC 3339) until POST /debug/fakeapi/clock advances it", setTime(&c.clock))
			fs.DurationVar(&c.history, "history", 5*time.Minute, "keep the history of objects for `DURATION`")
			fs.Func("history-bytes", "keep at most `QUANTITY` of the history in memory, as in 512Mi: older watches and continue tokens get 410 (default 256Mi)", c.setHistoryBytes)
			fs.DurationVar(&c.eventTTL, "event-ttl", time.Hour, "delete Events `DURATION` after their last write")
			fs.DurationVar(&c.pace, "pace", 0, "wait for `DURATION` between the two writes of a request that marks an object as deleted and removes it, not on a manual clock")
			fs.DurationVar(&c.compactEvery, "compact-every", 0, "compact the history every `DURATION`: older watches and continue tokens get 410")
			fs.DurationVar(&c.compactKeep, "compact-keep", 0, "keep the last `DURATION` of the history in these compactions")
			fs.Func("upgrade-after", "restart the server with another release after a time, as in `DURATION[=RELEASE]` (30s, 1m=v1.35); without a release, with "+release.Default+"; repeatable", c.setUpgrade)
			fs.Func("lag", "delay the watch caches, as in `[RESOURCE=]LAG`, by a duration (3s), a number of revisions (5) or forever (frozen); repeatable", c.setLag)
			fs.StringArrayVar(&c.faults, "faults", nil, "inject the faults in `FILE`, which may be a directory, a pattern or -, the standard input; repeatable")
			fs.Func("process", "let faults and scenarios send signals to the process whose ID is in a file, by a name, as in `NAME=FILE`; repeatable", c.setProcess)
			fs.Uint64Var(&c.chaos, "chaos", 0, "inject random faults of all types, the same in each run with `SEED`; 0 injects none")
		}},
	}
}

func (c *serveCommand) setProcess(value string) error {
	name, file, ok := strings.Cut(value, "=")
	if !ok || name == "" || file == "" {
		return errors.New("it must be NAME=FILE")
	}
	if c.processes == nil {
		c.processes = map[string]string{}
	}
	c.processes[name] = file
	return nil
}

func (c *serveCommand) setService(value string) error {
	service, addr, ok := strings.Cut(value, "=")
	namespace, name, named := strings.Cut(service, "/")
	if !ok || !named || namespace == "" || name == "" || addr == "" {
		return errors.New("it must be NAMESPACE/NAME=ADDRESS")
	}
	if c.services == nil {
		c.services = map[string]string{}
	}
	c.services[service] = addr
	return nil
}

func (c *serveCommand) setHistoryBytes(value string) error {
	n, err := quantity.Parse(value)
	if err != nil {
		return err
	}
	bytes, ok := n.Int64()
	if !ok || bytes <= 0 {
		return errors.New("it must be a positive number of bytes")
	}
	c.historyBytes = bytes
	return nil
}
