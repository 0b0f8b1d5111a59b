package report

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/printable"
)

// diff prints what defaults and policies change in an object, for each release whose changes are not
// those of the one before.
func (t *text) diff(r *manifests.Result) {
	last := ""
	for _, a := range r.Answers {
		if a.Object == nil {
			continue
		}
		lines := changeLines(manifests.Diff(r.Object, a.Object))
		changes := strings.Join(lines, "\n")
		if changes == last {
			continue
		}
		last = changes
		t.head(r)
		title := "  " + at(r.Line, r.Column) + "  " + printable.Line(describe(r))
		if len(r.Answers) > 1 {
			title += " [" + a.Release + "]"
		}
		fmt.Fprintln(t.w, title)
		t.lines(lines)
	}
}

// lines prints changes.
func (t *text) lines(lines []string) {
	for _, line := range lines {
		color := map[byte]string{'+': green, '-': red, '~': yellow}[line[0]]
		fmt.Fprintln(t.w, "      "+t.color(color, printable.Line(line)))
	}
}
