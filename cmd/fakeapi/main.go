// Fakeapi is a Kubernetes API server for tests, for those who do not write
// their tests in Go.
//
//	fakeapi serve --listen 127.0.0.1:8080 --kubeconfig fake.kubeconfig
//	kubectl --kubeconfig fake.kubeconfig get namespaces
//	fakeapi play rollout.yaml --server http://127.0.0.1:8080
//
// The exit status is 0 if all went well, 1 if a command failed, and 2 if the
// command line makes no sense.
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

// A command is what follows the program's name.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout io.Writer) error
}

var commands = []command{
	{"serve", "start a server and keep it until interrupted", serve},
	{"play", "play scenarios against a server and compare its answers", play},
	{"record", "write what passes before a real server, or what becomes of its objects, to a scenario", record},
	{"replay", "answer a client from a scenario, in its order", replay},
	{"log", "tell what happened on a server, as text or as a page", log},
	{"version", "print the version of fakeapi and the Kubernetes releases it knows", version},
}

func main() {
	// Objects at rest are few compared with what requests leave behind: a
	// process that does nothing else is better off collecting rarely.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A usageError is about the command line rather than about what it asks for.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// run runs a command line and returns the exit status. When ctx ends, so does
// what runs.
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
