// Fakeapi is a Kubernetes API server for tests.
//
//	fakeapi serve --listen 127.0.0.1:8080 --kubeconfig fake.kubeconfig
//	kubectl --kubeconfig fake.kubeconfig get namespaces
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// A command is what follows the program's name.
type command struct {
	name, summary string
	run           func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

var commands = []command{
	{"serve", "start a server and keep it until interrupted", serve},
	{"version", "print the version of fakeapi and the Kubernetes releases it knows", version},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errUsage says that the command line is wrong, which has been told already.
var errUsage = errors.New("usage")

// run runs a command line and returns the exit status: 0, 1 for a failure, 2
// for a command line that makes no sense.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return 0
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		switch err := c.run(ctx, args[1:], stdout, stderr); {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.Is(err, errUsage):
			return 2
		default:
			fmt.Fprintf(stderr, "fakeapi %s: %v\n", c.name, err)
			return 1
		}
	}
	fmt.Fprintf(stderr, "fakeapi: unknown command %q\n\n", args[0])
	usage(stderr)
	return 2
}

func usage(w io.Writer) {
	fmt.Fprintf(w, "Fakeapi is a Kubernetes API server for tests.\n\nUsage:\n\n\tfakeapi COMMAND [flags]\n\nCommands:\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "\t%-10s %s\n", c.name, c.summary)
	}
	fmt.Fprintf(w, "\nfakeapi COMMAND --help tells the flags of a command.\n")
}

func version(_ context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		fmt.Fprintln(stderr, "usage: fakeapi version")
		return errUsage
	}
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	fmt.Fprintf(stdout, "fakeapi %s\n", v)
	return nil
}
