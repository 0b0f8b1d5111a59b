package scenarios

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/scrub"
)

// variables are the values of ${name} in a scenario.
type variables map[string]string

var variablePattern = regexp.MustCompile(`\$\{\w+\}`)

// expand replaces the variables in s. An unset variable is not replaced.
func (v variables) expand(s string) string {
	return variablePattern.ReplaceAllStringFunc(s, func(ref string) string {
		name := ref[2 : len(ref)-1]
		if base, ok := strings.CutSuffix(name, "_base64"); ok {
			if value, ok := v[base]; ok {
				return base64.StdEncoding.EncodeToString([]byte(value))
			}
		}
		if value, ok := v[name]; ok {
			return value
		}
		return ref
	})
}

// unexpander returns a replacer that puts the predefined variables in place of
// their values.
func (v variables) unexpander() *strings.Replacer {
	var pairs []string
	// ns contains run, so it is replaced first.
	for _, name := range []string{"ns", "webhook", "webhook_ca", "run"} {
		if v[name] != "" {
			pairs = append(pairs, v[name], "${"+name+"}")
		}
	}
	return strings.NewReplacer(pairs...)
}

// capture sets the variables that a step captures from a body. It uses the paths
// that begin with prefix: for an event that is its index.
func capture(st *Step, body any, prefix string, set func(name, value string)) {
	for name, path := range st.Capture {
		path, ok := strings.CutPrefix(path, prefix)
		if !ok || strings.HasPrefix(path, "header.") {
			continue
		}
		if v, ok := lookup(body, path); ok {
			set(name, fmt.Sprint(v))
		} else {
			set(name, "")
		}
	}
}

// captureHeaders sets the variables that a step captures from headers.
func captureHeaders(st *Step, h http.Header, set func(name, value string)) {
	for name, path := range st.Capture {
		if key, ok := strings.CutPrefix(path, "header."); ok {
			set(name, h.Get(key))
		}
	}
}

// mapStrings applies f to all strings and keys of a value. It changes lists in
// place and copies maps.
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

// dropManagedFields removes metadata.managedFields at all depths.
func dropManagedFields(v any) {
	walkObjects(v, func(o map[string]any) {
		if meta, ok := o["metadata"].(map[string]any); ok {
			delete(meta, "managedFields")
		}
	})
}

// dropDescriptions removes the string members named description at all depths.
func dropDescriptions(v any) {
	walkObjects(v, func(o map[string]any) {
		if _, ok := o["description"].(string); ok {
			delete(o, "description")
		}
	})
}

// walkObjects calls visit for each map in v, outer ones first.
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

// lookup returns the value at a dotted path. A number is the index of a list
// element; \. is a literal dot.
func lookup(v any, path string) (any, bool) {
	for _, part := range scrub.SplitPath(path) {
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

// only returns the values at the given paths, in one map by path.
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
