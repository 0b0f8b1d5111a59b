package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/storage"
)

// Text returns the end of the story for a log: at most that many events, a line
// each, the newest last. Before them it lists unimplemented requests and panics,
// whenever they happened.
func (s *Story) Text(lines int) string {
	all := s.events()
	var b strings.Builder
	for _, r := range s.Requests {
		if r.Unimplemented {
			fmt.Fprintf(&b, "  not implemented: %s\n", r.line())
		}
		if r.Panic != "" {
			fmt.Fprintf(&b, "  a bug of the server: %s\n%s\n", r.line(), indent(r.Panic))
		}
	}
	skip := max(0, len(all)-lines)
	all = all[skip:]
	if earlier := s.Earlier + skip; earlier > 0 {
		fmt.Fprintf(&b, "  (%d earlier events)\n", earlier)
	}
	for _, e := range all {
		fmt.Fprintf(&b, "  %s  %s\n", offset(e.At), e.line)
	}
	return b.String()
}

// An event is one line of a text.
type event struct {
	Moment
	line string
}

// events returns the lines of the story in order: revisions, failed requests,
// notes, watches that the server ended, stale reads, and loops. A loop has a line at its
// end, and of its writes only the first one has a line.
func (s *Story) events() []event {
	var all []event
	add := func(m Moment, format string, args ...any) { all = append(all, event{m, fmt.Sprintf(format, args...)}) }
	looped := map[int64]bool{} // writes by their order
	for i := range s.Loops {
		l := &s.Loops[i]
		for _, order := range l.Writes[1:] {
			looped[order] = true
		}
		add(l.Moment, "      %s", l.line())
	}
	for i := range s.Revisions {
		if looped[s.Revisions[i].Order] {
			continue
		}
		r := &s.Revisions[i]
		add(r.Moment, "r%-4d %s %s %s%s", r.Revision, r.Client, r.Verb, r.Brief, s.sightings(r))
	}
	for i := range s.Requests {
		if r := &s.Requests[i]; !r.Unimplemented && r.Panic == "" && !s.createdAfter(r) && !looped[r.Order] {
			add(r.Moment, "      %s", r.line())
		}
	}
	for _, n := range s.Notes {
		add(n.Moment, "      %s", n.line())
	}
	for i := range s.Readers {
		r := &s.Readers[i]
		seen := int64(0)
		for _, m := range r.Marks {
			switch {
			case m.Kind == EndMark && m.Text != "":
				add(m.Moment, "      %s was ended at r%d: %s", r, seen, m.Text)
			case m.Revision < m.Newest:
				add(m.Moment, "      %s read r%d when r%d was the newest", r.describe(string(m.Kind)), m.Revision, m.Newest)
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
		return rev.Order > r.Order && rev.Client.Name == r.Client.Name && slices.ContainsFunc(rev.Changes, func(c Change) bool {
			return c.Type == storage.Added && c.Target == r.Target
		})
	})
}

// combine combines consecutive equal lines into one with a count.
func combine(all []event) []event {
	var out []event
	times := 1
	for i, e := range all {
		if i > 0 && e.line == all[i-1].line {
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

const (
	maxFields = 3  // in a line
	maxBrief  = 40 // bytes of a value in a line
)

// brief describes the changes of a revision on one line.
func (r *Revision) brief() string {
	if len(r.Changes) == 0 {
		return ""
	}
	c := r.Changes[0]
	line := c.Target.String()
	if c.Type != storage.Modified {
		if c.Type != usualType[r.Verb] {
			line += " " + string(c.Type)
		}
	} else if fields := briefFields(c.Fields); fields != "" {
		line += ": " + fields
	}
	if more := len(r.Changes) - 1 + r.Omitted; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// usualType is the change type that a verb usually makes; brief omits it.
var usualType = map[string]storage.ChangeType{
	"create": storage.Added, "put": storage.Added, "delete": storage.Deleted, "remove": storage.Deleted,
}

// derived are fields that change because others do.
var derived = map[string]bool{"metadata.generation": true, "metadata.uid": true, "metadata.creationTimestamp": true, "metadata.deletionGracePeriodSeconds": true}

func briefFields(fields []Field) string {
	var parts []string
	for _, f := range fields {
		if derived[f.Path] && len(fields) > 1 {
			continue
		}
		parts = append(parts, f.String())
	}
	if more := len(parts) - maxFields; more > 0 {
		parts = append(parts[:maxFields], fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// String returns the field as "spec.replicas 1 → 3".
func (f Field) String() string {
	switch {
	case f.Old == nil:
		return f.Path + " = " + brief(f.New)
	case f.New == nil:
		return f.Path + " removed"
	}
	return f.Path + " " + brief(f.Old) + " → " + brief(f.New)
}

// brief returns a value as text. It cuts a long string, and replaces a long object
// or list by its length: {3}, [5].
func brief(v any) string {
	text, ok := v.(string)
	if !ok || text == "" || strings.ContainsAny(text, " \n\t,") {
		b, err := json.Marshal(v)
		if err != nil {
			panic("story: a decoded value does not encode: " + err.Error()) // unreachable: it came from JSON
		}
		text = string(b)
	}
	if len(text) <= maxBrief {
		return text
	}
	switch t := v.(type) {
	case map[string]any:
		return fmt.Sprintf("{%d}", len(t))
	case []any:
		return fmt.Sprintf("[%d]", len(t))
	}
	return strings.ToValidUTF8(text[:maxBrief], "") + "…"
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

// String returns the client as "kubectl (kubectl-edit)".
func (c Client) String() string {
	if c.Manager != "" && c.Manager != c.Name {
		return c.Name + " (" + c.Manager + ")"
	}
	return c.Name
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
