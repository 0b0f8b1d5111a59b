package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/scrub"
)

var (
	uidPattern      = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timePattern     = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	numberPattern   = regexp.MustCompile(`^\d+$`)
	numberedPattern = regexp.MustCompile(`^<(uid|rv):(\d+)>$`)
)

// classes are the placeholders that match any value of a class.
var classes = map[string]func(string) bool{
	"<any>":      func(string) bool { return true },
	"<maybe>":    func(string) bool { return true },
	"<time>":     timePattern.MatchString,
	"<num>":      numberPattern.MatchString,
	"<rv>":       numberPattern.MatchString,
	"<uid>":      uidPattern.MatchString,
	"<continue>": func(s string) bool { return s != "" },
}

// A matcher compares answers with wants. It serves one play of a scenario, step
// by step in order.
type matcher struct {
	bound map[string]string // numbered placeholder to its value
	taken map[string]string // class and value to numbered placeholder

	captured variables // set by capture

	// partial ignores members that want does not have.
	partial bool
}

func newMatcher() *matcher {
	return &matcher{bound: map[string]string{}, taken: map[string]string{}, captured: variables{}}
}

// clone returns a copy of m. Placeholders that the copy binds are bound in m only
// after adopt.
func (m *matcher) clone() *matcher {
	return &matcher{bound: maps.Clone(m.bound), taken: maps.Clone(m.taken), captured: m.captured, partial: m.partial}
}

// adopt takes over the bindings of a clone.
func (m *matcher) adopt(t *matcher) { m.bound, m.taken = t.bound, t.taken }

// differences are lines with the place, the wanted and the actual value.
type differences []string

func (d *differences) add(path, format string, args ...any) {
	*d = append(*d, printable.Line(path+": "+fmt.Sprintf(format, args...)))
}

// compare returns how got differs from want.
func (m *matcher) compare(want, got *Answer) []string {
	var d differences
	status := want.Status
	if status == 0 && got.Status != 0 {
		status = http.StatusOK
	}
	if status != got.Status {
		d.add("status", "want %d, got %d %s", status, got.Status, short(got.Body))
	}
	if want.Headers != nil {
		for _, h := range comparedHeaders {
			if w, g := want.Headers[h], got.Headers[h]; !sameHeader(w, g) {
				d.add("header "+h, "want %q, got %q", w, g)
			}
		}
	}
	m.list("warning", anys(want.Warning), anys(got.Warning), &d)
	if status == got.Status {
		m.value("body", want.Body, got.Body, &d)
		m.list("events", want.Events, got.Events, &d)
	}
	return d
}

// compareSubset is compare, except that it ignores what want does not mention.
func (m *matcher) compareSubset(want, got *Answer) []string {
	part := &Answer{Status: got.Status, Headers: map[string]string{}}
	for h := range want.Headers {
		part.Headers[h] = got.Headers[h]
	}
	if want.Warning != nil {
		part.Warning = got.Warning
	}
	if want.Body != nil {
		part.Body = got.Body
	}
	return m.compare(want, part)
}

func sameHeader(want, got string) bool {
	return want == got || want == "<maybe>" || want == "<any>" && got != ""
}

// value adds the differences between want and got, which are at a path of an
// answer.
func (m *matcher) value(path string, want, got any, d *differences) {
	switch w := want.(type) {
	case nil:
		if got != nil {
			d.add(path, "want null, got %s", short(got))
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			d.add(path, "want an object, got %s", short(got))
			return
		}
		m.object(path, w, g, d)
	case []any:
		g, ok := got.([]any)
		if !ok {
			d.add(path, "want a list, got %s", short(got))
			return
		}
		m.list(path, w, g, d)
	case string:
		m.scalar(path, w, got, d)
	default:
		if _, ok := got.(string); ok || fmt.Sprint(want) != fmt.Sprint(got) {
			d.add(path, "want %v, got %s", want, short(got))
		}
	}
}

func (m *matcher) object(path string, want, got map[string]any, d *differences) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if want[k] == "<maybe>" {
			continue
		}
		g, ok := got[k]
		if !ok && m.partial && want[k] == nil {
			continue
		}
		if !ok {
			d.add(path+"."+k, "missing, want %s", short(want[k]))
			continue
		}
		m.value(path+"."+k, want[k], g, d)
	}
	if m.partial {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			d.add(path+"."+k, "unexpected, got %s", short(got[k]))
		}
	}
}

func (m *matcher) list(path string, want, got []any, d *differences) {
	if len(want) != len(got) {
		d.add(path, "want %d items, got %d", len(want), len(got))
	}
	for i := range min(len(want), len(got)) {
		m.value(path+"["+strconv.Itoa(i)+"]", want[i], got[i], d)
	}
}

// scalar compares got with a text or a placeholder. Two placeholders also match
// other values than strings: <any> matches all values, <num> matches numbers.
func (m *matcher) scalar(path, want string, got any, d *differences) {
	var text string
	switch g := got.(type) {
	case string:
		text = g
	case json.Number:
		if want != "<any>" && want != "<num>" {
			d.add(path, "want %q, got the number %s", want, g)
			return
		}
		text = g.String()
	default:
		if want != "<any>" {
			d.add(path, "want %q, got %s", want, short(got))
		}
		return
	}
	if len(m.captured) > 0 {
		want = m.captured.expand(want)
	}
	if numberedPattern.MatchString(want) {
		m.bind(path, want, text, d)
		return
	}
	if scrub.Contains(want) {
		m.secret(path, want, text, d)
		return
	}
	if !matches(want, text) {
		d.add(path, "want %q, got %q", want, text)
	}
}

// secret compares got with a text of a recording that has a placeholder of a secret. The text
// that it had is unknown, but is the same each time.
func (m *matcher) secret(path, want, got string, d *differences) {
	value, isBound := m.bound[want]
	switch {
	case !isBound:
		m.bound[want] = got
	case value != got:
		d.add(path, "want %q, which is %q, got %q", want, value, got)
	}
}

// matches compares a text with a want, which may be a placeholder without a number
// or contain <*>.
func matches(want, got string) bool {
	if is, ok := classes[want]; ok {
		return is(got)
	}
	parts := strings.Split(want, "<*>")
	if len(parts) == 1 {
		return want == got
	}
	got, ok := strings.CutPrefix(got, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if ok {
			_, got, ok = strings.Cut(got, part)
		}
	}
	return ok && strings.HasSuffix(got, parts[len(parts)-1])
}

// bind compares got with the value of a numbered placeholder. An unbound
// placeholder is bound to got.
func (m *matcher) bind(path, placeholder, got string, d *differences) {
	class := numberedPattern.FindStringSubmatch(placeholder)[1]
	value, isBound := m.bound[placeholder]
	other, isTaken := m.taken[class+got]
	switch {
	case !classes["<"+class+">"](got):
		d.add(path, "want %s, got %q", placeholder, got)
	case isBound && value != got:
		d.add(path, "want %s, which is %s, got %s", placeholder, value, got)
	case isBound:
	case isTaken:
		d.add(path, "want %s, a new value, got %s, which is %s", placeholder, got, other)
	default:
		m.bound[placeholder], m.taken[class+got] = got, placeholder
	}
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// maxShort is how many bytes short returns, without the mark of what is cut.
const maxShort = 300

// short returns v as JSON, truncated for use in a message.
func short(v any) string {
	b, err := marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > maxShort {
		return string(b[:maxShort]) + "…"
	}
	return string(b)
}
