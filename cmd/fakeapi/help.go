package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newHelpCommand returns the command help.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "print the flags of a command",
		Hidden: true, // the help of fakeapi mentions it
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(about, rest[0])
			}
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if about, _, err := cmd.Root().Find(args); err == nil {
				for _, sub := range about.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// printHelp prints the help of a command: its subcommands, and its flags in their
// groups, a line for each one with its default.
func printHelp(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if cmd.Long != "" {
		fmt.Fprintf(w, "%s\n\n", cmd.Long)
	}
	fmt.Fprintf(w, "Usage:\n\n  %s\n", synopsis(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-10s  %s\n", sub.Name(), sub.Short)
			}
		}
	}
	titles, flags := flagsByGroup(cmd)
	for _, title := range titles {
		fmt.Fprintf(w, "\n%s:\n\n", title)
		for _, f := range flags[title] {
			printFlag(w, f)
		}
	}
	if cmd.HasAvailableSubCommands() {
		root := cmd.Root().Name()
		fmt.Fprintf(w, "\n\"%s help%s COMMAND\" lists the flags of a command.\n", root, strings.TrimPrefix(cmd.CommandPath(), root))
	}
}

// synopsis returns the usage line of a command.
func synopsis(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if _, arguments, ok := strings.Cut(cmd.Use, " "); ok {
		line += " " + arguments
	}
	if titles, _ := flagsByGroup(cmd); titles != nil {
		line += " [flags]"
	}
	return line
}

func printFlag(w io.Writer, f *pflag.Flag) {
	value, usage := f.Annotations[valueKey][0], f.Usage
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(w, "  %-31s  %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
}

// flagError returns the usageError for an error of package pflag. It suggests the
// flag that an unknown one is similar to.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		if similar := similarFlag(cmd, name); similar != "" {
			text += "; did you mean --" + similar + "?"
		}
	} else if _, word, ok := strings.Cut(text, " in -"); ok && strings.HasPrefix(text, "unknown shorthand flag") {
		// A flag with a single dash.
		name, _, _ := strings.Cut(word, "=")
		text = "unknown flag: -" + name
		if similar := similarFlag(cmd, name); similar != "" {
			text += "; did you mean --" + similar + "?"
		}
	}
	return &usageError{errors.New(text)}
}

// similarFlag returns the name of the flag that differs least from a name, "" if
// none is similar.
func similarFlag(cmd *cobra.Command, name string) (best string) {
	least := 1 + max(1, len(name)/3)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		d := distance(name, f.Name)
		if strings.HasPrefix(f.Name, name) {
			d = 1
		}
		if !f.Hidden && d < least {
			best, least = f.Name, d
		}
	})
	return best
}

// distance returns the number of bytes to insert, delete or replace to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of a[:i], by the length of the prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
