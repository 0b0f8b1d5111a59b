package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/scenarios"
)

// A replayCommand holds the flags of replay.
type replayCommand struct {
	files      []string
	listen     string
	concurrent bool
}

// replay answers a client from a scenario until ctx ends. It fails if a request was
// unexpected or is missing.
func replay(ctx context.Context, args []string, stdout io.Writer) error {
	c := &replayCommand{}
	if help, err := c.flags().parse(args, stdout); help || err != nil {
		return err
	}
	if len(c.files) != 1 {
		return &usageError{fmt.Errorf("%d files instead of one", len(c.files))}
	}
	f, err := scenarios.Load(c.files[0])
	if err != nil {
		return err
	}
	if len(f.Scenarios) != 1 {
		return fmt.Errorf("%s: %d scenarios instead of one", f.Name, len(f.Scenarios))
	}
	var options []scenarios.ReplayOption
	if c.concurrent {
		options = append(options, scenarios.Concurrent())
	}
	var unexpected atomic.Int64
	replayer, err := scenarios.NewReplayer(f.Scenarios[0], func(problem string) {
		unexpected.Add(1)
		fmt.Fprintln(stdout, problem)
	}, options...)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	srv, err := httptest.Start(replayer, httptest.Options{Addr: c.listen})
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, srv.URL)
	<-ctx.Done()
	srv.Close()
	return replayError(unexpected.Load(), replayer.Remaining())
}

// replayError returns the error of a replay, nil if it has succeeded.
func replayError(unexpected int64, remaining []string) error {
	var problems []string
	if unexpected > 0 {
		problems = append(problems, fmt.Sprintf("unexpected requests: %d", unexpected))
	}
	if len(remaining) > 0 {
		problems = append(problems, "requests not made: "+strings.Join(remaining, "; "))
	}
	if problems == nil {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}

func (c *replayCommand) flags() *flagSet {
	return &flagSet{
		synopsis: "fakeapi replay FILE [flags]",
		operands: &c.files,
		groups: []flagGroup{{"Flags", func(fs *flag.FlagSet) {
			fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`; port 0 is a free port; the URL is printed")
			fs.BoolVar(&c.concurrent, "concurrent", false, "accept requests before remaining requests of other paths, except writes before writes")
		}}},
	}
}
