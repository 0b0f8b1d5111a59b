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

// A replayCommand is the command line of replay.
type replayCommand struct {
	files      []string
	listen     string
	concurrent bool
}

// replay answers a client from a scenario until ctx ends. It fails if the client
// has asked anything else, or not all.
func replay(ctx context.Context, args []string, stdout io.Writer) error {
	c := &replayCommand{}
	if help, err := c.flags().parse(args, stdout); help || err != nil {
		return err
	}
	if len(c.files) != 1 {
		return &usageError{fmt.Errorf("%d files are named instead of one", len(c.files))}
	}
	f, err := scenarios.Load(c.files[0])
	if err != nil {
		return err
	}
	if len(f.Scenarios) != 1 {
		return fmt.Errorf("%s: %d scenarios instead of one", f.Name, len(f.Scenarios))
	}
	var options []scenarios.StrictOption
	if c.concurrent {
		options = append(options, scenarios.Concurrent())
	}
	var unexpected atomic.Int64
	script, err := scenarios.NewScript(f.Scenarios[0], func(problem string) {
		unexpected.Add(1)
		fmt.Fprintln(stdout, problem)
	}, options...)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	srv, err := httptest.Start(script, httptest.Options{Addr: c.listen})
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, srv.URL)
	<-ctx.Done()
	srv.Close()
	return verdict(unexpected.Load(), script.Left())
}

// verdict is the error of a replay.
func verdict(unexpected int64, left []string) error {
	var problems []string
	if unexpected > 0 {
		problems = append(problems, fmt.Sprintf("unexpected requests: %d", unexpected))
	}
	if len(left) > 0 {
		problems = append(problems, "never asked: "+strings.Join(left, "; "))
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
		groups: []flagGroup{{"How it answers", func(fs *flag.FlagSet) {
			fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`, on a free port if that is 0; the URL is printed on start")
			fs.BoolVar(&c.concurrent, "concurrent", false, "let requests come before others of other paths, but for writes among them")
		}}},
	}
}
