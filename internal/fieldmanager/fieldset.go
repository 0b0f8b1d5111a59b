package fieldmanager

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// A field set is encoded as a tree of objects, the FieldsV1 format. The name of
// a member is a step of a path: "f:" and the name of a field, "k:" and the keys
// of a map-list element as JSON, "v:" and the value of a set element as JSON. A
// path is in the set if the object of its last step is empty or has the member
// ".":
//
//	{"f:data": {".": {}, "f:a": {}}}    .data and .data.a

// leaf is the object of a path that is in a set and has no path below it. All
// encoded sets share it; it must not be changed.
var leaf = map[string]any{}

// self is the member that marks the path of a non-empty object as in the set.
const self = "."

// names are the field names of a kind's schema. Steps with these names need no
// allocation. The map is immutable.
type names map[string]*name

type name struct{ text, step string }

// field returns the step to a field.
func (n names) field(text string) fieldpath.PathElement {
	if known, ok := n[text]; ok {
		return fieldpath.PathElement{FieldName: &known.text}
	}
	unknown := text // keeps text itself off the heap
	return fieldpath.PathElement{FieldName: &unknown}
}

// A key is one key of a map-list element and its value.
type key struct {
	name  string
	value any
}

// keyStep returns the step to the map-list element with these keys. It sorts
// keys.
func keyStep(keys []key) string {
	slices.SortFunc(keys, func(a, b key) int { return strings.Compare(a.name, b.name) })
	b := append(make([]byte, 0, 64), "k:"...)
	for i, k := range keys {
		b = append(b, "{,"[min(i, 1)])
		b = append(appendString(b, k.name), ':')
		b = appendScalar(b, k.value)
	}
	return string(append(b, '}'))
}

// valueStep returns the step to an element of a set.
func valueStep(v any) string { return string(appendScalar(append(make([]byte, 0, 64), "v:"...), v)) }

// appendScalar appends a value as JSON.
func appendScalar(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	}
	text, err := value.ToJSON(value.NewValueInterface(v))
	if err != nil {
		panic("fieldmanager: " + err.Error()) // unreachable: objects hold JSON values only
	}
	return append(b, text...)
}

// appendString appends a string as JSON, encoded as structured-merge-diff's
// package value does.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := value.ToJSON(value.NewValueInterface(s))
			if err != nil {
				panic("fieldmanager: " + err.Error()) // unreachable: every string has a JSON encoding
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// stepText returns a step as it appears in the path of an error.
func stepText(step string) string {
	pe, err := names(nil).parseStep(step)
	if err != nil {
		panic("fieldmanager: " + err.Error()) // unreachable: steps are made by keyStep and valueStep
	}
	return pe.String()
}

// addStep adds a step to a tree: the path itself if member is true, and the
// paths below it. The tree takes ownership of below.
func addStep(tree *map[string]any, step string, member bool, below map[string]any) {
	switch {
	case len(below) == 0 && !member:
		return
	case len(below) == 0:
		below = leaf
	case member:
		below[self] = leaf
	}
	if *tree == nil {
		*tree = map[string]any{}
	}
	(*tree)[step] = below
}

// removePath removes a path and everything below it from a tree.
func removePath(tree map[string]any, path []string) {
	step, rest := path[0], path[1:]
	if len(rest) == 0 {
		delete(tree, step)
		return
	}
	below, _ := tree[step].(map[string]any)
	if len(below) == 0 {
		return
	}
	removePath(below, rest)
	switch _, member := below[self]; {
	case len(below) == 0:
		delete(tree, step)
	case len(below) == 1 && member:
		tree[step] = leaf
	}
}

// parseFields parses a field set. It skips steps of unknown kinds with
// everything below them. It fails if p ends.
func (n names) parseFields(tree map[string]any, p *pacer) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	_, err := n.parseChildren(tree, set, p)
	return set, err
}

// A parsedStep is a step of a tree. Steps are added to a set in its order: it inserts
// another one by moving all that follow.
type parsedStep struct {
	element fieldpath.PathElement
	text    string
	below   any
}

// fewSteps is the number of steps for which the stack has room.
const fewSteps = 8

// parseChildren adds the paths below an object of the tree to set. It reports
// whether the path of the object itself is in the set.
func (n names) parseChildren(tree map[string]any, set *fieldpath.Set, p *pacer) (member bool, err error) {
	set.Members = fieldpath.MakePathElementSet(len(tree))
	var room [fewSteps]parsedStep // avoids an allocation
	steps := room[:0]
	if len(tree) > fewSteps {
		steps = make([]parsedStep, 0, len(tree))
	}
	for step, below := range tree {
		if err := p.step(); err != nil {
			return false, err
		}
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
		steps = append(steps, parsedStep{pe, step, below})
	}
	slices.SortFunc(steps, func(a, b parsedStep) int { return a.element.Compare(b.element) })
	empty := true
	for _, s := range steps {
		pe, step, below := s.element, s.text, s.below
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
		childIsMember, err := n.parseChildren(children, &sub, p)
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

// formatFields encodes a field set. The result must not be changed.
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
		panic("fieldmanager: " + err.Error()) // unreachable: steps come from JSON or from objects
	}
	return s
}
