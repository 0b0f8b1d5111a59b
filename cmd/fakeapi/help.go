package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/internal/suggest"
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
	return &usageError{errors.New(flagErrorText(cmd.Flags(), err))}
}

// flagErrorText is the text of a flagError.
func flagErrorText(fs *pflag.FlagSet, err error) string {
	text := err.Error()
	if m := invalidValue.FindStringSubmatch(text); m != nil {
		if f := fs.Lookup(m[2]); f != nil && expectedValues[f.Value.Type()] != "" {
			text = m[1] + expectedValues[f.Value.Type()]
		}
	} else if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		text += similarFlags(fs, name)
	} else if _, word, ok := strings.Cut(text, " in -"); ok && strings.HasPrefix(text, "unknown shorthand flag") {
		// A flag with a single dash.
		name, _, _ := strings.Cut(word, "=")
		text = "unknown flag: -" + name + similarFlags(fs, name)
	}
	return text
}

// withFlag returns the text of an error with the flag in front whose file the text begins with or
// quotes: the value of the flag, or a file that the value stands for. A text that names the flag
// stays as it is.
func withFlag(fs *pflag.FlagSet, text string) string {
	for _, isOf := range []func(text, value string) bool{names, namesPart} {
		found := ""
		fs.VisitAll(func(f *pflag.Flag) {
			values := []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				values = list.GetSlice()
			}
			if found == "" && f.Changed && isOfFile(f) && slices.ContainsFunc(values, func(v string) bool { return v != "" && isOf(text, v) }) {
				found = "--" + f.Name
			}
		})
		switch {
		case found != "" && strings.Contains(text, found):
			return text
		case found != "":
			return found + ": " + text
		}
	}
	return text
}

// isOfFile reports whether the value of a flag is a file or a directory.
func isOfFile(f *pflag.Flag) bool {
	value, _ := pflag.UnquoteUsage(f)
	if annotated := f.Annotations[valueKey]; annotated != nil {
		value = annotated[0]
	}
	// The flags of kube-apiserver have no name of their value.
	return value == "FILE" || value == "DIR" || strings.HasSuffix(f.Name, "-file") || strings.HasSuffix(f.Name, "-config")
}

// names reports whether a text begins with the name of a file, or quotes it, as in "FILE" or
// "PURPOSE::FILE".
func names(text, file string) bool {
	if file == "-" {
		file = stdinName
	}
	before, after, ok := strings.Cut(text, file)
	quoted := (strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "::")) && strings.HasPrefix(after, `"`)
	inWords := strings.HasSuffix(before, " ") && (after == "" || strings.HasPrefix(after, ":") || strings.HasPrefix(after, ","))
	return ok && (before == "" && strings.HasPrefix(after, ":") || quoted || inWords)
}

// namesPart reports whether a text begins with the name of a file in a directory, or of one that a
// pattern matches.
func namesPart(text, value string) bool {
	name, _, _ := strings.Cut(text, ": ")
	matches, _ := filepath.Match(value, name) // a value that is no pattern matches nothing
	return matches || filepath.Dir(name) == filepath.Clean(value)
}

// otherNames are what flags are called elsewhere.
var otherNames = map[string][]string{
	"listen":  {"port", "address", "addr", "bind-address", "secure-port", "host"},
	"release": {"version", "kubernetes-version", "k8s-version"},
	"objects": {"filename", "files", "manifests"},
	"crds":    {"schema-location", "local-crds", "local-schemas"},

	"ignore-missing-kinds": {"ignore-missing-schemas"},
}

// similarFlags ends the error for a flag that does not exist.
func similarFlags(fs *pflag.FlagSet, name string) string {
	var names []suggest.Name
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, suggest.Name{Name: "--" + f.Name, Aliases: append(otherNames[f.Name], f.Name)})
		}
	})
	return suggest.DidYouMeanAny(name, names)
}

// similarCommands ends the error for a subcommand that does not exist.
func similarCommands(cmd *cobra.Command, name string) string {
	var names []suggest.Name
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, suggest.Name{Name: sub.Name(), Aliases: sub.SuggestFor})
		}
	}
	return suggest.DidYouMeanAny(name, names)
}
