package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/scenarios"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A playCommand holds the flags of play.
type playCommand struct {
	run        string
	update     bool
	transcript string
	timeout    time.Duration
	output     string
	coverage   bool
	minimum    float64

	target   target
	token    string
	ca       string
	insecure bool

	releaseName string
	seed        uint64
	clock       time.Time

	inputs inputFS
	out    io.Writer
}

// newPlayCommand returns the command play.
func newPlayCommand() *cobra.Command {
	c := &playCommand{}
	cmd := &cobra.Command{
		Use:        "play FILE...",
		Short:      "send the requests of scenarios to a server and compare its answers",
		SuggestFor: []string{"test", "compare"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("no files")}
			}
			c.inputs, c.out = newInputs(cmd.InOrStdin()), cmd.OutOrStdout()
			return c.play(cmd.Context(), args)
		},
	}
	setFlags(cmd, c.flags()...)
	completeValues(cmd, "release", release.Names()...)
	completeValues(cmd, "output", playFormats...)
	return cmd
}

// play plays the scenarios of files and prints the differences and a score.
func (c *playCommand) play(ctx context.Context, args []string) (err error) {
	files, err := inputNames(args)
	if err != nil {
		return err
	}
	if c.update && slices.Contains(files, stdinName) {
		return &usageError{errors.New("--update cannot rewrite the standard input")}
	}
	report := newPlayReport(c.output, c.out)
	if report == nil {
		return &usageError{fmt.Errorf("--output: %q is not one of %s", c.output, strings.Join(playFormats, ", "))}
	}
	player, err := c.player(ctx)
	if err != nil {
		return err
	}
	if c.coverage || c.minimum > 0 {
		player.Coverage = &scenarios.Coverage{}
	}
	if c.transcript != "" {
		file, createErr := os.Create(c.transcript)
		if createErr != nil {
			return createErr
		}
		transcript := &transcriptFile{file: file}
		player.Transcript = transcript
		defer func() { err = errors.Join(err, transcript.close()) }()
	}
	var all score
	start := time.Now()
	for _, name := range files {
		s, err := c.playFile(ctx, name, player, report)
		if err != nil {
			return err
		}
		report.file(name, s)
		all.add(s)
	}
	if err := report.end(len(files), all, player.Coverage, time.Since(start)); err != nil {
		return err
	}
	if all.scenarios == 0 && c.run != "" {
		return fmt.Errorf("no scenario's area/name contains %q", c.run)
	}
	if all.failed() && !c.update {
		return fmt.Errorf("%d of %d scenarios differ", all.scenarios-all.passed, all.scenarios)
	}
	return c.checkCoverage(player.Coverage)
}

// checkCoverage fails if less is covered than --min-coverage says.
func (c *playCommand) checkCoverage(covered *scenarios.Coverage) error {
	switch {
	case c.minimum == 0:
		return nil
	case len(covered.Rules) == 0:
		return errors.New("--min-coverage: the scenarios have no policies, webhooks with match conditions, or definitions with rules")
	case covered.Percent() < c.minimum:
		return fmt.Errorf("the coverage is %.1f%%, and --min-coverage %g%%", covered.Percent(), c.minimum)
	}
	return nil
}

// A transcriptFile is the file of --transcript. It remembers the first error, as a Player has
// nothing to do with it.
type transcriptFile struct {
	file *os.File
	err  error
}

// Write implements [io.Writer].
func (t *transcriptFile) Write(b []byte) (int, error) {
	n, err := t.file.Write(b)
	t.err = cmp.Or(t.err, err)
	return n, err
}

// close closes the file. It returns the first error.
func (t *transcriptFile) close() error { return cmp.Or(t.err, t.file.Close()) }

func (c *playCommand) flags() []flagGroup {
	return []flagGroup{
		{"Scenarios", func(fs flagSet) {
			fs.StringVar(&c.run, "run", "", "play only scenarios whose area/name contains `TEXT`")
			fs.BoolVar(&c.update, "update", false, "write the differing answers of the server into the files")
			fs.StringVar(&c.transcript, "transcript", "", "write all requests and answers to `FILE`")
			fs.StringVarP(&c.output, "output", "o", "text", "print the results as `FORMAT`: text, json or junit")
			fs.BoolVar(&c.coverage, "coverage", false, "print how often the expressions of policies, match conditions and rules had which result")
			fs.Float64Var(&c.minimum, "min-coverage", 0, "fail if less than `PERCENT` of these results are covered")
			fs.DurationVar(&c.timeout, "timeout", 0, "wait up to `DURATION` for events and expected answers (default 2s)")
		}},
		{"Play against a running server", func(fs flagSet) {
			fs.StringVar(&c.target.server, "server", "", "send the requests to the server at `URL`, such as "+defaultAddress)
			fs.StringVar(&c.target.kubeconfig, "kubeconfig", "", "use the server and the token of the kubeconfig `FILE` instead")
			fs.StringVar(&c.token, "token", "", "send the bearer token `TOKEN` in steps without a user; \"none\" sends none")
			fs.StringVar(&c.ca, "certificate-authority", "", "trust the CA certificates in `FILE`")
			fs.BoolVar(&c.insecure, "insecure-skip-tls-verify", false, "do not verify the server's certificate")
		}},
		{"Or play each scenario against a new server", func(fs flagSet) {
			fs.StringVar(&c.releaseName, "release", release.Default, "serve the API of a Kubernetes `RELEASE`, such as 1.35, v1.35.0 or latest; \"fakeapi version\" lists them")
			fs.Uint64Var(&c.seed, "seed", 1, "generate the same UIDs and names in each play with the seed `NUMBER`; 0 means random")
			fs.Func("manual-clock", "use a clock that stands at `TIME` (RFC 3339) until a scenario advances it", setTime(&c.clock))
		}},
	}
}

// player returns a player for the server that the flags select. It has no URL if each
// scenario needs a new server.
func (c *playCommand) player(ctx context.Context) (*scenarios.Player, error) {
	p := &scenarios.Player{Token: c.token, Timeout: c.timeout}
	if !c.target.given() {
		return p, nil
	}
	cluster, err := c.target.cluster(ctx)
	if err != nil {
		return nil, err
	}
	p.URL, p.Transport = cluster.URL, cluster.Base
	if p.Token == "" {
		p.Token = cluster.Token
	}
	if c.ca == "" && !c.insecure {
		return p, nil
	}
	config := &tls.Config{InsecureSkipVerify: c.insecure}
	if c.ca != "" {
		pem, err := inputfile.Read(c.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate", c.ca)
		}
	}
	p.Transport = &http.Transport{TLSClientConfig: config, DisableCompression: true}
	return p, nil
}

// playFile plays the scenarios of a file.
func (c *playCommand) playFile(ctx context.Context, name string, player *scenarios.Player, report playReport) (score, error) {
	var sum score
	f, err := c.inputs.loadScenarios(name)
	if err != nil {
		if _, notPlan := explore.ReadPlan(name); notPlan == nil {
			return sum, fmt.Errorf("%s: it is a plan for a program under a workload, and not a scenario; play it with them: "+
				"fakeapi explore --plan %s --workload FILE -- PROGRAM, or go test -explore.plan %s", name, name, name)
		}
		return sum, err
	}
	var results []*scenarios.Result
	for _, s := range f.Scenarios {
		if !strings.Contains(s.String(), c.run) {
			continue
		}
		r, err := c.playScenario(ctx, s, *player)
		if err != nil {
			return sum, fmt.Errorf("%s: %s: %w", name, s, err)
		}
		if err := ctx.Err(); err != nil {
			return sum, err
		}
		report.scenario(name, r)
		sum.count(r)
		results = append(results, r)
	}
	if c.update {
		err = f.Update(results...)
	}
	return sum, err
}

// playScenario plays a scenario against the server at --server, or against a new
// server with RBAC, the scenario's feature gates, and two users: an administrator and
// one without permissions.
func (c *playCommand) playScenario(ctx context.Context, s *scenarios.Scenario, p scenarios.Player) (*scenarios.Result, error) {
	if p.URL != "" {
		return p.Play(ctx, s), nil
	}
	gates := map[string]bool{}
	for _, g := range s.Gates {
		gates[g] = true
	}
	options := []fakeapi.Option{
		fakeapi.WithInMemory(),
		fakeapi.WithRBAC(),
		fakeapi.WithToken(scenarios.DefaultToken, fakeapi.User{Name: "admin", UID: "admin", Groups: []string{"system:masters"}}),
		fakeapi.WithToken("alicetoken", fakeapi.User{Name: "alice", UID: "alice", Groups: []string{"devs"}}),
		fakeapi.WithAPIServer(apiserver.Config{FeatureGates: gates}),
		fakeapi.WithRelease(c.releaseName),
		fakeapi.WithSeed(c.seed),
	}
	if !c.clock.IsZero() {
		options = append(options, fakeapi.WithManualClock(c.clock))
	}
	srv, err := fakeapi.New(options...)
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	p.URL, p.Transport = srv.URL, srv.Transport()
	return p.Play(ctx, s), nil
}

// A score counts scenarios and answers, and those without differences.
type score struct{ scenarios, passed, answers, same int }

func (s *score) count(r *scenarios.Result) {
	s.scenarios++
	if !r.Failed() {
		s.passed++
	}
	for _, a := range r.Answers() {
		s.answers++
		if a.Result != nil && len(a.Result.Diffs) == 0 {
			s.same++
		}
	}
}

func (s *score) add(o score) {
	s.scenarios += o.scenarios
	s.passed += o.passed
	s.answers += o.answers
	s.same += o.same
}

func (s score) failed() bool { return s.passed < s.scenarios }

func (s score) String() string {
	return fmt.Sprintf("scenarios %d/%d, answers %d/%d", s.passed, s.scenarios, s.same, s.answers)
}
