package apply

import (
	"errors"
	"fmt"

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

// parseFields reads a field set. Steps of kinds that are not known are passed
// over with all that is below them.
func parseFields(tree map[string]any) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	_, err := parseChildren(tree, set)
	return set, err
}

// parseChildren adds to set what is below an object of the tree, and reports
// whether the object's own path is in the set.
func parseChildren(tree map[string]any, set *fieldpath.Set) (member bool, err error) {
	empty := true
	for step, below := range tree {
		if step == self {
			member = true
			continue
		}
		pe, err := parseStep(step)
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
		sub := &fieldpath.Set{}
		childIsMember, err := parseChildren(children, sub)
		if err != nil {
			return false, err
		}
		if childIsMember {
			set.Members.Insert(pe)
		}
		if !sub.Empty() {
			*set.Children.Descend(pe) = *sub
		}
	}
	return member || empty, nil
}

func parseStep(s string) (fieldpath.PathElement, error) {
	if len(s) > 2 && s[:2] == "f:" {
		name := s[2:]
		return fieldpath.PathElement{FieldName: &name}, nil
	}
	return fieldpath.DeserializePathElement(s)
}

// formatFields writes a field set. The result must not be changed.
func formatFields(set *fieldpath.Set) map[string]any {
	tree := make(map[string]any, set.Members.Size())
	set.Members.Iterate(func(pe fieldpath.PathElement) {
		tree[formatStep(pe)] = leaf
	})
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		children, _ := set.Children.Get(pe)
		below := formatFields(children)
		step := formatStep(pe)
		if _, member := tree[step]; member {
			below[self] = leaf
		}
		tree[step] = below
	})
	return tree
}

func formatStep(pe fieldpath.PathElement) string {
	if pe.FieldName != nil {
		return "f:" + *pe.FieldName
	}
	s, err := fieldpath.SerializePathElement(pe)
	if err != nil {
		panic("apply: " + err.Error()) // unreachable: steps come from JSON or from objects
	}
	return s
}
