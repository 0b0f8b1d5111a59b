package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/allocator"
)

// A flagSet is the flags of a command, in the groups of its help.
type flagSet struct {
	synopsis string
	groups   []flagGroup
	// operands gets the arguments that are not flags. If it is nil, such an
	// argument is an error.
	operands *[]string
}

// A flagGroup is a set of related flags.
type flagGroup struct {
	title  string
	define func(*flag.FlagSet)
}

// parse parses a command line. If that asks for help, parse prints the help to
// stdout and returns true. Its errors are usageErrors.
func (s *flagSet) parse(args []string, stdout io.Writer) (help bool, err error) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	all.SetOutput(io.Discard) // the caller prints the error
	all.Usage = func() {}
	for _, g := range s.groups {
		g.define(all)
	}
	for {
		switch err := all.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			s.print(stdout)
			return true, nil
		case err != nil:
			return false, &usageError{errors.New(singleDash.ReplaceAllString(err.Error(), "$1--$2"))}
		case all.NArg() == 0:
			return false, nil
		case s.operands == nil:
			return false, &usageError{fmt.Errorf("unexpected argument %q", all.Arg(0))}
		}
		*s.operands = append(*s.operands, all.Arg(0))
		args = all.Args()[1:]
	}
}

// singleDash matches the name of a flag in an error of package flag.
var singleDash = regexp.MustCompile(`(not defined: |argument: |flag )-(\w)`)

// print writes the help: one line per flag, with its default.
func (s *flagSet) print(w io.Writer) {
	fmt.Fprintf(w, "Usage:\n\n  %s\n", s.synopsis)
	for _, g := range s.groups {
		fmt.Fprintf(w, "\n%s:\n\n", g.title)
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		g.define(fs)
		fs.VisitAll(func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
				usage += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(w, "  %-31s  %s\n", strings.TrimSpace("--"+f.Name+" "+value), usage)
		})
	}
}

// setServiceRanges parses the ranges of service addresses: one CIDR, or one per IP
// family.
func (c *serveCommand) setServiceRanges(value string) error {
	var prefixes []netip.Prefix
	for part := range strings.SplitSeq(value, ",") {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return err
		}
		prefixes = append(prefixes, p)
	}
	c.serviceRanges = prefixes
	return allocator.CheckRanges(prefixes)
}

// checkControllers returns an error for any controller: there are none.
func checkControllers(value string) error {
	if value == "" || value == "none" {
		return nil
	}
	return fmt.Errorf("the server has no controllers; the only value is none")
}

// switches are the values of a flag in the form "A=true,B=false", by name.
type switches map[string]bool

// set parses a value of the flag and adds it to the previous ones.
func (s switches) set(value string) error {
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, text, ok := strings.Cut(part, "=")
		on, err := strconv.ParseBool(strings.TrimSpace(text))
		if !ok || err != nil {
			return fmt.Errorf("%q is neither NAME=true nor NAME=false", part)
		}
		s[strings.TrimSpace(name)] = on
	}
	return nil
}
