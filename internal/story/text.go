package story

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/printable"
)

// Text returns the end of the story for a log: at most that many events, a line
// each, the newest last, with the name of its cluster if the story has several. Before them it lists unimplemented requests and panics,
// whenever they happened. What is not printable is escaped.
func (s *Story) Text(lines int) string {
	all := s.events()
	var b strings.Builder
	unimplemented := map[string]bool{}
	for _, r := range s.Requests {
		if line := r.line(); r.Unimplemented && !unimplemented[line] {
			unimplemented[line] = true
			fmt.Fprintf(&b, "  not implemented: %s\n", printable.Line(r.labelled(line)))
		}
		if r.Panic != "" {
			fmt.Fprintf(&b, "  a bug of the server: %s\n%s\n", printable.Line(r.labelled(r.line())), indent(printable.Text(r.Panic)))
		}
	}
	skip := max(0, len(all)-lines)
	all = all[skip:]
	if earlier := s.Earlier + skip; earlier > 0 {
		fmt.Fprintf(&b, "  (%d earlier events)\n", earlier)
	}
	width := 0
	for _, e := range all {
		width = max(width, len(printable.Line(e.Cluster)))
	}
	for _, e := range all {
		fmt.Fprintf(&b, "  %s  ", offset(e.At))
		if width > 0 {
			fmt.Fprintf(&b, "%-*s  ", width, printable.Line(e.Cluster))
		}
		b.WriteString(e.line + "\n")
	}
	return b.String()
}

// labelled returns a text with the name of the cluster, if there is one.
func (p Place) labelled(text string) string {
	if p.Cluster == "" {
		return text
	}
	return p.Cluster + ": " + text
}

// An event is one line of a text.
type event struct {
	Moment
	Place
	line string // printable
}

// events returns the lines of the story in order: revisions, failed requests,
// notes of changes, watches that the server ended, stale reads, loops and folds. A loop has a line at
// its end, and of its writes only the first one has a line. A fold has one line, and its
// events have none. A fault that made a request fail is part of the line of the request.
func (s *Story) events() []event {
	var all []event
	add := func(m Moment, in Place, format string, args ...any) {
		all = append(all, event{m, in, printable.Line(fmt.Sprintf(format, args...))})
	}
	skip := map[int64]bool{} // by order
	for i := range s.Loops {
		l := &s.Loops[i]
		for _, order := range l.Writes[1:] {
			skip[order] = true
		}
		add(l.Moment, l.Place, "      %s", l.line())
	}
	for i := range s.Folds {
		f := &s.Folds[i]
		for _, order := range f.Orders {
			skip[order] = true
		}
		if f.Kind != UnimplementedFold { // Text lists it before the events
			add(f.Moment, f.Place, "      %s", f.line())
		}
	}
	for i := range s.Revisions {
		if r := &s.Revisions[i]; !skip[r.Order] {
			add(r.Moment, r.Place, "r%-4d %s %s %s%s", r.Revision, r.Client, r.Verb, r.Brief, s.sightings(r))
		}
	}
	for i := range s.Requests {
		r := &s.Requests[i]
		skip[r.Fault] = true
		if !r.Unimplemented && r.Panic == "" && !skip[r.Order] && !s.createdAfter(r) {
			add(r.Moment, r.Place, "      %s", r.line())
		}
	}
	for _, n := range s.Notes {
		if !skip[n.Order] && n.changes() {
			add(n.Moment, n.Place, "      %s", n.line())
		}
	}
	for i := range s.Readers {
		r := &s.Readers[i]
		seen := int64(0)
		for _, m := range r.Marks {
			switch {
			case m.Kind == EndMark && m.Text != "":
				add(m.Moment, r.Place, "      %s was ended at r%d: %s", r, seen, m.Text)
			case m.Revision < m.Newest:
				add(m.Moment, r.Place, "      %s read r%d when r%d was the newest", r.describe(string(m.Kind)), m.Revision, m.Newest)
			}
			seen = max(seen, m.Revision)
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.Order, b.Order) })
	return combine(all)
}

// createdAfter reports whether r did not find an object that its client creates
// later, as clients do that create or update.
func (s *Story) createdAfter(r *Request) bool {
	if r.Code != http.StatusNotFound || r.Verb != "get" {
		return false
	}
	return slices.ContainsFunc(s.Revisions, func(rev Revision) bool {
		return rev.Order > r.Order && rev.Place == r.Place && rev.Client.Name == r.Client.Name && slices.ContainsFunc(rev.Changes, func(c Change) bool {
			return c.Type == journal.Added && c.Target == r.Target
		})
	})
}

// combine combines consecutive equal lines into one with a count.
func combine(all []event) []event {
	var out []event
	times := 1
	for i, e := range all {
		if i > 0 && e.line == all[i-1].line && e.Place == all[i-1].Place {
			times++
			out[len(out)-1].line = fmt.Sprintf("%s (%d times)", e.line, times)
			continue
		}
		times = 1
		out = append(out, e)
	}
	return out
}

// offset returns Moment.At in seconds.
func offset(at int64) string {
	return fmt.Sprintf("%+9.3fs", (time.Duration(at) * time.Microsecond).Seconds())
}

// slow is the delay from which a sighting is mentioned.
const slow = 100 * time.Millisecond

// sightings returns which readers missed the revision, and which were slow to see
// it.
func (s *Story) sightings(r *Revision) string {
	var missed, late []string
	for _, sight := range r.Seen {
		reader := &s.Readers[sight.Reader]
		if sight.Missed() {
			missed = append(missed, reader.String())
		} else if d := time.Duration(sight.At-r.At) * time.Microsecond; d >= slow && reader.Kind == WatchReader {
			late = append(late, fmt.Sprintf("%s after %v", reader, d.Round(time.Millisecond)))
		}
	}
	line := ""
	if len(missed) > 0 {
		line += "; not seen by " + few(missed)
	}
	if len(late) > 0 {
		line += "; seen by " + few(late)
	}
	if line == "" && len(r.Seen) > 0 {
		line = "; seen by " + s.names(r.Seen)
	}
	return line
}

// names returns the clients of sightings, each once.
func (s *Story) names(seen []Sighting) string {
	var names []string
	for _, sight := range seen {
		if name := s.Readers[sight.Reader].Client.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return few(names)
}

// few joins the first three names of a list.
func few(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// String returns the target as "pods default/a".
func (t Target) String() string {
	return strings.TrimSpace(t.Resource + " " + t.path())
}

// String returns the reader as "manager's watch of deployments.apps".
func (r *Reader) String() string { return r.describe(string(r.Kind)) }

// describe describes the reader, or one of its requests, with its kind.
func (r *Reader) describe(kind string) string {
	text := r.Client.Name + "'s " + kind + " of " + r.Resource
	switch {
	case r.Name != "":
		text += " " + r.path()
	case r.Namespace != "":
		text += " in " + r.Namespace
	}
	if r.Selector != "" {
		text += " with " + r.Selector
	}
	return text
}

func (r *Request) line() string {
	line := fmt.Sprintf("%d %s %s (%s)", r.Code, r.Method, r.URI, r.Client.Name)
	if r.Fault != 0 {
		line += ", a fault"
	}
	switch {
	case r.Message != "":
		line += ": " + r.Message
	case r.Code < 400:
		line += ": nothing changed"
	}
	return line
}

func (n *Note) line() string {
	line := string(n.Kind) + ": " + n.Text
	if n.Resource != "" && !strings.Contains(n.Text, n.Resource) {
		line += " (" + n.Resource + ")"
	}
	if n.Client != nil {
		line += ", for " + n.Client.Name
	}
	return line
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
