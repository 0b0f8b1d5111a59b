// Fakeapi is a Kubernetes API server for tests that are not written in Go.
//
//	fakeapi serve
//	kubectl --server http://127.0.0.1:8080 get namespaces
//	fakeapi play rollout.yaml --server 127.0.0.1:8080
//	fakeapi log
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

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/internal/printable"
)

func init() {
	cobra.EnableCommandSorting = false // the help lists commands in the order of newRoot
}

func main() {
	// Stored objects use little memory compared with the garbage of requests, so
	// a less frequent garbage collection saves time.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(highPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(programOf(os.Args[0])(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// A usageError reports an invalid command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// run runs a command line until it ends or ctx ends. It returns the exit status.
// What it prints and is not printable is escaped.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stdout, stderr = printable.Writer(stdout), printable.Writer(stderr)
	root := newRoot()
	if len(args) == 0 {
		root.SetOut(stderr)
		root.Help()
		return 2
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd := root
	err := checkCommand(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings): // they are printed
		return 1
	case errors.As(err, &usage):
		about := cmd
		if cmd.Name() == "help" { // its arguments are the commands of fakeapi
			about = root
		}
		fmt.Fprintf(stderr, "%s: %v\n\"%s --help\" lists the %s.\n", cmd.CommandPath(), err, about.CommandPath(), contents(about))
		return 2
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), withFlag(cmd.Flags(), message(err)))
	return 1
}

// newRoot returns the command fakeapi with its subcommands.
func newRoot() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "fakeapi COMMAND",
		Short: "a Kubernetes API server for tests",
		Long:  "Fakeapi is a Kubernetes API server for tests.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				fmt.Fprintln(cmd.OutOrStdout(), "fakeapi", programVersion())
				return nil
			}
			return cmd.Help() // unreachable: checkCommand
		},
		SilenceErrors:     true, // run prints them
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	setFlags(root, flagGroup{"Flags", func(fs flagSet) { fs.BoolVar(&version, "version", false, "print the version of fakeapi") }})
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(printHelp)
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(
		newServeCommand(),
		newValidateCommand(),
		newPlayCommand(),
		newRecordCommand(),
		newReplayCommand(),
		newExploreCommand(),
		newUsageCommand(),
		newLogCommand(),
		newEnvtestCommand(),
		newCompletionCommand(),
		newVersionCommand(),
	)
	root.InitDefaultHelpCmd()
	return root
}

// checkCommand returns an error that suggests a command if args name a command that
// does not exist.
func checkCommand(root *cobra.Command, args []string) error {
	if args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd {
		return nil
	}
	cmd, rest, err := root.Find(args)
	if err == nil || len(rest) == 0 {
		return nil
	}
	return unknownCommand(cmd, rest[0])
}

// unknownCommand returns the error for a name that is not a subcommand of cmd.
func unknownCommand(cmd *cobra.Command, name string) error {
	return &usageError{fmt.Errorf("unknown command %q%s", name, similarCommands(cmd, name))}
}

// contents returns what the help of a command lists.
func contents(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return "commands"
	}
	return "flags"
}

// message returns the text of an error without the names of Go packages at its
// beginning.
func message(err error) string {
	text := err.Error()
	for {
		rest := text
		for _, pkg := range []string{"fakeapi: ", "httptest: ", "scenarios: ", "explore: ", "mvcc: "} {
			rest = strings.TrimPrefix(rest, pkg)
		}
		if rest == text {
			return text
		}
		text = rest
	}
}
