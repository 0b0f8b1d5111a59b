package scenarios

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// names are what ${name} stands for in a scenario.
type names map[string]string

var namePattern = regexp.MustCompile(`\$\{\w+\}`)

// expand replaces the names in s. One that is not bound stays as it is.
func (n names) expand(s string) string {
	return namePattern.ReplaceAllStringFunc(s, func(ref string) string {
		name := ref[2 : len(ref)-1]
		if base, ok := strings.CutSuffix(name, "_base64"); ok {
			if value, ok := n[base]; ok {
				return base64.StdEncoding.EncodeToString([]byte(value))
			}
		}
		if value, ok := n[name]; ok {
			return value
		}
		return ref
	})
}

// folder returns what puts the names back where the values of this play stand
// in a text.
func (n names) folder() *strings.Replacer {
	var pairs []string
	// The name of the namespace ends with the run's: it comes first.
	for _, name := range []string{"ns", "webhook", "webhook_ca", "run"} {
		if n[name] != "" {
			pairs = append(pairs, n[name], "${"+name+"}")
		}
	}
	return strings.NewReplacer(pairs...)
}

// capture binds the names that a step captures to values in a body: those whose
// path begins with prefix, which for events is their index.
func capture(st *Step, body any, prefix string, bind func(name, value string)) {
	for name, path := range st.Capture {
		path, ok := strings.CutPrefix(path, prefix)
		if !ok || strings.HasPrefix(path, "header.") {
			continue
		}
		if v, ok := lookup(body, path); ok {
			bind(name, fmt.Sprint(v))
		} else {
			bind(name, "")
		}
	}
}

// captureHeaders binds the names that a step captures to headers.
func captureHeaders(st *Step, h http.Header, bind func(name, value string)) {
	for name, path := range st.Capture {
		if key, ok := strings.CutPrefix(path, "header."); ok {
			bind(name, h.Get(key))
		}
	}
}

// mapStrings applies f to every string and key of a value, lists in place.
func mapStrings(v any, f func(string) string) any {
	switch t := v.(type) {
	case string:
		return f(t)
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[f(k)] = mapStrings(e, f)
		}
		return out
	case []any:
		for i := range t {
			t[i] = mapStrings(t[i], f)
		}
	}
	return v
}

// dropManagedFields removes metadata.managedFields at every depth.
func dropManagedFields(v any) {
	walkObjects(v, func(o map[string]any) {
		if meta, ok := o["metadata"].(map[string]any); ok {
			delete(meta, "managedFields")
		}
	})
}

// dropDescriptions removes what documents say of their fields.
func dropDescriptions(v any) {
	walkObjects(v, func(o map[string]any) {
		if _, ok := o["description"].(string); ok {
			delete(o, "description")
		}
	})
}

func walkObjects(v any, visit func(map[string]any)) {
	switch t := v.(type) {
	case map[string]any:
		visit(t)
		for _, e := range t {
			walkObjects(e, visit)
		}
	case []any:
		for _, e := range t {
			walkObjects(e, visit)
		}
	}
}

// lookup follows a dotted path. A number indexes a list; \. is a dot within a
// key.
func lookup(v any, path string) (any, bool) {
	for _, part := range splitPath(path) {
		switch t := v.(type) {
		case map[string]any:
			e, ok := t[part]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// only flattens a value to the given paths.
func only(v any, paths []string) any {
	out := map[string]any{}
	for _, p := range paths {
		if e, ok := lookup(v, p); ok {
			out[p] = e
		} else {
			out[p] = "<absent>"
		}
	}
	return out
}
