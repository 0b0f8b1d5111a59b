// Package report prints the results of fakeapi validate in the formats that people and other
// programs read.
package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/suggest"
)

// A Writer prints results as they come.
type Writer interface {
	// Write prints a result.
	Write(r *manifests.Result) error

	// Close prints what comes after the results.
	Close(e End) error
}

// An End is what is known when all results are there.
type End struct {
	Summary  manifests.Summary
	Releases []string
	Duration time.Duration
}

// Options say what is printed.
type Options struct {
	Verbose bool   // valid objects too, and each document that is not an object
	Summary bool   // the counts of each kind
	Color   bool   // of text
	Diff    bool   // of text: what defaults and policies change
	Version string // of fakeapi
}

// formats are the writers by the names of their formats.
var formats = []struct {
	name string
	new  func(w io.Writer, o Options) Writer
}{
	{"text", newText},
	{"json", newJSON},
	{"junit", newJUnit},
	{"sarif", newSARIF},
	{"github", newGitHub},
	{"tap", newTAP},
	{"yaml", newYAML},
}

// Formats returns the names of the formats.
func Formats() []string {
	out := make([]string, len(formats))
	for i, f := range formats {
		out[i] = f.name
	}
	return out
}

// New returns a writer of a format.
func New(format string, w io.Writer, o Options) (Writer, error) {
	for _, f := range formats {
		if f.name == format {
			return f.new(w, o), nil
		}
	}
	return nil, fmt.Errorf("the format %q is not one of %s%s", format, strings.Join(Formats(), ", "), suggest.DidYouMean(format, Formats()))
}

// describe returns the kind, the namespace and the name of a result, "" for what is no object.
func describe(r *manifests.Result) string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return strings.TrimSpace(r.Kind + " " + name)
}

// sourceOf returns the name of the file that a person can open: of a rendered chart, the template.
func sourceOf(r *manifests.Result) string {
	if r.File == manifests.Stdin && r.Origin != "" {
		return r.Origin
	}
	return r.File
}

// forReleases returns the releases of a finding as the end of its message.
func forReleases(f *manifests.Finding) string {
	if f.Releases == nil {
		return ""
	}
	return " [" + strings.Join(f.Releases, ", ") + "]"
}

// shows reports whether a result is listed.
func (o *Options) shows(r *manifests.Result) bool {
	return o.Verbose || r.Failed(manifests.Note) && r.Outcome != manifests.NoObject || r.Failed(manifests.Warning)
}

// count returns a number of things in words.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
