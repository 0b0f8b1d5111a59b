// Fakeapi is a Kubernetes API server for tests that are not written in Go.
//
//	fakeapi serve --listen 127.0.0.1:8080 --kubeconfig fake.kubeconfig
//	kubectl --kubeconfig fake.kubeconfig get namespaces
//	fakeapi play rollout.yaml --server http://127.0.0.1:8080
//
// The exit status is 0 after success, 1 if a command failed, and 2 for an invalid
// command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// A command is a subcommand of fakeapi.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout io.Writer) error
}

var commands = []command{
	{"serve", "run a server until interrupted", serve},
	{"play", "send the requests of scenarios to a server and compare its answers", play},
	{"record", "record the traffic of a server, or the changes of its objects, to a scenario", record},
	{"replay", "answer a client with the recorded answers of a scenario", replay},
	{"log", "print the story of a server, as text or as an HTML page", log},
	{"version", "print the version of fakeapi and the supported Kubernetes releases", version},
}

func main() {
	// Stored objects use little memory compared with the garbage of requests, so
	// a less frequent garbage collection saves time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A usageError reports an invalid command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// run runs a command line until it ends or ctx ends. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		printCommands(stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		printCommands(stdout)
		return 0
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:], stdout)
		var usage *usageError
		switch {
		case err == nil:
			return 0
		case errors.As(err, &usage):
			fmt.Fprintf(stderr, "fakeapi %s: %v\n\"fakeapi %s --help\" lists the flags.\n", c.name, err, c.name)
			return 2
		}
		fmt.Fprintf(stderr, "fakeapi %s: %s\n", c.name, strings.TrimPrefix(err.Error(), "fakeapi: "))
		return 1
	}
	fmt.Fprintf(stderr, "fakeapi: unknown command %q\n\n", args[0])
	printCommands(stderr)
	return 2
}

func printCommands(w io.Writer) {
	fmt.Fprint(w, "Fakeapi is a Kubernetes API server for tests.\n\nUsage:\n\n  fakeapi COMMAND [flags]\n\nCommands:\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-8s  %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\n\"fakeapi COMMAND --help\" lists the flags of a command.\n")
}
