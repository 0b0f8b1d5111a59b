// Package report prints the results of fakeapi validate in the formats that people and other
// programs read.
package report

import (
	"cmp"
	"encoding/json"
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

// suffix returns the end of the message of a finding: the releases and the writes that have it.
func suffix(r *manifests.Result, f *manifests.Finding) string {
	var parts []string
	if f.Releases != nil {
		parts = append(parts, releases(r, f))
	}
	if f.Writes != nil {
		var when []string
		for _, w := range f.Writes {
			when = append(when, cmp.Or(writes[w], w))
		}
		parts = append(parts, strings.Join(when, " or "))
	}
	if parts == nil {
		return ""
	}
	return " [" + strings.Join(parts, ": ") + "]"
}

// writes are the names of writes in words.
var writes = map[string]string{"create": "when created", "update": "when updated without a change", "apply": "when applied again"}

// releases returns the releases of a finding, those from one on in short.
func releases(r *manifests.Result, f *manifests.Finding) string {
	n := len(f.Releases)
	if first := len(r.Answers) - n; n > 2 && first > 0 {
		from := true
		for i, a := range r.Answers[first:] {
			from = from && a.Release == f.Releases[i] && (i == 0 || a.Release > f.Releases[i-1])
		}
		if from {
			return f.Releases[0] + " and later"
		}
	}
	return strings.Join(f.Releases, ", ")
}

// inRelease returns a release as the end of a line, "" for none.
func inRelease(name string) string {
	if name == "" {
		return ""
	}
	return " [" + name + "]"
}

// shows reports whether a result is listed.
func (o *Options) shows(r *manifests.Result) bool {
	return o.Verbose || isNews(r) || r.Failed(manifests.Note) && r.Outcome != manifests.NoObject || r.Failed(manifests.Warning)
}

// isNews reports whether an object of the input or of a base differs from the base.
func isNews(r *manifests.Result) bool {
	switch r.State {
	case "", manifests.Unchanged, manifests.Kept:
		return false
	}
	return true
}

// A changed answer is one whose changes are not those of the release before.
type changed struct {
	release string // "" if all releases have the changes
	lines   []string
}

// changesOf returns the changes of an object in the base, as lines.
func changesOf(r *manifests.Result) (out []changed) {
	last := ""
	for _, a := range r.Answers {
		lines := changeLines(a.Changes)
		text := strings.Join(lines, "\n")
		if text == "" || text == last {
			continue
		}
		last = text
		out = append(out, changed{a.Release, lines})
	}
	if len(out) == 1 {
		out[0].release = ""
	}
	return out
}

// changeLines returns a line for each change: an added (+), a removed (-) or a changed (~) field.
func changeLines(changes []manifests.Change) []string {
	lines := make([]string, len(changes))
	for i, c := range changes {
		switch {
		case c.Old == nil:
			lines[i] = fmt.Sprintf("+ %s: %s", c.Path, compact(c.New))
		case c.New == nil:
			lines[i] = fmt.Sprintf("- %s: %s", c.Path, compact(c.Old))
		default:
			lines[i] = fmt.Sprintf("~ %s: %s -> %s", c.Path, compact(c.Old), compact(c.New))
		}
	}
	return lines
}

// compact returns a value as JSON in a line.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // unreachable: v is decoded JSON
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// count returns a number of things in words.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
