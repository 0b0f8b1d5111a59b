package fieldmanager

import (
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// remove returns a value without the fields of a set. It shares with v what has none of them. Of an object
// or a list that loses all of its fields, null is left, and of one that is atomic, too.
func (n names) remove(s *resolvedType, v any, set *fieldpath.Set) any {
	switch as := variantOf(s, v); {
	case s.empty():
		return nil
	case as == mapVariant:
		members, _ := v.(map[string]any)
		return n.removeMembers(s.object, members, set)
	case as == listVariant:
		list, _ := v.([]any)
		return n.removeElements(s.list, list, set)
	}
	return v
}

func (n names) removeMembers(t *mapType, members map[string]any, set *fieldpath.Set) any {
	if t.atomic {
		return nil
	}
	left := make(map[string]any, len(members))
	for name, v := range members {
		if v, ok := n.removeAt(n.field(name), t.typeOf(name), v, set); ok {
			left[name] = v
		}
	}
	if len(left) == 0 {
		return nil
	}
	return left
}

func (n names) removeElements(t *listType, list []any, set *fieldpath.Set) any {
	if t.atomic {
		return nil
	}
	var left []any
	for _, v := range list {
		step, err := t.step(v)
		if err != nil {
			panic("fieldmanager: " + err.Error()) // unreachable: the object matches the schema
		}
		if v, ok := n.removeAt(n.parseStep(step.text), t.element, v, set); ok {
			left = append(left, v)
		}
	}
	if left == nil {
		return nil
	}
	return left
}

// removeAt returns a member or an element without the fields of the set below it. ok is false if the set
// has it as a whole.
func (n names) removeAt(at fieldpath.PathElement, s *resolvedType, v any, set *fieldpath.Set) (left any, ok bool) {
	if set.Members.Has(at) {
		return nil, false
	}
	if below, ok := set.Children.Get(at); ok && !below.Empty() {
		v = n.remove(s, v, below)
	}
	return v, true
}
