package fieldmanager

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// addedElements adds the elements of a short list.
func (c *comparer) addedElements(t *listType, list []any) (fieldTree, error) {
	tree := c.newTree(len(list))
	for _, v := range list {
		step, err := t.step(v)
		if err != nil {
			return nil, err
		}
		if i := tree.index(step.text); i >= 0 {
			tree[i].below = nil // elements with the same key are owned together
			continue
		}
		if err := c.added(step, t.element, v, &tree); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// A listElement has the elements of two lists at one step.
type listElement struct {
	step                  pathStep
	before, after         any   // the first ones
	moreBefore, moreAfter []any // the others
}

func (c *comparer) lists(t *listType, before, after any, d *diff) (leaf bool, err error) {
	was, _ := before.([]any)
	is, _ := after.([]any)
	if t.atomic || len(was) == 0 && len(is) == 0 {
		return true, nil
	}
	if len(was) == 0 && len(is) <= fewElements {
		d.changed, err = c.addedElements(t, is)
		return false, err
	}
	elements, err := matchElements(t, was, is)
	if err != nil {
		return false, err
	}
	c.makeRoom(d, len(is))
	for i := range elements {
		e := &elements[i]
		// Elements with the same key are owned together.
		switch {
		case e.moreBefore != nil && e.moreAfter != nil:
			same := equal(e.before, e.after) && equal(e.moreBefore, e.moreAfter)
			d.changed.add(e.step, !same, nil)
			continue
		case e.moreBefore != nil:
			d.removed.add(e.step, true, nil)
			e.before = absent
		case e.moreAfter != nil:
			d.changed.add(e.step, true, nil)
			e.after = absent
		}
		if e.before == absent && e.after == absent {
			continue
		}
		if object.Identical(e.before, e.after) {
			continue
		}
		if err := c.compareAt(e.step, t.element, e.before, e.after, d); err != nil {
			return false, err
		}
	}
	return false, nil
}

// matchElements pairs the elements of two lists by their steps.
func matchElements(t *listType, was, is []any) ([]listElement, error) {
	most := max(len(was), len(is))
	e := elementIndex{list: make([]listElement, 0, most)}
	if most > fewElements {
		e.index = make(map[string]int, most)
	}
	for _, v := range was {
		of, err := e.get(t, v)
		if err != nil {
			return nil, err
		}
		if of.before == absent {
			of.before = v
		} else {
			of.moreBefore = append(of.moreBefore, v)
		}
	}
	for _, v := range is {
		of, err := e.get(t, v)
		if err != nil {
			return nil, err
		}
		if of.after == absent {
			of.after = v
		} else {
			of.moreAfter = append(of.moreAfter, v)
		}
	}
	return e.list, nil
}

// An elementIndex finds elements by their steps.
type elementIndex struct {
	list  []listElement
	index map[string]int // step to position in list; nil if the list is short
}

// get returns the element with the step of v. It adds one if there is none.
func (e *elementIndex) get(t *listType, v any) (*listElement, error) {
	step, err := t.step(v)
	if err != nil {
		return nil, err
	}
	i, ok := e.find(step)
	if !ok {
		i = len(e.list)
		e.list = append(e.list, listElement{step: step, before: absent, after: absent})
		if e.index != nil {
			e.index[step.text] = i
		}
	}
	return &e.list[i], nil
}

// find returns the position of the element with a step.
func (e *elementIndex) find(step pathStep) (int, bool) {
	if e.index == nil {
		i := slices.IndexFunc(e.list, func(e listElement) bool { return e.step.text == step.text })
		return i, i >= 0
	}
	i, ok := e.index[step.text]
	return i, ok
}

// step returns the path step to an element of an associative list.
func (t *listType) step(v any) (pathStep, error) {
	if len(t.keys) == 0 {
		switch v.(type) {
		case nil, []any, map[string]any:
			return pathStep{}, fmt.Errorf(": a set has a %T for an element", v)
		}
		return valueStep(v), nil
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return pathStep{}, fmt.Errorf(": a map list has a %T for an element", v)
	}
	var room [64]byte // avoids an allocation
	text, next := append(room[:0], "k:"...), byte('{')
	for i := range t.sorted {
		k := &t.sorted[i]
		v, ok := obj[k.name]
		if !ok {
			v = k.absent
		}
		if !ok && v == nil {
			continue // it omits the key
		}
		text = append(text, next)
		text = append(text, k.prefix...)
		text = appendScalar(text, v)
		next = ','
	}
	if next == '{' {
		return pathStep{}, fmt.Errorf(": a map list has an element without any of the keys %q", t.keys)
	}
	return pathStep{text: string(append(text, '}'))}, nil
}

// sameSteps reports whether the elements of two lists have the same steps in the same order. It
// may report false if their keys are equal numbers of different types.
func (t *listType) sameSteps(a, b []any) bool { return slices.EqualFunc(a, b, t.sameStep) }

func (t *listType) sameStep(a, b any) bool {
	if len(t.keys) == 0 {
		return object.Identical(a, b)
	}
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for i := range t.keys {
		if k := &t.keys[i]; !object.Identical(k.of(x), k.of(y)) {
			return false
		}
	}
	return true
}
