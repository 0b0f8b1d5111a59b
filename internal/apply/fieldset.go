package apply

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// A field set is written as a tree of objects, the FieldsV1 format. A member's
// name is a step of a path: "f:" and a field's name, "k:" and the keys of a
// map-list element as JSON, "v:" and the value of a set element as JSON. A path
// is in the set if its last step's object is empty or has the member ".":
//
//	{"f:data": {".": {}, "f:a": {}}}    .data and .data.a

// leaf is the object of a path that is in a set and has none below it. All
// written sets share it: nobody may change it.
var leaf = map[string]any{}

// self is the member that puts the path of an object with members in the set.
const self = "."

// names are field names that are known beforehand, those of a kind's schema, so
// that steps with them cost no memory. It is never changed.
type names map[string]*name

type name struct{ text, step string }

// field is the step to a field.
func (n names) field(text string) fieldpath.PathElement {
	if known, ok := n[text]; ok {
		return fieldpath.PathElement{FieldName: &known.text}
	}
	unknown := text // only this one goes to the heap
	return fieldpath.PathElement{FieldName: &unknown}
}

// parseFields reads a field set. Steps of kinds that are not known are passed
// over with all that is below them.
func (n names) parseFields(tree map[string]any) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	_, err := n.parseChildren(tree, set)
	return set, err
}

// parseChildren adds to set what is below an object of the tree, and reports
// whether the object's own path is in the set.
func (n names) parseChildren(tree map[string]any, set *fieldpath.Set) (member bool, err error) {
	set.Members = fieldpath.MakePathElementSet(len(tree))
	empty := true
	for step, below := range tree {
		if step == self {
			member = true
			continue
		}
		pe, err := n.parseStep(step)
		if errors.Is(err, fieldpath.ErrUnknownPathElementType) {
			continue
		} else if err != nil {
			return false, err
		}
		var children map[string]any
		if below != nil {
			var ok bool
			if children, ok = below.(map[string]any); !ok {
				return false, fmt.Errorf("expect { or n after %q, but found %T", step, below)
			}
		}
		empty = false
		if len(children) == 0 {
			set.Members.Insert(pe)
			continue
		}
		var sub fieldpath.Set
		childIsMember, err := n.parseChildren(children, &sub)
		if err != nil {
			return false, err
		}
		if childIsMember {
			set.Members.Insert(pe)
		}
		if !sub.Empty() {
			*set.Children.Descend(pe) = sub
		}
	}
	return member || empty, nil
}

func (n names) parseStep(s string) (fieldpath.PathElement, error) {
	if name, ok := strings.CutPrefix(s, "f:"); ok {
		return n.field(name), nil
	}
	return fieldpath.DeserializePathElement(s)
}

// formatFields writes a field set. The result must not be changed.
func (n names) formatFields(set *fieldpath.Set) map[string]any {
	tree := make(map[string]any, set.Members.Size())
	set.Members.Iterate(func(pe fieldpath.PathElement) {
		tree[n.formatStep(pe)] = leaf
	})
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		children, _ := set.Children.Get(pe)
		below := n.formatFields(children)
		step := n.formatStep(pe)
		if _, member := tree[step]; member {
			below[self] = leaf
		}
		tree[step] = below
	})
	return tree
}

func (n names) formatStep(pe fieldpath.PathElement) string {
	if pe.FieldName != nil {
		if known, ok := n[*pe.FieldName]; ok {
			return known.step
		}
		return "f:" + *pe.FieldName
	}
	s, err := fieldpath.SerializePathElement(pe)
	if err != nil {
		panic("apply: " + err.Error()) // unreachable: steps come from JSON or from objects
	}
	return s
}
