package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/junit"
	"github.com/kubefake/kubefake/internal/printable"
)

// A junitWriter prints JUnit XML: a test suite for each file, a test case for each object.
type junitWriter struct {
	w      io.Writer
	report junit.Report
}

func newJUnit(w io.Writer, _ Options) Writer {
	return &junitWriter{w: w, report: junit.Report{Name: "fakeapi validate"}}
}

func (j *junitWriter) Write(r *manifests.Result) error {
	file := printable.Line(r.File)
	c := junit.Case{Name: printable.Line(caseName(r)), ClassName: file, File: printable.Line(sourceOf(r)), Line: r.Line}
	var errors, others []string
	if r.State != "" {
		c.Properties = &junit.Properties{Properties: []junit.Property{{Name: "state", Value: string(r.State)}}}
	}
	for _, change := range changesOf(r) {
		for _, line := range change.lines {
			others = append(others, printable.Line(line)+inRelease(change.release))
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		text := printable.Text(fmt.Sprintf("%s:%d:%d: %s: %s%s", r.File, f.Line, f.Column, f.Severity, f.Message, suffix(r, f)))
		if f.Severity == manifests.Error {
			errors = append(errors, text)
			if c.Failure == nil {
				c.Failure = &junit.Failure{Message: printable.Text(f.Message), Type: f.Reason}
			}
		} else {
			others = append(others, text)
		}
	}
	switch {
	case c.Failure != nil:
		c.Failure.Text = strings.Join(errors, "\n")
	case r.Outcome != manifests.Valid:
		c.Skipped = &junit.Skipped{Message: string(r.Outcome)}
	}
	c.Output = strings.Join(others, "\n")
	j.report.Add(file, c)
	return nil
}

// caseName names the object, or the document that is none.
func caseName(r *manifests.Result) string {
	switch name := describe(r); {
	case name != "":
		return name
	case r.Document > 0:
		return fmt.Sprintf("document %d", r.Document)
	}
	return "file"
}

func (j *junitWriter) Close(e End) error { return j.report.Write(j.w, e.Duration) }
