package fieldmanager

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
)

// A diff is what a write did to the fields of an object, as trees.
type diff struct {
	// changed are those that it added or gave another value.
	changed, removed map[string]any
}

// diff compares two objects. It finds what typed.TypedValue.Compare finds, but
// for a map-list element without one of its keys: that is told apart by the
// keys it has, as newer releases of structured-merge-diff do. It works on the
// objects as they are, because every write comes by here, where Compare takes
// each of their values into a wrapper.
//
// Errors: an object does not have the form that the schema tells, and so cannot
// be compared.
func (t *Type) diff(before, after map[string]any) (*diff, error) {
	d, untidy, err := t.compare(before, after)
	if untidy && t.kind.Tidy != nil {
		d, _, err = t.compare(before, t.kind.Tidy(after))
	}
	return d, err
}

// compare is diff for objects as they are. It reports whether it met an empty list
// or map in after, which its JSON may not show.
func (t *Type) compare(before, after map[string]any) (d *diff, untidy bool, err error) {
	root := t.compiled().shape.object
	if root == nil {
		return nil, false, errors.New("schema error: objects are no maps")
	}
	d, c := &diff{}, &comparer{}
	_, err = c.maps(root, before, after, d)
	return d, c.untidy, err
}

// bare reports whether a value is an empty list or map.
func bare(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case object.EmptyMap:
		return true
	}
	return false
}

// hollow reports whether there is an empty list or map in a value.
func hollow(v any) bool {
	return !object.All(v, func(_ string, v any) bool { return !bare(v) })
}

// nothing is what an object has where it does not even have a null.
type nothing struct{}

var absent any = nothing{}

// member is what an object has under a name.
func member(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return absent
}

// A comparer compares values.
type comparer struct {
	untidy bool // see Type.compare
}

// form is which of the forms that a type allows a value has.
type form int

const (
	anyForm form = iota // any, because the value is a null or of no form allowed
	scalarForm
	listForm
	mapForm
)

func formOf(s *shape, v any) form {
	switch v.(type) {
	case string, bool, int64, float64:
		if s.scalar != nil {
			return scalarForm
		}
	case []any:
		if s.list != nil {
			return listForm
		}
	case map[string]any:
		if s.object != nil {
			return mapForm
		}
	}
	switch {
	case s.scalar == nil && s.list == nil:
		return mapForm
	case s.scalar == nil && s.object == nil:
		return listForm
	case s.list == nil && s.object == nil:
		return scalarForm
	}
	return anyForm
}

// step compares what is at one step below the path that d is about. One of the
// values is not absent.
//
// Objects are deep, so that the frames of step and of what it calls are kept
// small.
func (c *comparer) step(step string, s *shape, before, after any, d *diff) error {
	if s.empty() {
		return at(step, errors.New(": schema error: no type"))
	}
	if bare(after) {
		c.untidy = true
	}
	was, is := formOf(s, before), formOf(s, after)
	if after == absent {
		is = was
	} else if before == absent {
		was = is
	}
	var below diff
	var changed, removed bool
	if was != is {
		// Both forms have a say: a list in place of a scalar is a change of the
		// one and an addition of the elements of the other.
		leaf, err := c.as(was, s, before, after, &below)
		if err != nil {
			return at(step, err)
		}
		if leaf {
			changed, removed = whole(before, after)
		}
	}
	leaf, err := c.as(is, s, before, after, &below)
	if err != nil {
		return at(step, err)
	}
	switch {
	case leaf:
		if changed, removed = whole(before, after); changed && hollow(after) {
			c.untidy = true
		}
	case before == absent:
		changed = true
	case after == absent:
		removed = true
	}
	grow(&d.changed, step, changed, below.changed)
	grow(&d.removed, step, removed, below.removed)
	return nil
}

// at is an error of what is below a step.
func at(step string, err error) error { return fmt.Errorf("%s%w", told(step), err) }

// whole compares values that are owned as a whole.
func whole(before, after any) (changed, removed bool) {
	return after != absent && (before == absent || !equal(before, after)), after == absent
}

// as compares values as ones of a form, and adds to d what is below them. It
// reports whether they are owned as a whole.
func (c *comparer) as(f form, s *shape, before, after any, d *diff) (leaf bool, err error) {
	switch {
	case f == mapForm || f == anyForm && s.object != nil:
		return c.maps(s.object, before, after, d)
	case f == scalarForm || f == anyForm && s.scalar != nil:
		if !fits(*s.scalar, before) && !fits(*s.scalar, after) {
			return false, fmt.Errorf(": expected %s", *s.scalar)
		}
		return true, nil
	}
	return c.lists(s.list, before, after, d)
}

// fits reports whether a scalar type allows a value. Nothing and null fit all.
func fits(s smd.Scalar, v any) bool {
	switch v.(type) {
	case nil, nothing:
		return true
	case string:
		return s == smd.String || s == smd.Untyped
	case bool:
		return s == smd.Boolean || s == smd.Untyped
	case int64, float64:
		return s == smd.Numeric || s == smd.Untyped
	}
	return false
}

func (c *comparer) maps(t *mapShape, before, after any, d *diff) (leaf bool, err error) {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	// Where there is nothing below, the difference between an empty map, a null
	// and nothing is a change of the map itself.
	if t.atomic || len(was) == 0 && len(is) == 0 {
		return true, nil
	}
	if len(was) == 0 {
		d.changed = make(map[string]any, len(is))
	}
	for name, v := range was {
		step, s := t.field(name)
		if err := c.step(step, s, v, member(is, name), d); err != nil {
			return false, err
		}
	}
	for name, v := range is {
		if _, both := was[name]; both {
			continue
		}
		step, s := t.field(name)
		if err := c.step(step, s, absent, v, d); err != nil {
			return false, err
		}
	}
	return false, nil
}

// An element is what two lists have under one key: the first of each, and how
// many.
type element struct {
	step          string
	before, after any
	was, is       int
}

func (c *comparer) lists(t *listShape, before, after any, d *diff) (leaf bool, err error) {
	was, _ := before.([]any)
	is, _ := after.([]any)
	if t.atomic || len(was) == 0 && len(is) == 0 {
		return true, nil
	}
	elements, err := elementsOf(t, was, is)
	if err != nil {
		return false, err
	}
	for i := range elements {
		e := &elements[i]
		// Elements that there are several of are owned together.
		switch {
		case e.was > 1 && e.is > 1:
			grow(&d.changed, e.step, !sameElements(t, e.step, was, is), nil)
			continue
		case e.was > 1:
			grow(&d.removed, e.step, true, nil)
			e.before = absent
		case e.is > 1:
			grow(&d.changed, e.step, true, nil)
			e.after = absent
		}
		if e.before == absent && e.after == absent {
			continue
		}
		if err := c.step(e.step, t.element, e.before, e.after, d); err != nil {
			return false, err
		}
	}
	return false, nil
}

// elementsOf brings the elements of two lists together.
func elementsOf(t *listShape, was, is []any) ([]element, error) {
	most := max(len(was), len(is))
	e := elements{list: make([]element, 0, most)}
	if most > fewElements {
		e.index = make(map[string]int, most)
	}
	for _, v := range was {
		of, err := e.of(t, v)
		if err != nil {
			return nil, err
		}
		if of.was++; of.was == 1 {
			of.before = v
		}
	}
	for _, v := range is {
		of, err := e.of(t, v)
		if err != nil {
			return nil, err
		}
		if of.is++; of.is == 1 {
			of.after = v
		}
	}
	return e.list, nil
}

// elements are elements that are found by their steps.
type elements struct {
	list  []element
	index map[string]int // where they are in the list; nil if that is short
}

// fewElements is how many are sought without an index.
const fewElements = 8

// of is the element that has v.
func (e *elements) of(t *listShape, v any) (*element, error) {
	step, err := t.step(v)
	if err != nil {
		return nil, err
	}
	i, ok := e.index[step]
	if e.index == nil {
		i = slices.IndexFunc(e.list, func(e element) bool { return e.step == step })
		ok = i >= 0
	}
	if !ok {
		i = len(e.list)
		e.list = append(e.list, element{step: step, before: absent, after: absent})
		if e.index != nil {
			e.index[step] = i
		}
	}
	return &e.list[i], nil
}

// sameElements reports whether two lists have the same elements at a step.
func sameElements(t *listShape, step string, was, is []any) bool {
	with := func(list []any) (out []any) {
		for _, v := range list {
			if s, err := t.step(v); err == nil && s == step {
				out = append(out, v)
			}
		}
		return out
	}
	return equal(with(was), with(is))
}

// step is the step to an element of a list that is a map or a set.
func (t *listShape) step(v any) (string, error) {
	if len(t.keys) == 0 {
		switch v.(type) {
		case nil, []any, map[string]any:
			return "", fmt.Errorf(": a set has a %T for an element", v)
		}
		return valueStep(v), nil
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return "", fmt.Errorf(": a map list has a %T for an element", v)
	}
	var room [4]key // on the stack
	keys := room[:0]
	for _, k := range t.keys {
		v, ok := obj[k.name]
		if !ok {
			v = k.absent
		}
		if ok || v != nil {
			keys = append(keys, key{k.name, v})
		}
	}
	if len(keys) == 0 {
		return "", fmt.Errorf(": a map list has an element without any of the keys %q", t.keys)
	}
	return keyStep(keys), nil
}

// equal compares two values. Numbers are equal if they are the same number.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if w, ok := b[name]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i, v := range a {
			if !equal(v, b[i]) {
				return false
			}
		}
		return true
	case int64:
		switch b := b.(type) {
		case int64:
			return a == b
		case float64:
			return float64(a) == b
		}
		return false
	case float64:
		switch b := b.(type) {
		case int64:
			return a == float64(b)
		case float64:
			return a == b
		}
		return false
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
