package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/controllers"
)

// A flagSet defines flags.
type flagSet struct{ *pflag.FlagSet }

// Func defines a flag whose values set parses.
func (fs flagSet) Func(name, usage string, set func(string) error) {
	fs.Var(funcValue(set), name, usage)
}

// A funcValue parses the values of a flag.
type funcValue func(string) error

func (set funcValue) Set(value string) error { return set(value) }
func (funcValue) String() string             { return "" }
func (funcValue) Type() string               { return "" }

// A flagGroup is a set of related flags, with its title in the help.
type flagGroup struct {
	title  string
	define func(flagSet)
}

// Keys of annotations.
const (
	groupsKey = "groups" // of a command: the titles of its groups, in lines
	groupKey  = "group"  // of a flag: the title of its group
	valueKey  = "value"  // of a flag: what its value is, "" if it takes none
)

// setFlags adds flags to a command.
func setFlags(cmd *cobra.Command, groups ...flagGroup) {
	var titles []string
	for _, g := range groups {
		titles = append(titles, g.title)
		fs := flagSet{pflag.NewFlagSet("", pflag.ContinueOnError)}
		g.define(fs)
		fs.VisitAll(func(f *pflag.Flag) {
			var value string
			value, f.Usage = pflag.UnquoteUsage(f) // completion shows Usage too
			f.Annotations = map[string][]string{groupKey: {g.title}, valueKey: {value}}
			cmd.Flags().AddFlag(f)
		})
	}
	cmd.Annotations = map[string]string{groupsKey: strings.Join(titles, "\n")}
}

// flagsByGroup returns the titles of the groups of a command's flags, and the flags
// of each group, sorted by name.
func flagsByGroup(cmd *cobra.Command) (titles []string, flags map[string][]*pflag.Flag) {
	flags = map[string][]*pflag.Flag{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if group := f.Annotations[groupKey]; group != nil {
			flags[group[0]] = append(flags[group[0]], f)
		}
	})
	if len(flags) == 0 {
		return nil, nil
	}
	return strings.Split(cmd.Annotations[groupsKey], "\n"), flags
}

// noArguments returns a usageError if there are arguments.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Errorf("unexpected argument %q", args[0])}
}

// completeValues completes the values of a flag.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil { // unreachable: the flag exists, and is completed once
		panic(err)
	}
}

// setServiceRanges parses the ranges of service addresses: one CIDR, or one per IP
// family.
func (c *serveCommand) setServiceRanges(value string) error {
	var prefixes []netip.Prefix
	for _, part := range strings.Split(value, ",") {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is not a CIDR, such as 10.0.0.0/24", part)
		}
		prefixes = append(prefixes, p)
	}
	c.serviceRanges = prefixes
	return allocator.CheckRanges(prefixes)
}

// setNodePorts parses the range of node ports, with the errors of kube-apiserver: FIRST-LAST,
// FIRST+NUMBER, or one port. It leaves the range as it is for "".
func (c *serveCommand) setNodePorts(value string) error {
	value = strings.TrimSpace(value)
	if value == "" {
		return nil
	}
	if strings.Contains(value, "-") && strings.Contains(value, "+") {
		return fmt.Errorf("unable to parse port range: %s", value)
	}
	first, last := value, value
	if i := strings.IndexAny(value, "-+"); i >= 0 {
		first, last = value[:i], value[i+1:]
	}
	low, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	high, err := strconv.Atoi(last)
	if err != nil {
		return err
	}
	if strings.Contains(value, "+") {
		high += low
	}
	switch {
	case low > 65535 || high > 65535:
		return fmt.Errorf("the port range cannot be greater than 65535: %s", value)
	case high < low:
		return fmt.Errorf("end port cannot be less than start port: %s", value)
	}
	c.nodePorts = apiserver.PortRange{First: low, Last: high}
	return nil
}

// setTime returns a function that sets a time to the value of a flag.
func setTime(t *time.Time) func(string) error {
	return func(value string) (err error) {
		if *t, err = time.Parse(time.RFC3339, value); err != nil {
			return errors.New("it must be a time in RFC 3339, such as 2030-01-01T09:00:00Z")
		}
		return nil
	}
}

// checkListen returns a usageError for a value of --listen that is not an address.
func checkListen(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		example := defaultAddress
		if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
			example = "127.0.0.1:" + addr
		}
		return &usageError{fmt.Errorf("--listen: %q is not HOST:PORT, such as %s", addr, example)}
	}
	if n, err := strconv.Atoi(port); err == nil && (n < 0 || n > 65535) {
		return &usageError{fmt.Errorf("--listen: port %s is not from 0 to 65535", port)}
	}
	return nil
}

const allowedHostsUsage = "answer requests to the host `NAME`,... too, not only to IP addresses, localhost and the names in the certificate; * is any name"

// hosts returns a function that adds the host names in the value of a flag to names.
func hosts(names *[]string) func(string) error {
	return func(value string) error {
		for _, name := range strings.Split(value, ",") {
			if name == "" || strings.ContainsAny(name, ":/") {
				return fmt.Errorf("%q is not a host name", name)
			}
			*names = append(*names, name)
		}
		return nil
	}
}

// selectControllers returns a function that adds the controllers in the value of a flag
// to a selection.
func selectControllers(selection *[]string) func(string) error {
	return func(value string) error {
		*selection = append(*selection, value)
		return controllers.Check(*selection)
	}
}
