package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	uidPattern         = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timePattern        = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	numberPattern      = regexp.MustCompile(`^\d+$`)
	placeholderPattern = regexp.MustCompile(`^<(uid|rv):\d+>$`)
)

// A matcher compares answers with recorded ones. A recorded string may be a
// placeholder:
//
//	<uid> <rv> <time> <num> <continue>   any value of that class
//	<uid:N> <rv:N>                       one value throughout the scenario; two N of a class never share one
//	<any>                                any value
//	<maybe>                              any value, or the field is absent
//	text <*> text                        any run of text at <*>
//
// The zero matcher is not ready; use newMatcher. One matcher serves one
// scenario, its steps in order.
type matcher struct {
	bound map[string]string // placeholder to value
	taken map[string]string // class and value to placeholder
}

func newMatcher() *matcher {
	return &matcher{bound: map[string]string{}, taken: map[string]string{}}
}

// answer reports how got differs from want, a line a difference.
func (m *matcher) answer(want, got *answer) []string {
	var d differences
	if want.Status != got.Status {
		d.add("status", "want %d, got %d %s", want.Status, got.Status, short(got.Body))
	}
	for _, h := range comparedHeaders {
		w, g := want.Headers[h], got.Headers[h]
		if w != g && w != "<maybe>" && (w != "<any>" || g == "") {
			d.add("header "+h, "want %q, got %q", w, g)
		}
	}
	m.value("warning", anys(want.Warning), anys(got.Warning), &d)
	if want.Status == got.Status {
		m.value("body", want.Body, got.Body, &d)
		m.list("events", want.Events, got.Events, &d)
	}
	return d
}

type differences []string

func (d *differences) add(path, format string, args ...any) {
	*d = append(*d, path+": "+fmt.Sprintf(format, args...))
}

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
		switch g := got.(type) {
		case string:
			m.text(path, w, g, d)
		case json.Number:
			if w != "<any>" && w != "<num>" {
				d.add(path, "want %q, got the number %s", w, g)
			}
		default:
			if w != "<any>" {
				d.add(path, "want %q, got %s", w, short(got))
			}
		}
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
		if !ok {
			d.add(path+"."+k, "missing, want %s", short(want[k]))
			continue
		}
		m.value(path+"."+k, want[k], g, d)
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			d.add(path+"."+k, "not wanted, got %s", short(got[k]))
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

func (m *matcher) text(path, want, got string, d *differences) {
	ok := false
	switch {
	case want == "<any>" || want == "<maybe>":
		ok = true
	case want == "<time>":
		ok = timePattern.MatchString(got)
	case want == "<num>" || want == "<rv>":
		ok = numberPattern.MatchString(got)
	case want == "<uid>":
		ok = uidPattern.MatchString(got)
	case want == "<continue>":
		ok = got != ""
	case placeholderPattern.MatchString(want):
		m.bind(path, want, got, d)
		return
	case strings.Contains(want, "<*>"):
		expr := strings.ReplaceAll(regexp.QuoteMeta(want), "<\\*>", ".*")
		ok = regexp.MustCompile(`(?s)^` + expr + `$`).MatchString(got)
	default:
		ok = want == got
	}
	if !ok {
		d.add(path, "want %q, got %q", want, got)
	}
}

// bind compares got with the value of a numbered placeholder, which it binds
// at their first meeting.
func (m *matcher) bind(path, placeholder, got string, d *differences) {
	class := placeholderPattern.FindStringSubmatch(placeholder)[1]
	valid := numberPattern
	if class == "uid" {
		valid = uidPattern
	}
	value, isBound := m.bound[placeholder]
	other, isTaken := m.taken[class+got]
	switch {
	case !valid.MatchString(got):
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

// short renders v for a message.
func short(v any) string {
	const limit = 300
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > limit {
		return string(b[:limit]) + "…"
	}
	return string(b)
}

func TestMatcher(t *testing.T) {
	const (
		uid1 = "11111111-1111-4111-8111-111111111111"
		uid2 = "22222222-2222-4222-8222-222222222222"
	)
	for _, row := range []struct {
		name      string
		want, got string // JSON
		differs   []string
	}{
		{"equal", `{"a":[1,"x",true,null]}`, `{"a":[1,"x",true,null]}`, nil},
		{"number and its text", `{"a":1}`, `{"a":"1"}`, []string{`.a: want 1, got "1"`}},
		{"text and its number", `{"a":"1"}`, `{"a":1}`, []string{`.a: want "1", got the number 1`}},
		{"missing", `{"a":1}`, `{}`, []string{`.a: missing, want 1`}},
		{"surplus", `{}`, `{"a":1}`, []string{`.a: not wanted, got 1`}},
		{"maybe absent", `{"a":"<maybe>"}`, `{}`, nil},
		{"maybe present", `{"a":"<maybe>"}`, `{"a":[]}`, nil},
		{"any is not absent", `{"a":"<any>"}`, `{}`, []string{`.a: missing, want "\u003cany\u003e"`}},
		{"any value", `{"a":"<any>"}`, `{"a":{"b":1}}`, nil},
		{"list length", `[1,2]`, `[1]`, []string{`: want 2 items, got 1`}},
		{"wildcard", `"a <*> c"`, `"a b\nb c"`, nil},
		{"wildcard elsewhere", `"a <*> c"`, `"a b d"`, []string{`: want "a <*> c", got "a b d"`}},
		{"classes", `["<time>","<num>","<num>","<rv>","<continue>","<uid>"]`, `["2026-01-02T03:04:05Z",5,"5","7","x","` + uid1 + `"]`, nil},
		{"time without a zone", `"<time>"`, `"2026-01-02T03:04:05"`, []string{`: want "<time>", got "2026-01-02T03:04:05"`}},
		{"one placeholder, one value", `["<rv:1>","<rv:1>"]`, `["5","5"]`, nil},
		{"one placeholder, two values", `["<rv:1>","<rv:1>"]`, `["5","6"]`, []string{`[1]: want <rv:1>, which is 5, got 6`}},
		{"two placeholders, one value", `["<rv:1>","<rv:2>"]`, `["5","5"]`, []string{`[1]: want <rv:2>, a new value, got 5, which is <rv:1>`}},
		{"classes bind apart", `["<uid:1>","<uid:2>"]`, `["` + uid1 + `","` + uid2 + `"]`, nil},
		{"placeholder of another class", `"<uid:1>"`, `"5"`, []string{`: want <uid:1>, got "5"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var d differences
			newMatcher().value("", decodeJSON([]byte(row.want)), decodeJSON([]byte(row.got)), &d)
			assert.Equal(t, row.differs, []string(d))
		})
	}
}
