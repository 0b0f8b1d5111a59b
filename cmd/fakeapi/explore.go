package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/scenarios"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// An exploreCommand holds the flags of explore.
type exploreCommand struct {
	clusters    []string
	workload    string
	crds        []string
	objects     []string
	controllers []string
	releaseName string

	limit    time.Duration
	plans    int
	parallel int
	seed     uint64
	all      bool
	dir      string
	plan     string
	real     string
	shard    string
	resume   bool
	newOnly  bool
	pace     explore.Pace

	inputs inputFS
	out    io.Writer
}

// newExploreCommand returns the command explore.
func newExploreCommand() *cobra.Command {
	c := &exploreCommand{}
	cmd := &cobra.Command{
		Use:   "explore --workload FILE -- PROGRAM ARGUMENT...",
		Short: "search for a schedule under which a controller misbehaves",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return &usageError{errors.New("no program; write it after --")}
			case c.workload == "":
				return &usageError{errors.New("--workload is missing")}
			}
			c.inputs, c.out = newInputs(cmd.InOrStdin()), cmd.OutOrStdout()
			return c.run(cmd.Context(), args)
		},
	}
	setFlags(cmd, c.flags()...)
	completeValues(cmd, "release", release.Names()...)
	cmd.AddCommand(newExploreMergeCommand())
	return cmd
}

func (c *exploreCommand) flags() []flagGroup {
	return []flagGroup{
		{"System", func(fs flagSet) {
			fs.StringVar(&c.workload, "workload", "", "play the scenarios in `FILE` while the program runs")
			fs.StringArrayVar(&c.crds, "crds", nil, "create the CustomResourceDefinitions in `FILE`, which may be a directory, a pattern or -, the standard input; repeatable")
			fs.StringArrayVar(&c.objects, "objects", nil, "create the objects in `FILE`, which may be a directory, a pattern or -, the standard input; repeatable")
			fs.StringSliceVar(&c.clusters, "clusters", nil, "run the clusters `NAME`,..., as serve does: the kubeconfig has a context for each, and a step of the workload names one with in")
			fs.Func("controllers", "run the controllers of the `LIST`, as serve does", selectControllers(&c.controllers))
			fs.StringVar(&c.releaseName, "release", release.Default, "serve the API of a Kubernetes `RELEASE`, such as 1.35, v1.35.0 or latest; \"fakeapi version\" lists them")
		}},
		{"Search", func(fs flagSet) {
			fs.DurationVar(&c.limit, "for", time.Minute, "search for `DURATION`")
			fs.IntVar(&c.plans, "plans", 0, "run up to `NUMBER` plans; 0 is no limit")
			fs.IntVar(&c.parallel, "parallel", 0, "make `NUMBER` runs at a time (default the number of processors)")
			fs.Uint64Var(&c.seed, "seed", 1, "select the random plans with the seed `NUMBER`")
			fs.BoolVar(&c.all, "all", false, "continue after a finding, and report all")
			fs.StringVar(&c.dir, "dir", "", "play the plans in `DIRECTORY` first, and write the plans, the stories of findings and what was tried into it")
			fs.StringVar(&c.plan, "plan", "", "run only the plan in `FILE`, which --dir has kept")
			fs.StringVar(&c.real, "real", "", "play the plan of --plan against the API server of the kubeconfig `FILE`, through a proxy")
			fs.StringVar(&c.shard, "shard", "", "run the plans of a `SHARD`, such as 2/8; 8 is that of JOB_COMPLETION_INDEX among eight")
			fs.BoolVar(&c.resume, "resume", false, "leave out the plans that earlier searches of the same program have run, as --dir says")
			fs.BoolVar(&c.newOnly, "new-only", false, "try only plans at points that no earlier search had, as --dir says")
		}},
		{"Time", func(fs flagSet) {
			fs.DurationVar(&c.pace.Quiet, "quiet", time.Second, "end a run when nothing was written for `DURATION`")
			fs.DurationVar(&c.pace.Hold, "hold", time.Second, "withhold events for `DURATION`")
			fs.DurationVar(&c.pace.Restart, "restart", 100*time.Millisecond, "start the program again `DURATION` after a crash")
			fs.DurationVar(&c.pace.Limit, "limit", 30*time.Second, "let a run take up to `DURATION` after its workload")
		}},
	}
}

// run searches and prints the report. It fails if there is a finding.
func (c *exploreCommand) run(ctx context.Context, command []string) error {
	shard, err := explore.ParseShard(c.shard)
	if err != nil {
		return &usageError{fmt.Errorf("--shard: %w", err)}
	}
	if (c.resume || c.newOnly) && c.dir == "" {
		return &usageError{errors.New("--resume and --new-only need --dir")}
	}
	if c.real != "" && c.plan == "" {
		return &usageError{errors.New("--real needs --plan")}
	}
	if c.real != "" && c.clusters != nil {
		return &usageError{errors.New("--real and --clusters exclude each other: a real API server plays plans of one cluster")}
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	if _, err := scenarios.Load(c.workload); err != nil {
		return err
	}
	options := []fakeapi.Option{fakeapi.WithRelease(c.releaseName), fakeapi.WithControllers(c.controllers...)}
	crds, err := inputNames(c.crds)
	if err != nil {
		return err
	}
	objects, err := inputNames(c.objects)
	if err != nil {
		return err
	}
	options = append(options, fakeapi.WithCRDs(c.inputs, crds...), fakeapi.WithObjectFiles(c.inputs, objects...))
	for _, name := range c.clusters {
		options = append(options, clusters.With(name))
	}
	dir, err := os.MkdirTemp("", "fakeapi-explore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if c.parallel <= 0 {
		c.parallel = runtime.NumCPU()
	}
	r, err := explore.Search(ctx, explore.System{
		Options: options,
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			return startProgram(ctx, srv, dir, program, command[1:])
		},
		Workload: explore.Scenario(c.workload),
		Pace:     c.pace,
		Seed:     c.seed, For: c.limit, Plans: c.plans, Parallel: c.parallel, All: c.all, Dir: c.dir, PlanFile: c.plan, Real: c.real,
		Shard: shard, Record: c.dir != "", Resume: c.resume, NewOnly: c.newOnly,
		Log: func(line string) { fmt.Fprintln(c.out, line) },
	})
	if err != nil {
		return searchError(err, command[0])
	}
	fmt.Fprintln(c.out, r)
	if n := len(r.Findings); n > 0 {
		return fmt.Errorf("findings: %d", n)
	}
	return nil
}

// searchError returns the error of a search in terms of the command line.
func searchError(err error, program string) error {
	var silent *explore.NoRequestError
	switch {
	case !errors.As(err, &silent):
		return err
	case silent.Exit != "":
		return fmt.Errorf("%s makes no request to its server, and has ended: %s", program, silent.Exit)
	}
	return fmt.Errorf("%s makes no request to its server; {kubeconfig} and {url} in its arguments, and the variable KUBECONFIG, say where the server is", program)
}

// startProgram runs a program until it ends or ctx does, which kills it. In its arguments
// {kubeconfig} is a kubeconfig file for srv in dir, and {url} the URL of srv. The variable
// KUBECONFIG names the file too. Of several clusters the file has a context each.
func startProgram(ctx context.Context, srv *fakeapi.Server, dir, program string, args []string) error {
	file, err := os.CreateTemp(dir, "*.kubeconfig")
	if err != nil {
		return err
	}
	file.Close()
	kubeconfig := filepath.Join(dir, filepath.Base(file.Name()))
	defer os.Remove(kubeconfig)
	if err := outputfile.WriteText(kubeconfig, srv.Kubeconfig(), 0o600); err != nil {
		return err
	}
	replace := strings.NewReplacer("{kubeconfig}", kubeconfig, "{url}", srv.URL)
	expanded := make([]string, len(args))
	for i, arg := range args {
		expanded[i] = replace.Replace(arg)
	}
	var output tail
	cmd := exec.CommandContext(ctx, program, expanded...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = time.Second // for what the program has started
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, output.String())
	}
	<-ctx.Done() // a program that has succeeded is not started again
	return nil
}

// A tail keeps the end of what is written to it. It is not safe for concurrent use;
// os/exec writes with one goroutine.
type tail struct{ bytes.Buffer }

const maxTail = 4 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if extra := t.Len() - maxTail; extra > 0 {
		t.Next(extra)
	}
	return n, err
}
