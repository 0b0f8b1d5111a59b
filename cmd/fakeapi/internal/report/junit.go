package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/printable"
)

// A junit prints JUnit XML: a test suite for each file, a test case for each object.
type junit struct {
	w      io.Writer
	suites junitSuites
}

type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Skipped  int           `xml:"skipped,attr"`
	Time     string        `xml:"time,attr"`
	Suites   []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitText    `xml:"failure"`
	Skipped   *junitMessage `xml:"skipped"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

func newJUnit(w io.Writer, _ Options) Writer {
	return &junit{w: w, suites: junitSuites{Name: "fakeapi validate"}}
}

func (j *junit) Write(r *manifests.Result) error {
	s := j.suite(printable.Line(r.File))
	c := junitCase{Name: printable.Line(caseName(r)), ClassName: s.Name, File: printable.Line(sourceOf(r)), Line: r.Line}
	var errors, others []string
	for i := range r.Findings {
		f := &r.Findings[i]
		text := printable.Text(fmt.Sprintf("%s:%d:%d: %s: %s%s", r.File, f.Line, f.Column, f.Severity, f.Message, forReleases(f)))
		if f.Severity == manifests.Error {
			errors = append(errors, text)
			if c.Failure == nil {
				c.Failure = &junitText{Message: printable.Text(f.Message), Type: f.Reason}
			}
		} else {
			others = append(others, text)
		}
	}
	switch {
	case c.Failure != nil:
		c.Failure.Text = strings.Join(errors, "\n")
		s.Failures++
		j.suites.Failures++
	case r.Outcome != manifests.Valid:
		c.Skipped = &junitMessage{Message: string(r.Outcome)}
		s.Skipped++
		j.suites.Skipped++
	}
	c.Output = strings.Join(others, "\n")
	s.Cases = append(s.Cases, c)
	s.Tests++
	j.suites.Tests++
	return nil
}

// suite returns the test suite of a file. Results of a file follow each other.
func (j *junit) suite(name string) *junitSuite {
	if n := len(j.suites.Suites); n > 0 && j.suites.Suites[n-1].Name == name {
		return j.suites.Suites[n-1]
	}
	s := &junitSuite{Name: name}
	j.suites.Suites = append(j.suites.Suites, s)
	return s
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

func (j *junit) Close(e End) error {
	j.suites.Time = fmt.Sprintf("%.3f", e.Duration.Seconds())
	text, err := xml.MarshalIndent(j.suites, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.w, xml.Header+string(text)+"\n")
	return err
}
