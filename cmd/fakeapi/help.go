package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
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

// invalidValue matches the error of package pflag for a value: what comes before the
// cause, and the name of the flag.
var invalidValue = regexp.MustCompile(`(?s)^(invalid argument .* for "--([\w-]+)" flag: )`)

// expectedValues say what the values of a flag are, by the type of the flag.
var expectedValues = map[string]string{
	"bool":     "it must be true or false",
	"int":      "it must be a whole number, such as 40",
	"uint64":   "it must be a whole number that is not negative, such as 7",
	"float64":  "it must be a number, such as 1.5",
	"duration": "it must be a duration, such as 500ms, 30s or 1h30m",
}

// flagError returns the usageError for an error of package pflag. It says what the values
// of a flag are, and suggests the flag that an unknown one is similar to.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	text := err.Error()
	if m := invalidValue.FindStringSubmatch(text); m != nil {
		if f := cmd.Flag(m[2]); f != nil && expectedValues[f.Value.Type()] != "" {
			text = m[1] + expectedValues[f.Value.Type()]
		}
	} else if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
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

// similarCommands returns the names of the subcommands that a name is similar to.
func similarCommands(cmd *cobra.Command, name string) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if distance(name, sub.Name()) <= max(1, len(name)/3) || strings.HasPrefix(sub.Name(), name) || slices.Contains(sub.SuggestFor, name) {
			names = append(names, sub.Name())
		}
	}
	return names
}

// distance returns the number of bytes to insert, delete or replace, and of neighbours to
// exchange, to make b of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1) // by the lengths of prefixes of a and b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
