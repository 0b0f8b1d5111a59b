package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/scrub"
)

// maxFields is the number of fields that changedFields names.
const maxFields = 4

// changedFields describes what differs between two versions of an object of a resource, in
// JSON, without secrets: "spec.replicas 3 -> 4". It leaves out what every write changes.
func changedFields(before, after []byte, resource string, s *scrub.Scrubber) string {
	var a, b map[string]any
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		return ""
	}
	for _, obj := range []map[string]any{a, b} {
		s.Body(resource, obj)
		meta := object.Meta(obj)
		for _, name := range []string{"resourceVersion", "managedFields", "generation"} {
			delete(meta, name)
		}
	}
	var out []string
	addChanges("", a, b, &out)
	if len(out) == 0 {
		return "no field"
	}
	if len(out) > maxFields {
		out = append(out[:maxFields], "...")
	}
	return strings.Join(out, ", ")
}

func addChanges(path string, a, b any, out *[]string) {
	x, isMap := a.(map[string]any)
	y, bothMaps := b.(map[string]any)
	if !isMap || !bothMaps {
		if !object.Equal(a, b) {
			*out = append(*out, fmt.Sprintf("%s %s -> %s", path, short(a), short(b)))
		}
		return
	}
	names := maps.Clone(x)
	maps.Copy(names, y)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		addChanges(strings.TrimPrefix(path+"."+name, "."), x[name], y[name], out)
	}
}

// short returns a value in JSON, cut to a few words.
func short(v any) string {
	if v == nil {
		return "none"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	const limit = 40
	if len(b) > limit {
		return string(b[:limit]) + "..."
	}
	return string(b)
}
