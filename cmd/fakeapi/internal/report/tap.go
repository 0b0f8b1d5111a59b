package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/printable"
)

// A tap prints the Test Anything Protocol, version 13: a test for each object.
type tap struct {
	w io.Writer
	n int
}

func newTAP(w io.Writer, _ Options) Writer { return &tap{w: w} }

func (t *tap) Write(r *manifests.Result) error {
	if t.n == 0 {
		if _, err := fmt.Fprintln(t.w, "TAP version 13"); err != nil {
			return err
		}
	}
	t.n++
	var b strings.Builder
	status, directive := "ok", ""
	switch {
	case r.Failed(manifests.Error):
		status = "not ok"
	case r.Outcome != manifests.Valid:
		directive = " # skip " + string(r.Outcome)
	}
	// A # begins a directive.
	name := strings.ReplaceAll(printable.Line(fmt.Sprintf("%s:%d %s", sourceOf(r), r.Line, describe(r))), "#", `\#`)
	fmt.Fprintf(&b, "%s %d - %s%s\n", status, t.n, strings.TrimSpace(name), directive)
	if r.State != "" {
		fmt.Fprintf(&b, "# state: %s\n", r.State)
	}
	for _, c := range changesOf(r) {
		for _, line := range c.lines {
			fmt.Fprintf(&b, "#   %s%s\n", printable.Line(line), inRelease(c.release))
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		message := strings.ReplaceAll(printable.Text(f.Message+suffix(r, f)), "\n", "\n#   ")
		fmt.Fprintf(&b, "# %s: %s:%d:%d: %s\n", f.Severity, printable.Line(r.File), f.Line, f.Column, message)
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func (t *tap) Close(End) error {
	if t.n == 0 {
		if _, err := fmt.Fprintln(t.w, "TAP version 13"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.w, "1..%d\n", t.n)
	return err
}
