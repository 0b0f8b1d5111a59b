package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/scenarios"
)

// A serveCommand holds the flags of serve. Flags that kube-apiserver has too have
// the same names.
type serveCommand struct {
	listen           string
	replicas         int
	allowedHosts     []string
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
	usage            string

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
			c.inputs = inputFS{cmd.InOrStdin()}
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
	defer srv.Close()
	kubeconfig, remove, err := c.writeKubeconfig(srv, 1)
	if err != nil {
		return err
	}
	defer remove()
	replicas, remove, err := c.startReplicas(srv)
	if err != nil {
		return err
	}
	defer remove()
	defer manageMemory(srv)()
	defer c.upgradeLater(ctx, srv, stderr)()
	ready := func() {
		if !crossorigin.IsLoopback(c.listen) && c.tokens == "" && !c.authn.isSet() {
			fmt.Fprintf(stderr, "warning: other machines can reach %s, and without --token-auth-file every client is an administrator\n", c.listen)
		}
		fmt.Fprintln(stdout, srv.URL)
		for _, r := range replicas {
			fmt.Fprintln(stdout, r.url)
		}
		c.printNextSteps(stderr, srv.URL, kubeconfig, replicas)
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
	return outputfile.Write(c.usage, 0o666, usage.Of(srv).Write)
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
	if c.usage != "" {
		usage.Start(srv)
	}
	for _, l := range c.lags {
		if err := l.set(srv); err != nil {
			srv.Close()
			return nil, &usageError{fmt.Errorf("--lag: %s", message(err))}
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
			fs.Func("allowed-hosts", allowedHostsUsage, hosts(&c.allowedHosts))
			fs.BoolVar(&c.tls, "tls", false, "serve HTTPS with a generated certificate")
			fs.StringVar(&c.certDir, "cert-dir", "", "use apiserver.crt and apiserver.key in `DIR`; they are created if they do not exist")
			fs.StringVar(&c.kubeconfig, "kubeconfig", "", "write a kubeconfig for the server to `FILE`, not to a file in the user's cache directory")
			fs.BoolVar(&c.quiet, "quiet", false, "print only the URL")
			fs.StringVar(&c.usage, "usage", "", "write what clients have asked to `FILE` at the end, for fakeapi usage")
			fs.BoolVar(&c.withParent, "with-parent", false, "end when the process that started this one has ended")
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
			fs.Func("runtime-config", "turn API versions and resources on and off, as in `KEY=true`,...; keys are api/all, api/ga, api/beta, api/alpha, GROUP/VERSION and GROUP/VERSION/RESOURCE", c.setRuntimeConfig)
			fs.StringVar(&c.profile, "profile", "", "serve the API of the cluster in `FILE`, which fakeapi record --profile writes; its webhooks are called only if --enable-admission-plugins names their plugins")
			fs.Func("feature-gates", "set feature gates of the release, as in `GATE=true`,...; AllAlpha and AllBeta set all of a stage", func(value string) error { c.featureGates = append(c.featureGates, value); return nil })
			fs.Func("service-cluster-ip-range", "assign cluster IPs from `CIDR`, or from two, one per IP family (default 10.0.0.0/24)", c.setServiceRanges)
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
	n, err := wire.ParseQuantity(value)
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

// options returns the server options for the flags.
func (c *serveCommand) options() ([]fakeapi.Option, error) {
	if err := c.checkRelease(); err != nil {
		return nil, &usageError{err}
	}
	if err := checkListen(c.listen); err != nil {
		return nil, err
	}
	gates, _ := c.gates() // checkRelease has checked them
	options := []fakeapi.Option{
		fakeapi.WithAddress(c.listen),
		fakeapi.WithAPIServer(apiserver.Config{
			AllowedHosts:            c.allowedHosts,
			RuntimeConfig:           c.runtimeConfig,
			FeatureGates:            gates,
			EnableAdmissionPlugins:  c.enablePlugins,
			DisableAdmissionPlugins: c.disablePlugins,
			ServiceClusterIPRanges:  c.serviceRanges,
			EventTTL:                c.eventTTL,
			CompactionInterval:      c.compactEvery,
			CompactionKeep:          c.compactKeep,
		}),
		fakeapi.WithSeed(c.seed),
		fakeapi.WithHistory(fakeapi.History{Age: c.history, Bytes: c.historyBytes}),
		fakeapi.WithPace(c.pace),
		fakeapi.WithControllers(c.controllers...),
	}
	if c.profile != "" {
		options = append(options, fakeapi.WithProfileFile(c.profile))
	}
	if c.profile == "" || c.releaseName != release.Default {
		options = append(options, fakeapi.WithRelease(c.releaseName))
	}
	if !c.clock.IsZero() {
		options = append(options, fakeapi.WithManualClock(c.clock))
	}
	switch {
	case c.tls:
		options = append(options, fakeapi.WithTLS(), fakeapi.WithAPIServer(apiserver.Config{CertDir: c.certDir}))
	case c.certDir != "":
		return nil, &usageError{errors.New("--cert-dir needs --tls")}
	}
	if c.replicas < 1 || c.replicas > maxReplicas {
		return nil, &usageError{fmt.Errorf("--replicas must be from 1 to %d", maxReplicas)}
	}
	if c.history <= 0 {
		return nil, &usageError{errors.New("--history must be positive")}
	}
	if c.eventTTL <= 0 {
		return nil, &usageError{errors.New("--event-ttl must be positive")}
	}
	if c.pace < 0 {
		return nil, &usageError{errors.New("--pace must not be negative")}
	}
	if c.compactEvery < 0 || c.compactKeep < 0 {
		return nil, &usageError{errors.New("--compact-every and --compact-keep must not be negative")}
	}
	if !(c.speed > 0) {
		return nil, &usageError{errors.New("--speed must be positive")}
	}
	switch {
	case c.compactKeep != 0 && c.compactEvery == 0:
		return nil, &usageError{errors.New("--compact-keep needs --compact-every")}
	case c.speed != 1 && c.reenact == "":
		return nil, &usageError{errors.New("--speed needs --reenact")}
	case c.createNamespaces && c.objects == nil:
		return nil, &usageError{errors.New("--create-namespaces needs --objects")}
	}
	if errs := c.authz.validate(); len(errs) > 0 {
		return nil, &usageError{errors.New(status.Aggregate(errs))}
	}
	authorization, err := c.authz.options()
	if err != nil {
		return nil, err
	}
	options = append(options, authorization...)
	if !c.control {
		options = append(options, fakeapi.WithoutControl())
	}
	if c.showSecrets {
		options = append(options, fakeapi.WithSecretsShown())
	}
	if c.chaos != 0 {
		options = append(options, fakeapi.WithFaults(faults.Chaos(c.chaos)...))
	}
	if c.tokens != "" {
		users, err := readTokens(c.tokens)
		if err != nil {
			return nil, err
		}
		options = append(options, users...)
	}
	served, _ := release.Open(c.releaseName) // checkRelease has checked it
	authentication, err := c.authentication(served.Minor())
	if err != nil {
		return nil, err
	}
	options = append(options, authentication...)
	files, err := c.files()
	if err != nil {
		return nil, err
	}
	options = append(options, files...)
	if c.createNamespaces {
		options = append(options, fakeapi.WithNamespaces())
	}
	for service, addr := range c.services {
		namespace, name, _ := strings.Cut(service, "/")
		options = append(options, fakeapi.WithWebhookService(namespace, name, addr))
	}
	for name, file := range c.processes {
		options = append(options, fakeapi.WithProcess(name, func(s os.Signal) error { return signalProcess(file, s) }))
	}
	return options, nil
}

// checkRelease returns an error for an unknown release, and for a --runtime-config,
// --feature-gates and admission plugins that it cannot have.
func (c *serveCommand) checkRelease() error {
	r, err := release.Open(c.releaseName)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	if _, err := r.Select(c.runtimeConfig); err != nil {
		return fmt.Errorf("--runtime-config: %w", err)
	}
	if _, err := c.gates(); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	if c.profile != "" && c.releaseName == release.Default {
		if r = profileRelease(c.profile); r == nil {
			return nil // the start of the server reports the error of the profile
		}
	}
	if errs := (plugin.Selection{Enable: c.enablePlugins, Disable: c.disablePlugins}).Check(r.Minor()); len(errs) > 0 {
		return errors.New(strings.NewReplacer("enable-admission-", "--enable-admission-", "disable-admission-", "--disable-admission-").Replace(status.Aggregate(errs)))
	}
	return nil
}

// profileRelease returns the release of a profile, nil if the file cannot be read.
func profileRelease(file string) *release.Release {
	text, err := inputfile.Read(file)
	if err != nil {
		return nil
	}
	p, err := profile.Parse(text)
	if err != nil {
		return nil
	}
	r, err := release.Open(p.Release)
	if err != nil {
		return nil
	}
	return r
}

// gates returns the feature gates of --feature-gates, or an error if the release cannot
// have them.
func (c *serveCommand) gates() (map[string]bool, error) {
	set, err := release.ParseGates(c.featureGates)
	if err != nil {
		return nil, err
	}
	r, err := release.Open(c.releaseName)
	if err != nil {
		return nil, err
	}
	_, err = r.WithGates(set)
	return set, err
}

// setRuntimeConfig adds the keys of --runtime-config. A key without a value is true.
func (c *serveCommand) setRuntimeConfig(value string) error {
	for _, part := range strings.Split(value, ",") {
		key, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		if key == "" {
			continue
		}
		on, err := strconv.ParseBool(text)
		// api/v1 is another name of v1, and api/legacy has no effect.
		isStage := strings.HasPrefix(key, "api/") && key != "api/v1" && !strings.HasPrefix(key, "api/v1/") && key != "api/legacy"
		switch {
		case isStage && text != "true" && text != "false":
			return fmt.Errorf("invalid value %s=%s", key, text)
		case text == "":
			on = true
		case err != nil:
			return fmt.Errorf("invalid value of %s: %s, err: %v", key, text, err)
		}
		c.runtimeConfig[key] = on
	}
	return nil
}

// files returns the server options for the flags that name files of several objects.
func (c *serveCommand) files() (options []fakeapi.Option, err error) {
	flags := []struct {
		values []string
		with   func(fs.FS, ...string) (fakeapi.Option, error)
		names  []string
	}{
		{values: c.crds, with: withFiles(fakeapi.WithCRDs)}, {values: c.objects, with: withFiles(fakeapi.WithObjectFiles)},
		{values: c.faults, with: withFaultFiles}, {values: c.stages, with: withFiles(fakeapi.WithStages)},
	}
	stdin := 0
	for i := range flags {
		if flags[i].names, err = inputNames(flags[i].values); err != nil {
			return nil, err
		}
		if slices.Contains(flags[i].names, stdinName) {
			stdin++
		}
	}
	if stdin > 1 {
		return nil, &usageError{errors.New("only one flag can read the standard input")}
	}
	for _, f := range flags {
		option, err := f.with(c.inputs, f.names...)
		if err != nil {
			return nil, err
		}
		options = append(options, option)
	}
	return options, nil
}

// withFiles returns a function that returns an option for files, which the server reads.
func withFiles(with func(fs.FS, ...string) fakeapi.Option) func(fs.FS, ...string) (fakeapi.Option, error) {
	return func(fsys fs.FS, globs ...string) (fakeapi.Option, error) { return with(fsys, globs...), nil }
}

// withFaultFiles returns the option for the faults of files.
func withFaultFiles(fsys fs.FS, globs ...string) (fakeapi.Option, error) {
	list, err := faults.ParseFiles(fsys, globs...)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return fakeapi.WithFaults(list...), nil
}
