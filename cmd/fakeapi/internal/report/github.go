package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/printable"
)

// A github prints annotations as commands of a GitHub Actions workflow.
type github struct{ w io.Writer }

func newGitHub(w io.Writer, _ Options) Writer { return &github{w} }

var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

var commands = map[manifests.Severity]string{manifests.Error: "error", manifests.Warning: "warning", manifests.Note: "notice"}

func (g *github) Write(r *manifests.Result) error {
	if r.Outcome == manifests.NoObject && !r.Failed(manifests.Error) {
		return nil
	}
	if isNews(r) && r.State != manifests.Refused {
		text := string(r.State)
		for _, c := range changesOf(r) {
			text += "\n" + strings.TrimSpace(c.release+"\n"+strings.Join(c.lines, "\n"))
		}
		if err := g.annotation(r, "notice", r.Line, r.Column, describe(r), text); err != nil {
			return err
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if err := g.annotation(r, commands[f.Severity], f.Line, f.Column, cmp.Or(describe(r), f.Reason), f.Message+suffix(r, f)); err != nil {
			return err
		}
	}
	return nil
}

// annotation prints the command of an annotation.
func (g *github) annotation(r *manifests.Result, command string, line, column int, title, message string) error {
	place := ""
	switch file := sourceOf(r); {
	case r.FromBase: // the file may not be there
		message = fmt.Sprintf("%s:%d: %s", file, line, message)
	case file != r.File: // the lines are those of the rendered text
		place = "file=" + escapeProperty.Replace(file) + ","
	case file != manifests.Stdin:
		place = fmt.Sprintf("file=%s,line=%d,col=%d,", escapeProperty.Replace(file), max(1, line), max(1, column))
	}
	_, err := fmt.Fprintf(g.w, "::%s %stitle=%s::%s\n", command, place, escapeProperty.Replace(printable.Line(title)), escapeMessage.Replace(printable.Text(message)))
	return err
}

func (g *github) Close(e End) error {
	_, err := fmt.Fprintln(g.w, Line(e))
	return err
}
