package scenarios

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// fill makes of what a step wants an answer without placeholders, and binds what
// the step captures.
func (s *Script) fill(st *Step) *Answer {
	out := &Answer{Status: cmp.Or(st.Want.Status, http.StatusOK), Headers: map[string]string{}, Warning: st.Want.Warning}
	headers := http.Header{}
	for k, v := range st.Want.Headers {
		// What is sent is not encoded, and what is not told is left out.
		if v != "<any>" && v != "<maybe>" && k != "Content-Encoding" {
			out.Headers[k] = v
			headers.Set(k, v)
		}
	}
	captureHeaders(st, headers, s.bind)
	s.makeUp(st)
	out.Body = s.fillValue(st.Want.Body)
	for _, e := range st.Want.Events {
		out.Events = append(out.Events, s.fillValue(e))
	}
	for i, e := range out.Events {
		capture(st, e, strconv.Itoa(i)+".", s.bind)
	}
	if st.Events == "" {
		capture(st, out.Body, "", s.bind)
	}
	return out
}

// makeUp binds the names that a step captures from where its own answer has them:
// names that a server has generated.
func (s *Script) makeUp(st *Step) {
	for name, path := range st.Capture {
		if v, _ := lookup(st.Want.Body, path); v == "${"+name+"}" {
			prefix, _ := lookup(st.Body, "metadata.generateName")
			s.bind(name, fmt.Sprint(cmp.Or(prefix, any("")), word(name)[:5]))
		}
	}
}

func (s *Script) bind(name, value string) { s.names[name] = value }

func (s *Script) fillValue(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			if e != "<maybe>" {
				out[s.names.expand(k)] = s.fillValue(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = s.fillValue(e)
		}
		return out
	case string:
		return s.stand.in(s.names.expand(t))
	}
	return v
}

// standIns count the values that stand in for placeholders without a number.
type standIns map[string]int

// in returns what stands in for a text, if that is a placeholder or has one.
func (n standIns) in(text string) any {
	number := func(class string) int {
		n[class]++
		return 1000000 + n[class]
	}
	if m := boundPattern.FindStringSubmatch(text); m != nil {
		if m[1] == "uid" {
			return uidOf(m[2])
		}
		return m[2]
	}
	switch text {
	case "<uid>":
		return uidOf(strconv.Itoa(number("uid")))
	case "<rv>", "<num>":
		return strconv.Itoa(number("rv"))
	case "<time>":
		return "2026-01-01T00:00:00Z"
	case "<continue>":
		return "continue"
	case "<any>":
		return nil
	}
	return strings.ReplaceAll(text, "<*>", "")
}

// uidOf is a UID that has a number at its end.
func uidOf(number string) string {
	const blank = "00000000-0000-4000-8000-000000000000"
	return blank[:max(len(blank)-len(number), 0)] + number
}
