package fieldmanager

import (
	"encoding/json"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/wire"
)

// kube-apiserver compares lists of built-in kinds that are owned as a whole with
// reflect.DeepEqual, and everything else as its encoding shows it. So a writer takes a list that
// it writes again as it was, if
//
//   - an element has an empty list or map, which is nil in the stored object;
//   - the text of a quantity is not canonical, because a Quantity may hold the text;
//   - a time has a fraction of a second, which the stored one does not have;
//   - a quantity that is not in a map has a canonical text that a Quantity does not hold, because
//     the stored one does hold it, since it was encoded.

// addRewritten adds to the changes of a write in its own version the lists that it has written
// again.
func (w *write) addRewritten(t *Type, before, after map[string]any, d *diff) {
	root := t.compiled().types
	if t.isCustom() || !root.respelled && !w.foundEmpty {
		return
	}
	managed, _ := managedFields(after)
	r := rewriting{write: w, empties: w.foundEmpty, managed: managed}
	found := r.in(root, before, after)
	if len(found) > 0 {
		d.changed = d.changed.normalize().union(found.normalize())
	}
}

// A rewriting finds the lists that a write has written again.
type rewriting struct {
	*write
	empties bool  // some lists or maps are empty
	managed []any // the managedFields of the object, which no manager owns
	texts   map[sentText]string
}

// A sentText identifies a quantity or a time of a body by the name of its field or key.
type sentText struct{ name, canonical string }

// in returns the paths of the lists below two values.
func (r *rewriting) in(s *resolvedType, before, after any) (found fieldTree) {
	if !r.empties && !s.respelled {
		return nil
	}
	add := func(step pathStep, s *resolvedType, before, after any) {
		list, isList := after.([]any)
		old, wasList := before.([]any)
		if isList && wasList && s.list != nil && s.list.atomic {
			if len(list) > 0 && !object.Same(list, r.managed) && r.rewritten(s.list.element, old, list) {
				found.add(step, true, nil)
			}
			return
		}
		if below := r.in(s, before, after); below != nil {
			found.add(step, false, below)
		}
	}
	switch after := after.(type) {
	case map[string]any:
		before, _ := before.(map[string]any)
		if s.object == nil || s.object.atomic {
			return nil
		}
		if !r.empties && !s.object.other.respelled {
			for _, f := range s.object.listed {
				name := f.name()
				was, had := before[name]
				if v, has := after[name]; had && has {
					add(f.step, f.resolvedType, was, v)
				}
			}
			return found
		}
		for name, v := range after {
			if was, ok := before[name]; ok {
				step, s, _ := s.object.field(name)
				add(step, s, was, v)
			}
		}
	case []any:
		before, _ := before.([]any)
		if s.list == nil || len(s.list.keys) == 0 {
			return nil
		}
		elements, err := matchElements(s.list, before, after)
		if err != nil {
			return nil
		}
		for _, e := range elements {
			if e.before != absent && e.after != absent {
				add(e.step, s.list.element, e.before, e.after)
			}
		}
	}
	return found
}

// rewritten reports whether a list is another one in Go than the stored list, which is equal to
// it. It may report true for lists that differ.
func (r *rewriting) rewritten(element *resolvedType, before, after []any) bool {
	if r.empties && !equal(before, after) {
		return true
	}
	for _, v := range after {
		if r.respells(element, "", v, false) {
			return true
		}
	}
	return false
}

// respells reports whether a value has a quantity or a time that is another one in Go than the stored one.
// name is that of its field or key; inMap is whether it is the value of a key.
func (r *rewriting) respells(s *resolvedType, name string, v any, inMap bool) bool {
	switch v := v.(type) {
	case string:
		if s.time {
			_, ok := r.sentTexts()[sentText{name, v}]
			return ok
		}
		if !s.quantity {
			return false
		}
		if !inMap && !quantity.FormOf(v).KeepsText {
			return true
		}
		text, ok := r.sentTexts()[sentText{name, v}]
		return ok && !quantity.DeepEqual(text, v)
	case []any:
		for _, v := range v {
			if s.list != nil && r.respells(s.list.element, name, v, false) {
				return true
			}
		}
	case map[string]any:
		for name, v := range v {
			if s.object == nil {
				break
			}
			if _, s, known := s.object.field(name); r.respells(s, name, v, inMap || !known) {
				return true
			}
		}
	}
	return false
}

// sentTexts returns the texts of the quantities and times in the body that are not canonical.
func (r *rewriting) sentTexts() map[sentText]string {
	if r.texts == nil {
		r.texts = map[sentText]string{}
		if r.sent != nil {
			patch.EachScalar(r.sent(), r.addText)
		}
	}
	return r.texts
}

func (r *rewriting) addText(name string, scalar any) {
	var sent string
	switch scalar := scalar.(type) {
	case json.Number:
		sent = scalar.String()
	case string:
		sent = scalar
	}
	text := strings.TrimSpace(sent)
	if canonical, err := quantity.Canonical(text); err == nil && canonical != text {
		r.texts[sentText{name, canonical}] = text
	}
	if stored, hasFraction := wire.TruncateTime(sent); hasFraction {
		r.texts[sentText{name, stored}] = sent
	}
}

// markRespelled finds the types whose values may have lists of quantities or times that are owned as a
// whole.
func (r resolver) markRespelled() {
	has := map[*resolvedType]bool{} // types whose values may have quantities or times
	for again := true; again; {
		again = false
		for _, s := range r.named {
			holds, lists := s.quantity || s.time, false
			s.eachPart(func(part *resolvedType) {
				holds = holds || has[part] || part.quantity || part.time
				lists = lists || part.respelled
			})
			if s.list != nil && s.list.atomic && holds {
				lists = true
			}
			if holds != has[s] || lists != s.respelled {
				has[s], s.respelled, again = holds, lists, true
			}
		}
	}
	for _, s := range r.named {
		if s.object == nil {
			continue
		}
		for i := range s.object.fields {
			if f := &s.object.fields[i]; f.respelled {
				s.object.listed = append(s.object.listed, f)
			}
		}
	}
}

// eachPart calls f with the types of the elements, fields and entries.
func (s *resolvedType) eachPart(f func(part *resolvedType)) {
	if s.list != nil {
		f(s.list.element)
	}
	if s.object != nil {
		for i := range s.object.fields {
			f(s.object.fields[i].resolvedType)
		}
		f(s.object.other)
	}
}
