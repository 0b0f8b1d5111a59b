package wire

import (
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// Respelled returns before with the quantities of obj in place of those that are equal to them, such
// as 1e9 for 1G. It returns before itself if there are none. Both are objects of the type.
func (t *Type) Respelled(before, obj map[string]any) map[string]any {
	if out, ok := t.root.respelled(before, obj).(map[string]any); ok {
		return out
	}
	return before
}

// respelled returns before if it is or has no quantity that has another text in v. It does not change
// before.
func (n *node) respelled(before, v any) any {
	switch n.kind {
	case kindQuantity:
		was, wasText := before.(string)
		if now, isText := v.(string); wasText && isText && now != was && quantity.Compare(now, was) == 0 {
			return now
		}
	case kindStruct, kindMap:
		was, wasObject := before.(map[string]any)
		if now, isObject := v.(map[string]any); wasObject && isObject && !object.Same(now, was) {
			return n.respelledMembers(was, now)
		}
	case kindSlice:
		was, wasList := before.([]any)
		if now, isList := v.([]any); wasList && isList && !object.Same(now, was) {
			if out := n.respelledItems(was, now); !object.Same(out, was) {
				return out
			}
		}
	}
	return before
}

func (n *node) respelledMembers(before, obj map[string]any) map[string]any {
	out := before
	for name, v := range obj {
		was, had := before[name]
		member := n.elem
		if n.kind == kindStruct {
			i := n.byName.Find(name)
			had = had && i >= 0
			if had {
				member = n.fields[i].node
			}
		}
		if !had {
			continue
		}
		if spelled := member.respelled(was, v); !object.Identical(spelled, was) {
			if object.Same(out, before) {
				out = maps.Clone(before)
			}
			out[name] = spelled
		}
	}
	return out
}

func (n *node) respelledItems(before, list []any) []any {
	out := before
	for i, v := range list[:min(len(list), len(before))] {
		if spelled := n.elem.respelled(before[i], v); !object.Identical(spelled, before[i]) {
			if object.Same(out, before) {
				out = slices.Clone(before)
			}
			out[i] = spelled
		}
	}
	return out
}
