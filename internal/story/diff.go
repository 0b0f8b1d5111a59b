package story

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// diff returns the fields that differ between two objects, the most important
// first. One of the objects may be nil.
func diff(old, new map[string]any) []Field {
	d := differ{modified: old != nil && new != nil}
	d.members("", old, new)
	return d.fields
}

// weights order the top-level fields of an object, ascending: first those that
// controllers act on, last those that the server sets. Others have weight 0.
var weights = map[string]int{"spec": -5, "data": -4, "status": -3, "metadata": 1, "apiVersion": 2, "kind": 2}

func byWeight(a, b string) int {
	if d := weights[a] - weights[b]; d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// ignored are the fields that change with every write or repeat what the story
// has elsewhere.
var ignored = map[string]bool{"metadata.resourceVersion": true, "metadata.managedFields": true}

// A differ collects fields that differ.
type differ struct {
	fields   []Field
	modified bool // neither object is nil
}

// compare compares the members called name of two objects.
func (d *differ) compare(path string, old, new map[string]any, name string) {
	before, had := old[name]
	after, has := new[name]
	switch {
	case ignored[path], had && has && object.Equal(before, after):
		return
	case path == "metadata": // by its fields, even if one side is absent
		oldMeta, _ := before.(map[string]any)
		newMeta, _ := after.(map[string]any)
		d.members(path, oldMeta, newMeta)
	case had && has:
		d.values(path, before, after)
	case had:
		d.fields = append(d.fields, Field{Path: path, Old: short(before)})
	default:
		d.added(path, after)
	}
}

// added adds a value that the old object does not have. In an object that was modified, a long
// value is listed by its members.
func (d *differ) added(path string, v any) {
	if d.modified && !isShort(v, maxWhole) {
		switch v := v.(type) {
		case map[string]any:
			d.members(path, nil, v)
			return
		case []any:
			if key := object.SharedKey(nil, v); key != "" {
				d.elements(path, key, nil, v)
				return
			}
		}
	}
	d.fields = append(d.fields, Field{Path: path, New: short(v)})
}

// values adds the differences of two unequal values.
func (d *differ) values(path string, old, new any) {
	oldMap, ok1 := old.(map[string]any)
	newMap, ok2 := new.(map[string]any)
	if ok1 && ok2 {
		d.members(path, oldMap, newMap)
		return
	}
	oldList, ok1 := old.([]any)
	newList, ok2 := new.([]any)
	if key := object.SharedKey(oldList, newList); ok1 && ok2 && key != "" && (len(oldList) > 0 || !isShort(new, maxWhole)) {
		d.elements(path, key, oldList, newList)
		return
	}
	d.fields = append(d.fields, Field{Path: path, Old: short(old), New: short(new)})
}

// elements compares the elements of two lists by the key that identifies them.
func (d *differ) elements(path, key string, old, new []any) {
	oldMap, newMap := object.ByKey(old, key), object.ByKey(new, key)
	for _, name := range union(oldMap, newMap) {
		element := path + "[" + key + "=" + name + "]"
		if _, had := oldMap[name]; had {
			d.compare(element, oldMap, newMap, name)
		} else {
			d.fields = append(d.fields, Field{Path: element, New: short(newMap[name])})
		}
	}
}

// members compares all members of two objects.
func (d *differ) members(path string, old, new map[string]any) {
	names := union(old, new)
	if path == "" {
		slices.SortFunc(names, byWeight)
	}
	for _, name := range names {
		d.compare(object.Member(path, name), old, new, name)
	}
}

// union returns the member names of two objects, sorted.
func union(a, b map[string]any) []string {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

const (
	// maxWhole is the length of JSON, in bytes, from which a value that is added to an object
	// is listed by its members.
	maxWhole = 60
	// maxStored is the length of JSON, in bytes, from which a value is cut.
	maxStored = 8 << 10
)

// short returns a value, or the beginning of a long one as a string.
func short(v any) any {
	if s, ok := v.(string); ok {
		if len(s) > maxStored {
			return strings.ToValidUTF8(s[:maxStored], "") + fmt.Sprintf("… (%d bytes)", len(s))
		}
		return s
	}
	if text := encode(v); len(text) > maxStored {
		return short(text)
	}
	return v
}

// decode decodes a stored object.
func decode(b []byte) map[string]any {
	obj, ok := parse(string(b))
	if !ok {
		panic("story: a stored object does not decode") // unreachable: the server wrote it
	}
	return obj
}

// parse decodes a JSON object. Numbers keep their digits.
func parse(text string) (obj map[string]any, ok bool) {
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	err := in.Decode(&obj)
	return obj, err == nil
}
