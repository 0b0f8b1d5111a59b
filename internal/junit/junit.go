// Package junit writes results in the XML that CI systems read as those of JUnit.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// A Report has test suites. Its counts are those of the cases that Add adds.
type Report struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []*Suite `xml:"testsuite"`
}

// A Suite is the cases of one file.
type Suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Cases    []Case `xml:"testcase"`
}

// A Case is the result of one test. Without Failure and Skipped it is a success.
type Case struct {
	Name      string `xml:"name,attr"`
	ClassName string `xml:"classname,attr"`
	File      string `xml:"file,attr,omitempty"`
	Line      int    `xml:"line,attr,omitempty"`

	Properties *Properties `xml:"properties"`

	Failure *Failure `xml:"failure"`
	Skipped *Skipped `xml:"skipped"`
	Output  string   `xml:"system-out,omitempty"`
}

// Properties are further values of a case.
type Properties struct {
	Properties []Property `xml:"property"`
}

// A Property is one of Properties.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// A Failure is why a case failed.
type Failure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Skipped is why a case has no result.
type Skipped struct {
	Message string `xml:"message,attr"`
}

// Add adds a case to a suite: the last one if that has its name, otherwise a new one.
func (r *Report) Add(suite string, c Case) {
	if n := len(r.Suites); n == 0 || r.Suites[n-1].Name != suite {
		r.Suites = append(r.Suites, &Suite{Name: suite})
	}
	s := r.Suites[len(r.Suites)-1]
	switch {
	case c.Failure != nil:
		s.Failures++
		r.Failures++
	case c.Skipped != nil:
		s.Skipped++
		r.Skipped++
	}
	s.Tests++
	r.Tests++
	s.Cases = append(s.Cases, c)
}

// Write writes the report of a run that took a duration.
func (r *Report) Write(w io.Writer, took time.Duration) error {
	r.Time = fmt.Sprintf("%.3f", took.Seconds())
	text, err := xml.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}
