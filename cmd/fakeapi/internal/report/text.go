package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/printable"
)

// maxLine is how much of a line of a file is shown, in runes.
const maxLine = 100

// maxNames is how many files that are not objects are named.
const maxNames = 5

// A text prints for people: the findings of each file, with their lines.
type text struct {
	w *bufio.Writer
	o Options

	heading string // the last one
	others  []string
	kinds   map[string]*kindCount
}

// A kindCount counts the objects of a kind.
type kindCount struct{ objects, failed, warnings int }

func newText(w io.Writer, o Options) Writer {
	return &text{w: bufio.NewWriter(w), o: o, kinds: map[string]*kindCount{}}
}

// The colors of a terminal.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// color returns a text in a color, if the output has colors.
func (t *text) color(color, s string) string {
	if !t.o.Color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (t *text) Write(r *manifests.Result) error {
	if !r.FromBase {
		t.countKind(r)
	}
	if r.Outcome == manifests.NoObject {
		t.others = append(t.others, r.File)
	}
	if t.o.shows(r) {
		t.result(r)
	}
	if t.o.Diff {
		t.diff(r)
	}
	return t.w.Flush()
}

// result prints the findings of a result.
func (t *text) result(r *manifests.Result) {
	t.head(r)
	switch {
	case r.State != "":
		t.state(r)
	case len(r.Findings) == 0:
		fmt.Fprintf(t.w, "  %s  %s  %s\n", at(r.Line, r.Column), t.color(green, string(r.Outcome)), printable.Line(describe(r)))
	}
	for i := range r.Findings {
		t.finding(r, &r.Findings[i])
	}
}

var stateColors = map[manifests.State]string{
	manifests.Refused: red, manifests.Gone: red, manifests.Created: green, manifests.Changed: yellow, manifests.Unchanged: cyan, manifests.Kept: cyan,
}

// state prints what becomes of an object in the base.
func (t *text) state(r *manifests.Result) {
	fmt.Fprintf(t.w, "  %s  %s  %s\n", at(r.Line, r.Column), t.color(stateColors[r.State], string(r.State)), printable.Line(describe(r)))
	for _, c := range changesOf(r) {
		if c.release != "" {
			fmt.Fprintf(t.w, "      [%s]\n", c.release)
		}
		t.lines(c.lines)
	}
}

// head prints the name of the file above its first result.
func (t *text) head(r *manifests.Result) {
	heading := r.File
	if r.Origin != "" {
		heading = fmt.Sprintf("%s (%s)", r.Origin, r.File)
	}
	if heading == t.heading {
		return
	}
	if t.heading != "" {
		fmt.Fprintln(t.w)
	}
	t.heading = heading
	fmt.Fprintln(t.w, t.color(bold, printable.Line(heading)))
}

// at returns a position, "" for a file as a whole.
func at(line, column int) string {
	if line == 0 {
		return "-"
	}
	return fmt.Sprintf("%d:%d", line, column)
}

var severityColors = map[manifests.Severity]string{manifests.Error: red, manifests.Warning: yellow, manifests.Note: cyan}

// finding prints a finding, and its line with a caret.
func (t *text) finding(r *manifests.Result, f *manifests.Finding) {
	subject := describe(r)
	if r.State != "" { // the line before has it
		subject = ""
	}
	if subject != "" {
		subject = printable.Line(subject) + ": "
	}
	message := strings.ReplaceAll(printable.Text(f.Message+suffix(r, f)), "\n", "\n      ")
	fmt.Fprintf(t.w, "  %s  %s  %s%s\n", at(f.Line, f.Column), t.color(severityColors[f.Severity], f.Severity.String()), subject, message)
	if f.Text == "" || f.Severity == manifests.Note {
		return
	}
	line, column := excerpt(f.Text, f.Column)
	number := fmt.Sprintf("%6d", f.Line)
	fmt.Fprintf(t.w, "%s | %s\n%s | %s%s\n", number, printable.Line(line), strings.Repeat(" ", len(number)), strings.Repeat(" ", column-1), t.color(severityColors[f.Severity], "^"))
}

// excerpt returns the part of a line around a column, and the column in it, from 1.
func excerpt(line string, column int) (string, int) {
	line = strings.ReplaceAll(line, "\t", " ")
	runes := []rune(line)
	column = max(1, min(column, len(runes)))
	if utf8.RuneCountInString(line) <= maxLine {
		return line, column
	}
	start := max(0, column-maxLine/2)
	end := min(len(runes), start+maxLine)
	return string(runes[start:end]), column - start
}

// countKind counts the object for the summary by kinds.
func (t *text) countKind(r *manifests.Result) {
	if r.Kind == "" {
		return
	}
	k := t.kinds[r.Kind]
	if k == nil {
		k = &kindCount{}
		t.kinds[r.Kind] = k
	}
	k.objects++
	if r.Failed(manifests.Error) {
		k.failed++
	}
	for _, f := range r.Findings {
		if f.Severity == manifests.Warning {
			k.warnings++
		}
	}
}

func (t *text) Close(e End) error {
	if t.heading != "" {
		fmt.Fprintln(t.w)
	}
	if t.o.Summary {
		for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
			k := t.kinds[kind]
			fmt.Fprintf(t.w, "%-30s  %s, %d failed, %s\n", printable.Line(kind), count(k.objects, "object", "objects"), k.failed, count(k.warnings, "warning", "warnings"))
		}
	}
	if len(t.others) > 0 && !t.o.Verbose {
		fmt.Fprintf(t.w, "not objects: %s\n", printable.Line(names(t.others)))
	}
	fmt.Fprintln(t.w, t.color(bold, Line(e)))
	return t.w.Flush()
}

// names returns the first of several names, and how many more there are.
func names(all []string) string {
	all = slices.Compact(all)
	if len(all) <= maxNames {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more, which --verbose lists", strings.Join(all[:maxNames], ", "), len(all)-maxNames)
}

// Line returns the counts and the time in a line.
func Line(e End) string {
	s := &e.Summary
	parts := []string{fmt.Sprintf("%d valid", s.Valid), fmt.Sprintf("%d invalid", s.Invalid)}
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, count(n, one, many))
		}
	}
	if s.States != nil {
		parts = nil
		for _, state := range []manifests.State{manifests.Created, manifests.Changed, manifests.Unchanged, manifests.Refused, manifests.Gone, manifests.Kept} {
			if n := s.States[state]; n > 0 || state != manifests.Gone && state != manifests.Kept {
				parts = append(parts, fmt.Sprintf("%d %s", n, state))
			}
		}
	}
	add(s.Missing, "of a kind without a definition", "of kinds without a definition")
	add(s.Skipped, "skipped", "skipped")
	add(s.Errors, "unreadable", "unreadable")
	add(s.Warnings, "warning", "warnings")
	add(s.NoObjects, "document that is no object", "documents that are no objects")
	return fmt.Sprintf("%s in %s: %s (%s)", count(s.Objects, "object", "objects"), count(s.Files, "file", "files"),
		strings.Join(parts, ", "), strings.Join(append(slices.Clone(e.Releases), rounded(e.Duration).String()), ", "))
}

// rounded returns a duration with three digits or less.
func rounded(d time.Duration) time.Duration {
	for unit := time.Microsecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
