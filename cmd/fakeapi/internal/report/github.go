package report

import (
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
	for i := range r.Findings {
		f := &r.Findings[i]
		place := ""
		switch file := sourceOf(r); {
		case file != r.File: // the lines are those of the rendered text
			place = "file=" + escapeProperty.Replace(file) + ","
		case file != manifests.Stdin:
			place = fmt.Sprintf("file=%s,line=%d,col=%d,", escapeProperty.Replace(file), max(1, f.Line), max(1, f.Column))
		}
		title := describe(r)
		if title == "" {
			title = f.Reason
		}
		_, err := fmt.Fprintf(g.w, "::%s %stitle=%s::%s\n", commands[f.Severity], place, escapeProperty.Replace(printable.Line(title)), escapeMessage.Replace(printable.Text(f.Message+forReleases(f))))
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *github) Close(e End) error {
	_, err := fmt.Fprintln(g.w, Line(e))
	return err
}
