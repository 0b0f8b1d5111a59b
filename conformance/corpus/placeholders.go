package corpus

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/scenarios"
)

var (
	uidValue    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timeValue   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
	numberValue = regexp.MustCompile(`^\d+$`)
	numbered    = regexp.MustCompile(`^<(uid|rv)(:\d+)?>$`)
)

// A namer replaces the volatile values of a play by placeholders, numbered in the order in which
// they appear.
type namer struct {
	address *regexp.Regexp    // the server's
	names   map[string]string // by class and value
	last    map[string]int    // by class
}

func newNamer(port string) *namer {
	return &namer{
		address: regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+:` + port + `\b`),
		names:   map[string]string{}, last: map[string]int{},
	}
}

// number returns the placeholder of a value.
func (n *namer) number(class, value string) string {
	if name, ok := n.names[class+value]; ok {
		return name
	}
	n.last[class]++
	name := fmt.Sprintf("<%s:%d>", class, n.last[class])
	n.names[class+value] = name
	return name
}

// name replaces what is volatile in the value of a member. It changes maps and lists in place.
func (n *namer) name(v any, key string) any {
	key = key[strings.LastIndex(key, ".")+1:] // a body that only selects has paths as keys
	switch t := v.(type) {
	case map[string]any:
		_, isList := t["items"]
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if k != "metadata" || !isList {
				t[k] = n.name(t[k], k)
			}
		}
		if meta, ok := t["metadata"].(map[string]any); ok && isList {
			n.nameListMeta(meta)
		}
	case []any:
		for i := range t {
			t[i] = n.name(t[i], key)
		}
	case string:
		switch {
		case n.address.MatchString(t):
			return n.address.ReplaceAllLiteralString(t, "<*>")
		case key == "gitCommit" || key == "gitTreeState":
			return "<any>"
		case uidValue.MatchString(t):
			return n.number("uid", t)
		case timeValue.MatchString(t):
			return "<time>"
		case key == "resourceVersion" && numberValue.MatchString(t) && t != "0":
			return n.number("rv", t)
		case key == "continue" && t != "":
			return "<continue>"
		}
	}
	return v
}

// nameListMeta replaces what is volatile in the metadata of a list, whose version has a number
// only if an object or an earlier answer has it too.
func (n *namer) nameListMeta(meta map[string]any) {
	for k, v := range meta {
		version, ok := v.(string)
		if !ok || k != "resourceVersion" || !numberValue.MatchString(version) {
			meta[k] = n.name(v, k)
			continue
		}
		meta[k] = "<rv>"
		if name, ok := n.names["rv"+version]; ok {
			meta[k] = name
		}
	}
}

// mergeAnswers returns the answer that two plays agree on. Both have the same status.
func mergeAnswers(a, b *scenarios.Answer) *scenarios.Answer {
	out := &scenarios.Answer{Status: a.Status, Headers: mergeHeaders(a.Headers, b.Headers), Warning: a.Warning, Body: merge(a.Body, b.Body)}
	if len(a.Warning) == len(b.Warning) {
		for i := range a.Warning {
			out.Warning[i] = mergeTexts(a.Warning[i], b.Warning[i])
		}
	}
	for i := range min(len(a.Events), len(b.Events)) {
		out.Events = append(out.Events, merge(a.Events[i], b.Events[i]))
	}
	return out
}

// mergeHeaders returns the headers that two plays agree on, nil if there are none.
func mergeHeaders(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, headers := range []map[string]string{a, b} {
		for key := range headers {
			switch one, two := a[key], b[key]; {
			case one == two:
				out[key] = one
			case one == "" || two == "":
				out[key] = "<maybe>"
			default:
				out[key] = "<any>"
			}
		}
	}
	return out
}

// merge returns the value that two plays agree on, with placeholders for what differs.
func merge(a, b any) any {
	if reflect.DeepEqual(a, b) {
		return a
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			out := map[string]any{}
			for k := range y {
				out[k] = "<maybe>"
			}
			for k := range x {
				if _, ok := y[k]; ok {
					out[k] = merge(x[k], y[k])
				} else {
					out[k] = "<maybe>"
				}
			}
			return out
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				x[i] = merge(x[i], y[i])
			}
			return x
		}
	case string:
		if y, ok := b.(string); ok {
			return mergeTexts(x, y)
		}
	}
	return "<any>"
}

// keepVersions returns an answer in which the placeholder of a version has a number only if the
// one before has it. What else the server writes decides whether the version of a list is that of
// an object too.
func keepVersions(before, now any) any {
	switch x := now.(type) {
	case map[string]any:
		if y, ok := before.(map[string]any); ok {
			for k := range x {
				x[k] = keepVersions(y[k], x[k])
			}
		}
	case []any:
		if y, ok := before.([]any); ok && len(x) == len(y) {
			for i := range x {
				x[i] = keepVersions(y[i], x[i])
			}
		}
	case string:
		if y, ok := before.(string); ok && classOf(x) == "rv" && classOf(y) == "rv" && (x == "<rv>" || y == "<rv>") {
			return y
		}
	}
	return now
}

// mergeTexts returns the placeholder of the class of two texts, or what they begin and end with.
func mergeTexts(a, b string) string {
	switch class := classOf(a); {
	case a == b:
		return a
	case numberValue.MatchString(a) && numberValue.MatchString(b):
		return "<num>"
	case class != "" && class == classOf(b):
		return "<" + class + ">"
	}
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// A word that only begins or ends like the other differs as a whole.
	for head > 0 && inWord(a[head-1]) {
		head--
	}
	for tail > 0 && inWord(a[len(a)-tail]) {
		tail--
	}
	return a[:head] + "<*>" + a[len(a)-tail:]
}

// classOf returns the class of a placeholder with or without a number.
func classOf(s string) string {
	if m := numbered.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
