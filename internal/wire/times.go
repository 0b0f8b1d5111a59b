package wire

import (
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// MapTimes returns an object of the type with f(field, text) in place of the text of each Time: obj
// itself, or a copy that shares with it what does not change. field is the name of the time.
func (t *Type) MapTimes(obj map[string]any, f func(field, text string) string) map[string]any {
	return t.root.mapTimes("", obj, f).(map[string]any)
}

// mapTimes is MapTimes for the value of a field.
func (n *node) mapTimes(field string, v any, f func(field, text string) string) any {
	switch n.kind {
	case kindTime:
		if text, ok := v.(string); ok {
			return f(field, text)
		}
	case kindStruct, kindMap:
		obj, ok := v.(map[string]any)
		if !ok {
			return v
		}
		out := obj
		for name, member := range obj {
			typ := n.elem
			if n.kind == kindStruct {
				i := n.byName.Find(name)
				if i < 0 {
					continue
				}
				typ = n.fields[i].node
			}
			mapped := typ.mapTimes(name, member, f)
			if object.Identical(mapped, member) {
				continue
			}
			if object.Same(out, obj) {
				out = maps.Clone(obj)
			}
			out[name] = mapped
		}
		return out
	case kindSlice:
		list, ok := v.([]any)
		if !ok {
			return v
		}
		out := list
		for i, element := range list {
			mapped := n.elem.mapTimes(field, element, f)
			if object.Identical(mapped, element) {
				continue
			}
			if object.Identical(out, list) {
				out = slices.Clone(list)
			}
			out[i] = mapped
		}
		return out
	}
	return v
}

// TruncateTime returns what is stored of the text of a Time, and whether the text has a fraction of a
// second, which kube-apiserver keeps until then.
func TruncateTime(text string) (stored string, hasFraction bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Nanosecond() == 0 {
		return text, false
	}
	return t.UTC().Truncate(time.Second).Format(time.RFC3339), true
}
