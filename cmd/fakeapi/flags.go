package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/apiserver"
)

// A flagSet is the flags of a command, in groups for those who read the help.
type flagSet struct {
	synopsis string
	groups   []flagGroup
	// operands gets what is no flag, between flags or after them; nil if there
	// may be nothing of the sort.
	operands *[]string
}

// A flagGroup is flags that are about one thing.
type flagGroup struct {
	title  string
	define func(*flag.FlagSet)
}

// parse reads a command line. If that asks for help, parse prints it to stdout
// and reports true. Its errors are *usageError.
func (s *flagSet) parse(args []string, stdout io.Writer) (help bool, err error) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	all.SetOutput(io.Discard) // the caller tells the error
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
			return false, &usageError{err}
		case all.NArg() == 0:
			return false, nil
		case s.operands == nil:
			return false, &usageError{fmt.Errorf("unexpected argument %q", all.Arg(0))}
		}
		*s.operands = append(*s.operands, all.Arg(0))
		args = all.Args()[1:]
	}
}

// print writes the help: a line a flag, with its default if it has one.
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

// setServiceRanges takes the ranges of service addresses: one CIDR, or one of
// each IP family.
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
	return apiserver.CheckServiceRanges(prefixes)
}

// checkControllers refuses every controller, because there are none.
func checkControllers(value string) error {
	if value == "" || value == "none" {
		return nil
	}
	return fmt.Errorf("the server has no controllers; the only value is none")
}

// switches are names that a flag turns on and off: "A=true,B=false".
type switches map[string]bool

// set reads a value of the flag and adds it to those before.
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
