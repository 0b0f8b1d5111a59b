package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/internal/junit"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// mergeFormats are the values of explore merge --output, with what prints them.
var mergeFormats = map[string]func(out io.Writer, merged []*explore.Merged) error{
	"text": mergeText, "json": mergeJSON, "junit": mergeJUnit, "html": mergeHTML,
}

// newExploreMergeCommand returns the command explore merge.
func newExploreMergeCommand() *cobra.Command {
	output := "text"
	formats := []string{"text", "json", "junit", "html"}
	cmd := &cobra.Command{
		Use:   "merge DIRECTORY...",
		Short: "print one report of what several searches have left, such as the shards of one",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("no directories")}
			}
			write := mergeFormats[output]
			if write == nil {
				return &usageError{fmt.Errorf("--output: %q is not one of %s", output, strings.Join(formats, ", "))}
			}
			merged, err := explore.Merge(args...)
			if err != nil {
				return err
			}
			if err := write(cmd.OutOrStdout(), merged); err != nil {
				return err
			}
			findings := 0
			for _, m := range merged {
				findings += len(m.Findings)
			}
			if findings > 0 {
				return fmt.Errorf("findings: %d", findings)
			}
			return nil
		},
	}
	setFlags(cmd, flagGroup{"Output", func(fs flagSet) {
		fs.StringVarP(&output, "output", "o", output, "print the report as `FORMAT`: "+strings.Join(formats, ", "))
	}})
	completeValues(cmd, "output", formats...)
	return cmd
}

func mergeText(out io.Writer, merged []*explore.Merged) error {
	for i, m := range merged {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if _, err := fmt.Fprintln(out, m); err != nil {
			return err
		}
	}
	return nil
}

func mergeJSON(out io.Writer, merged []*explore.Merged) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"systems": merged})
}

// mergeJUnit prints JUnit XML: a suite for each system, with a case that fails for each finding.
func mergeJUnit(out io.Writer, merged []*explore.Merged) error {
	report := junit.Report{Name: "fakeapi explore merge"}
	for _, m := range merged {
		name := nameOf(m)
		searched := junit.Case{Name: "search", ClassName: name, Output: m.Report.String()}
		report.Add(name, searched)
		for _, f := range m.Findings {
			report.Add(name, junit.Case{
				Name: printable.Line(fmt.Sprintf("%s %s", f.Oracle, f.Subject)), ClassName: name,
				Failure: &junit.Failure{Message: printable.Line(f.Detail), Type: string(f.Oracle), Text: f.String()},
			})
		}
	}
	return report.Write(out, 0)
}

// nameOf returns the name of a system that is explored.
func nameOf(m *explore.Merged) string {
	if m.Name == "" {
		return "explore"
	}
	return printable.Line(m.Name)
}

// mergeHTML prints a page with links to the stories of findings.
func mergeHTML(out io.Writer, merged []*explore.Merged) error {
	var b strings.Builder
	text := func(format string, args ...any) {
		for i, arg := range args {
			args[i] = html.EscapeString(printable.Text(fmt.Sprint(arg)))
		}
		fmt.Fprintf(&b, format, args...)
	}
	b.WriteString(mergePageHead)
	for _, m := range merged {
		text("<h1>%v</h1>\n<p>%v plans of %v searches; the reference run has %v writes, %v deliveries and %v lists. Findings: %v.</p>\n",
			nameOf(m), m.Plans, m.Searches, m.Points.Writes, m.Points.Deliveries, m.Points.Lists, len(m.Findings))
		for _, f := range slices.Concat(m.Findings, m.Unrepeated) {
			text("<h2>%v</h2>\n<p>Repeated %v of %v times; %v plans have it.", f.Violation, f.Repeated, f.Tried, f.Plans)
			if f.Story != "" {
				text(" <a href=\"%v\">Story</a>.", f.Story)
			}
			text("</p>\n<pre>%v</pre>\n", f.Plan)
			if f.Command != "" {
				text("<pre>%v</pre>\n", f.Command)
			}
		}
		b.WriteString("<table>\n<tr><th>Action</th><th>Point</th><th>Points</th><th>Done</th><th>In the same state</th></tr>\n")
		for _, c := range m.Coverage {
			text("<tr><td>%v</td><td>%v</td><td>%v</td><td>%v</td><td>%v</td></tr>\n", c.Action, c.Sort, c.Points, c.Done, c.Equal)
		}
		b.WriteString("</table>\n<table>\n<tr><th>Verb</th><th>Resource</th><th>Asked for</th></tr>\n")
		for _, p := range m.Permissions {
			asked := "only with faults"
			if p.Reference {
				asked = "without faults too"
			}
			text("<tr><td>%v</td><td>%v</td><td>%v</td></tr>\n", p.Verb, p.Resource, asked)
		}
		b.WriteString("</table>\n")
	}
	b.WriteString("</body>\n</html>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

const mergePageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>explore</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; }
h1 { font-size: 1.3em; } h2 { font-size: 1em; overflow-wrap: anywhere; }
pre { overflow-x: auto; }
th, td { padding: .2em .8em .2em 0; text-align: left; }
</style>
</head>
<body>
`
