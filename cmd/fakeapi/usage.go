package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/junit"
	"github.com/kubefake/kubefake/internal/printable"
)

// usageFormats are the values of usage --output.
var usageFormats = []string{"text", "yaml", "markers", "json", "junit"}

// A usageCommand holds the flags of usage.
type usageCommand struct {
	client      usage.Client
	roles       []string
	allowUnused bool
	strict      bool
	name        string
	format      string

	inputs inputFS
	out    io.Writer
}

// newUsageCommand returns the command usage.
func newUsageCommand() *cobra.Command {
	c := &usageCommand{}
	cmd := &cobra.Command{
		Use:   "usage FILE|FOLDER|-...",
		Short: "print the roles that clients need, from what they asked, and compare them with files",
		Long: `Usage adds up files of what clients asked, which servers write with the environment variable
FAKEAPI_USAGE_DIR=FOLDER and with serve --usage FILE, and prints the roles that the clients need. With
--roles it compares them with the roles in files: the exit status is 1 if something was asked and is
not granted, or is granted and was never asked. Findings say what is better asked in another way.`,
		Example: `  FAKEAPI_USAGE_DIR=/tmp/usage go test -count=1 ./...
  fakeapi usage /tmp/usage --user-agent 'manager/*' --roles config/rbac`,
		SuggestFor: []string{"rbac", "roles", "audit2rbac", "permissions"},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.inputs, c.out = newInputs(cmd.InOrStdin()), cmd.OutOrStdout()
			return c.run(args)
		},
	}
	setFlags(cmd, c.flags()...)
	completeValues(cmd, "output", usageFormats...)
	return cmd
}

func (c *usageCommand) flags() []flagGroup {
	return []flagGroup{
		{"The client", func(fs flagSet) {
			fs.StringVar(&c.client.UserAgent, "user-agent", "", "count the requests of user agents that match `PATTERN`, such as manager/* (default all)")
			fs.StringVar(&c.client.User, "user", "", "count the requests as users that match `PATTERN`, such as system:serviceaccount:* (default all)")
		}},
		{"Comparison", func(fs flagSet) {
			fs.StringArrayVar(&c.roles, "roles", nil, "compare with the roles in `FILE`, which may be a directory or a pattern; repeatable")
			fs.BoolVar(&c.allowUnused, "allow-unused", false, "allow permissions that were never asked for")
		}},
		{"Output", func(fs flagSet) {
			fs.BoolVar(&c.strict, "strict", false, "exit with status 1 for findings too")
			fs.StringVarP(&c.format, "output", "o", "text", "print `FORMAT`: "+strings.Join(usageFormats, ", ")+"; yaml is the roles, and markers those of kubebuilder")
			fs.StringVar(&c.name, "name", "manager-role", "call the roles `NAME`")
		}},
	}
}

// run prints the roles or the comparison. It fails with errFindings for a difference.
func (c *usageCommand) run(args []string) error {
	switch {
	case len(args) == 0:
		return &usageError{errors.New("no files")}
	case !slices.Contains(usageFormats, c.format):
		return &usageError{fmt.Errorf("--output: %q is not one of %s", c.format, strings.Join(usageFormats, ", "))}
	}
	asked, err := c.read(args)
	if err != nil {
		return err
	}
	var comparison *usage.Comparison
	if c.roles != nil {
		roles, err := usage.ReadRoles(c.roles...)
		if err != nil {
			return fmt.Errorf("--roles: %w", err)
		}
		compared := asked.Compare(roles)
		if c.allowUnused {
			compared.Unused = nil
		}
		comparison = &compared
	}
	if err := c.print(asked, comparison); err != nil {
		return err
	}
	if comparison != nil && len(comparison.Missing)+len(comparison.Unused) > 0 || c.strict && len(asked.Findings) > 0 {
		return errFindings
	}
	return nil
}

// read returns the sum of the files, of the client.
func (c *usageCommand) read(args []string) (*usage.Usage, error) {
	names, err := inputNames(args)
	if err != nil {
		return nil, err
	}
	all := &usage.Usage{}
	for _, name := range names {
		text, err := c.inputs.ReadFile(name)
		if err != nil {
			return nil, err
		}
		u, err := usage.Read(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all.Add(u)
	}
	asked := all.Of(c.client)
	if len(asked.Requests) == 0 {
		return nil, noRequests(all)
	}
	return asked, nil
}

// noRequests returns the error of a client without requests.
func noRequests(all *usage.Usage) error {
	text := "the files have no requests"
	for i, client := range all.Clients() {
		if i == 0 {
			text = "the client has made no requests; there are those of"
		}
		text += fmt.Sprintf("\n  %s as %s", client.UserAgent, client.User)
	}
	return errors.New(text)
}

// print prints the roles, or the comparison if there is one.
func (c *usageCommand) print(asked *usage.Usage, comparison *usage.Comparison) error {
	roles := asked.Roles(c.name)
	switch c.format {
	case "yaml":
		return usage.WriteRoles(c.out, roles)
	case "markers":
		for _, marker := range usage.Markers(roles) {
			fmt.Fprintln(c.out, marker)
		}
		return nil
	case "json":
		e := json.NewEncoder(c.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Clients []usage.ClientCount `json:"clients"`
			Roles   []usage.Role        `json:"roles"`
			*usage.Comparison
			Findings []usage.Finding `json:"findings"`
		}{asked.Clients(), roles, comparison, append([]usage.Finding{}, asked.Findings...)})
	case "junit":
		return printUsageJUnit(c.out, asked.Findings, comparison)
	}
	text := asked.Text()
	if comparison != nil {
		if text = comparison.Text(); text == "" {
			text = "the roles grant what is asked, and nothing else\n"
		}
		text += asked.FindingsText()
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// printUsageJUnit prints JUnit XML: a case for each rule of findings, and for a comparison a failed
// case for each difference, or one that has passed.
func printUsageJUnit(out io.Writer, findings []usage.Finding, c *usage.Comparison) error {
	r := junit.Report{Name: "fakeapi usage"}
	if c != nil {
		addComparison(&r, c)
	}
	for _, rule := range usage.Rules() {
		var failure *junit.Failure
		var lines []string
		for i := range findings {
			if findings[i].Rule == rule.Name {
				lines = append(lines, printable.Line(findings[i].String()))
			}
		}
		if len(lines) > 0 {
			failure = &junit.Failure{Message: lines[0], Text: strings.Join(append(lines, "fix: "+rule.Fix), "\n")}
		}
		r.Add("findings", junit.Case{Name: rule.Name, ClassName: "findings", Failure: failure})
	}
	return r.Write(out, 0)
}

func addComparison(r *junit.Report, c *usage.Comparison) {
	add := func(name, kind, file, line string) {
		text := printable.Line(line)
		r.Add("roles", junit.Case{Name: printable.Line(name), ClassName: kind, File: printable.Line(file), Failure: &junit.Failure{Message: text, Text: text}})
	}
	for i := range c.Missing {
		m := &c.Missing[i]
		add(m.Permission.String(), "asked and not granted", "", m.String()+"; "+m.Marker)
	}
	for i := range c.Unused {
		u := &c.Unused[i]
		add(u.Role+": "+u.Rule.String(), "granted and never asked", u.File, u.String())
	}
	if r.Tests == 0 {
		r.Add("roles", junit.Case{Name: "the roles grant what is asked, and nothing else", ClassName: "roles"})
	}
}
