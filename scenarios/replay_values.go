package scenarios

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// answer returns a step's want with values in place of placeholders, and sets the
// variables that the step captures.
func (rp *Replayer) answer(st *Step) *Answer {
	out := &Answer{Status: cmp.Or(st.Want.Status, http.StatusOK), Headers: map[string]string{}, Warning: st.Want.Warning}
	headers := http.Header{}
	for k, v := range st.Want.Headers {
		// The body is sent without encoding. A header that may have any value is left out.
		if v != "<any>" && v != "<maybe>" && k != "Content-Encoding" {
			out.Headers[k] = v
			headers.Set(k, v)
		}
	}
	captureHeaders(st, headers, rp.setVariable)
	rp.setGeneratedNames(st)
	out.Body = rp.resolve(st.Want.Body)
	for _, e := range st.Want.Events {
		out.Events = append(out.Events, rp.resolve(e))
	}
	for i, e := range out.Events {
		capture(st, e, strconv.Itoa(i)+".", rp.setVariable)
	}
	if st.Events == "" {
		capture(st, out.Body, "", rp.setVariable)
	}
	return out
}

// setGeneratedNames sets the variables that a step captures from a place where its
// own answer has the same variable: a name that the server generated.
func (rp *Replayer) setGeneratedNames(st *Step) {
	for name, path := range st.Capture {
		if v, _ := lookup(st.Want.Body, path); v == "${"+name+"}" {
			prefix, _ := lookup(st.Body, "metadata.generateName")
			rp.setVariable(name, fmt.Sprint(cmp.Or(prefix, any("")), hashName(name)[:5]))
		}
	}
}

func (rp *Replayer) setVariable(name, value string) { rp.vars[name] = value }

// resolve returns v with values in place of placeholders and variables.
func (rp *Replayer) resolve(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			if e != "<maybe>" {
				out[rp.vars.expand(k)] = rp.resolve(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = rp.resolve(e)
		}
		return out
	case string:
		return rp.values.replace(rp.vars.expand(t))
	}
	return v
}

// A valueSource makes values for placeholders without a number. It counts the
// values of each class.
type valueSource map[string]int

// replace returns the value for a placeholder, or text with its <*> removed.
func (n valueSource) replace(text string) any {
	number := func(class string) int {
		n[class]++
		return 1000000 + n[class]
	}
	if m := numberedPattern.FindStringSubmatch(text); m != nil {
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

// uidOf returns a UID that ends with a number.
func uidOf(number string) string {
	const blank = "00000000-0000-4000-8000-000000000000"
	return blank[:max(len(blank)-len(number), 0)] + number
}
