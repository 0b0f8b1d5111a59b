package kind

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A GatedPath is a field of an object that a server drops, or has dropped, if a feature gate is off.
type GatedPath struct {
	Gate string
	Path string // such as spec.template.spec.hostUsers, or status.containerStatuses[0].user
}

// GatedPaths returns the fields of an object of a built-in kind that depend on feature gates, of each
// gate the first one. The object may have any version whose fields are those of the stored one.
func GatedPaths(group, kind string, obj map[string]any) (out []GatedPath) {
	key := storedKind(group, kind)
	seen := map[string]bool{}
	add := func(fields []gatedField, prefix string, obj map[string]any) {
		for _, f := range fields {
			if seen[f.gate] || obj == nil {
				continue
			}
			if path := firstPath(obj, parsePath(f.path), prefix, f.to, f.keeps); path != "" {
				seen[f.gate] = true
				out = append(out, GatedPath{f.gate, path})
			}
		}
	}
	add(gatedFields[key], "", obj)
	if path, ok := podSpecs[key]; ok {
		add(gatedPodFields, strings.Join(path, ".")+".", object.Map(obj, path...))
	}
	return out
}

// firstPath returns the path of the first field to which steps lead from obj, "" if there is none
// with a value other than those given.
func firstPath(obj map[string]any, steps []step, prefix string, except ...any) string {
	s := steps[0]
	if len(steps) == 1 {
		if !hasField(obj, steps, except...) {
			return ""
		}
		return prefix + s.name
	}
	lists := []string{s.name}
	switch s.to {
	case member, optionalMember:
		return firstPath(object.Map(obj, s.name), steps[1:], prefix+s.name+".", except...)
	case containers:
		lists = containerLists
	case statuses:
		lists = statusLists
	case values, descendants:
		if hasField(obj, steps, except...) {
			return strings.TrimSuffix(prefix+s.name, ".")
		}
		return ""
	}
	for _, list := range lists {
		for i, e := range object.List(obj, list) {
			m, _ := e.(map[string]any)
			if path := firstPath(m, steps[1:], fmt.Sprintf("%s%s[%d].", prefix, list, i), except...); path != "" {
				return path
			}
		}
	}
	return ""
}
