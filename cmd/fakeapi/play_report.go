package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/junit"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/scenarios"
)

// playFormats are the values of play --output.
var playFormats = []string{"text", "json", "junit"}

// A playReport prints the results of play.
type playReport interface {
	// scenario prints the result of a scenario of a file.
	scenario(file string, r *scenarios.Result)
	// file prints the score of a file.
	file(name string, s score)
	// end prints what comes after the files. The coverage is nil if it was not wanted.
	end(files int, all score, c *scenarios.Coverage, took time.Duration) error
}

// newPlayReport returns the report of a format; nil if there is none.
func newPlayReport(format string, out io.Writer) playReport {
	switch format {
	case "text":
		return &playText{out}
	case "json":
		return &playJSON{out: out, Scenarios: []playedScenario{}}
	case "junit":
		return &playJUnit{out, junit.Report{Name: "fakeapi play"}}
	}
	return nil
}

// playText prints failures, and a line for each file.
type playText struct{ out io.Writer }

func (p *playText) scenario(_ string, r *scenarios.Result) {
	if r.Failed() {
		fmt.Fprintf(p.out, "%s\n\n", r)
	}
}

func (p *playText) file(name string, s score) { fmt.Fprintf(p.out, "%s: %s\n", name, s) }

func (p *playText) end(files int, all score, c *scenarios.Coverage, _ time.Duration) error {
	if files > 1 {
		fmt.Fprintf(p.out, "all: %s\n", all)
	}
	if c != nil {
		fmt.Fprintf(p.out, "\n%s", c)
	}
	return nil
}

// playJSON prints one JSON document.
type playJSON struct {
	out io.Writer

	Scenarios []playedScenario    `json:"scenarios"`
	Coverage  *scenarios.Coverage `json:"coverage,omitempty"`
	Percent   *float64            `json:"coveragePercent,omitempty"`
}

type playedScenario struct {
	File    string         `json:"file"`
	Name    string         `json:"name"`
	Passed  bool           `json:"passed"`
	Error   string         `json:"error,omitempty"`
	Answers []playedAnswer `json:"answers"`
}

type playedAnswer struct {
	Name     string   `json:"name"`
	Position string   `json:"position,omitempty"`
	Passed   bool     `json:"passed"`
	Diffs    []string `json:"differences,omitempty"`
	Sent     string   `json:"sent,omitempty"`
}

func (p *playJSON) scenario(file string, r *scenarios.Result) {
	s := playedScenario{File: file, Name: r.Scenario.String(), Passed: !r.Failed(), Answers: []playedAnswer{}}
	if r.Err != nil {
		s.Error = r.Err.Error()
	}
	for _, a := range r.Answers() {
		answer := playedAnswer{Name: a.Name, Position: r.Position(a.Step, a.Row)}
		if a.Result != nil {
			answer.Passed, answer.Diffs, answer.Sent = len(a.Result.Diffs) == 0, a.Result.Diffs, a.Result.Sent
		}
		s.Answers = append(s.Answers, answer)
	}
	p.Scenarios = append(p.Scenarios, s)
}

func (p *playJSON) file(string, score) {}

func (p *playJSON) end(_ int, _ score, c *scenarios.Coverage, _ time.Duration) error {
	if c != nil {
		percent := c.Percent()
		p.Coverage, p.Percent = c, &percent
	}
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// playJUnit prints JUnit XML: a test suite for each file, and a test case for each answer. What the
// coverage misses is skipped.
type playJUnit struct {
	out    io.Writer
	report junit.Report
}

func (p *playJUnit) scenario(file string, r *scenarios.Result) {
	add := func(name, position string, failure *junit.Failure, skipped *junit.Skipped) {
		at, line := splitPosition(position)
		p.report.Add(printable.Line(file), junit.Case{
			Name: printable.Line(name), ClassName: printable.Line(r.Scenario.String()), File: printable.Line(at), Line: line, Failure: failure, Skipped: skipped,
		})
	}
	for _, a := range r.Answers() {
		var failure *junit.Failure
		var skipped *junit.Skipped
		switch {
		case a.Result == nil:
			skipped = &junit.Skipped{Message: "the scenario ended before"}
		case len(a.Result.Diffs) > 0:
			text := strings.Join(a.Result.Diffs, "\n")
			if a.Result.Sent != "" {
				text += "\nsent " + a.Result.Sent
			}
			failure = &junit.Failure{Message: printable.Text(a.Result.Diffs[0]), Text: printable.Text(text)}
		}
		add(a.Name, r.Position(a.Step, a.Row), failure, skipped)
	}
	switch {
	case r.Err != nil:
		text := printable.Text(r.Err.Error())
		add("the scenario", r.Position(max(r.FailedStep(), 0), -1), &junit.Failure{Message: text, Text: text}, nil)
	case len(r.Answers()) == 0:
		add("the scenario", r.Position(0, -1), nil, nil)
	}
}

func (p *playJUnit) file(string, score) {}

func (p *playJUnit) end(_ int, _ score, c *scenarios.Coverage, took time.Duration) error {
	if c != nil {
		for i := range c.Rules {
			r := &c.Rules[i]
			at, line := splitPosition(r.Position)
			one := junit.Case{Name: printable.Line(r.Type + " " + r.Expression), ClassName: printable.Line(r.Kind + "/" + r.Name), File: printable.Line(at), Line: line}
			if missing := r.Missing(); missing != "" {
				one.Skipped = &junit.Skipped{Message: missing}
			}
			p.report.Add("coverage", one)
		}
	}
	return p.report.Write(p.out, took)
}

// splitPosition returns the file and the line of a position, such as "a.yaml:7".
func splitPosition(position string) (file string, line int) {
	i := strings.LastIndexByte(position, ':')
	if i < 0 {
		return "", 0
	}
	line, _ = strconv.Atoi(position[i+1:]) // 0 is no line
	return position[:i], line
}
