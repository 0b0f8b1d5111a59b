package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/scenarios"
)

// A replayCommand holds the flags of replay.
type replayCommand struct {
	listen     string
	concurrent bool
}

// newReplayCommand returns the command replay.
func newReplayCommand() *cobra.Command {
	c := &replayCommand{}
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "answer a client with the recorded answers of a scenario",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{fmt.Errorf("expected one FILE, got %d", len(args))}
			}
			if err := checkListen(c.listen); err != nil {
				return err
			}
			return c.run(cmd.Context(), args[0], newInputs(cmd.InOrStdin()), cmd.OutOrStdout())
		},
	}
	setFlags(cmd, flagGroup{"Flags", func(fs flagSet) {
		fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`; port 0 is a free port; the URL is printed")
		fs.BoolVar(&c.concurrent, "concurrent", false, "accept requests before remaining requests of other paths, except writes before writes")
	}})
	return cmd
}

// run answers a client from a scenario until ctx ends. It fails if a request was
// unexpected or is missing.
func (c *replayCommand) run(ctx context.Context, file string, files inputFS, stdout io.Writer) error {
	f, err := files.loadOne(file)
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
	srv, err := httptest.Start(crossorigin.Handler(replayer), httptest.Options{Addr: c.listen})
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
