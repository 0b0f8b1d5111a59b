package apply

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// A diff is what a write did to the fields of an object.
type diff struct {
	// changed are those that it added or gave another value.
	changed fieldpath.Set
	removed fieldpath.Set
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
	c := t.compiled()
	d = &diff{}
	atom, ok := c.Schema.Resolve(c.TypeRef)
	if !ok || atom.Map == nil {
		return nil, false, errors.New("schema error: objects are no maps")
	}
	_, err = comparer{c.Schema, c.names, &untidy}.maps(atom.Map, given(before), given(after), d)
	return d, untidy, err
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

// A side is what one of two objects has in a place.
type side struct {
	value any
	// present tells a null from nothing.
	present bool
}

var absent side

func given(v any) side { return side{v, true} }

func member(m map[string]any, name string) side {
	v, ok := m[name]
	return side{v, ok}
}

// A comparer compares values of types of one schema.
type comparer struct {
	schema *smd.Schema
	names  names
	untidy *bool
}

// form is which of the forms that a type allows a value has.
type form int

const (
	anyForm form = iota // any, because the value is a null or of no form allowed
	scalarForm
	listForm
	mapForm
)

func formOf(a smd.Atom, v any) form {
	switch v.(type) {
	case string, bool, int64, float64:
		if a.Scalar != nil {
			return scalarForm
		}
	case []any:
		if a.List != nil {
			return listForm
		}
	case map[string]any:
		if a.Map != nil {
			return mapForm
		}
	}
	switch {
	case a.Scalar == nil && a.List == nil:
		return mapForm
	case a.Scalar == nil && a.Map == nil:
		return listForm
	case a.List == nil && a.Map == nil:
		return scalarForm
	}
	return anyForm
}

// step compares what is at one step below the path that d is about. One of the
// sides is present at least.
func (c comparer) step(pe fieldpath.PathElement, ref smd.TypeRef, before, after side, d *diff) error {
	a, ok := c.schema.Resolve(ref)
	if !ok || a == (smd.Atom{}) {
		return fmt.Errorf("%s: schema error: no type", pe)
	}
	if bare(after.value) {
		*c.untidy = true
	}
	was, is := formOf(a, before.value), formOf(a, after.value)
	if !after.present {
		is = was
	} else if !before.present {
		was = is
	}
	var below diff
	if was != is {
		// Both forms have a say: a list in place of a scalar is a change of the
		// one and an addition of the elements of the other.
		leaf, err := c.as(was, a, before, after, &below)
		if err != nil {
			return fmt.Errorf("%s%w", pe, err)
		}
		if leaf {
			d.leaf(pe, before, after)
		}
	}
	leaf, err := c.as(is, a, before, after, &below)
	if err != nil {
		return fmt.Errorf("%s%w", pe, err)
	}
	switch {
	case leaf:
		if d.leaf(pe, before, after) && hollow(after.value) {
			*c.untidy = true
		}
	case !before.present:
		d.changed.Members.Insert(pe)
	case !after.present:
		d.removed.Members.Insert(pe)
	}
	if !below.changed.Empty() {
		*d.changed.Children.Descend(pe) = below.changed
	}
	if !below.removed.Empty() {
		*d.removed.Children.Descend(pe) = below.removed
	}
	return nil
}

// leaf adds the path of a value that is owned as a whole. It reports whether that
// is new or another one.
func (d *diff) leaf(pe fieldpath.PathElement, before, after side) (changed bool) {
	switch {
	case !after.present:
		d.removed.Members.Insert(pe)
	case !before.present || !equal(before.value, after.value):
		d.changed.Members.Insert(pe)
		return true
	}
	return false
}

// as compares values as ones of a form, and adds to d what is below them. It
// reports whether they are owned as a whole.
func (c comparer) as(f form, a smd.Atom, before, after side, d *diff) (leaf bool, err error) {
	switch {
	case f == mapForm || f == anyForm && a.Map != nil:
		return c.maps(a.Map, before, after, d)
	case f == scalarForm || f == anyForm && a.Scalar != nil:
		if !fits(*a.Scalar, before.value) && !fits(*a.Scalar, after.value) {
			return false, fmt.Errorf(": expected %s", *a.Scalar)
		}
		return true, nil
	}
	return c.lists(a.List, before, after, d)
}

// fits reports whether a scalar type allows a value. Nothing and null fit all.
func fits(s smd.Scalar, v any) bool {
	switch v.(type) {
	case nil:
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

func (c comparer) maps(t *smd.Map, before, after side, d *diff) (leaf bool, err error) {
	was, _ := before.value.(map[string]any)
	is, _ := after.value.(map[string]any)
	// Where there is nothing below, the difference between an empty map, a null
	// and nothing is a change of the map itself.
	if t.ElementRelationship == smd.Atomic || len(was) == 0 && len(is) == 0 {
		return true, nil
	}
	if len(was) == 0 {
		d.changed.Members = fieldpath.MakePathElementSet(len(is))
	}
	for name, v := range was {
		if err := c.field(t, name, given(v), member(is, name), d); err != nil {
			return false, err
		}
	}
	for name, v := range is {
		if _, both := was[name]; both {
			continue
		}
		if err := c.field(t, name, absent, given(v), d); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (c comparer) field(t *smd.Map, name string, before, after side, d *diff) error {
	ref := t.ElementType
	if f, ok := t.FindField(name); ok {
		ref = f.Type
	}
	return c.step(c.names.field(name), ref, before, after, d)
}

// An element is what two lists have under one key: the first of each, and how
// many.
type element struct {
	pe            fieldpath.PathElement
	before, after side
	was, is       int
}

func (c comparer) lists(t *smd.List, before, after side, d *diff) (leaf bool, err error) {
	was, _ := before.value.([]any)
	is, _ := after.value.([]any)
	if t.ElementRelationship == smd.Atomic || len(was) == 0 && len(is) == 0 {
		return true, nil
	}
	elements, err := c.elements(t, was, is)
	if err != nil {
		return false, err
	}
	for i := range elements {
		e := &elements[i]
		// Elements that there are several of are owned together.
		switch {
		case e.was > 1 && e.is > 1:
			if !c.sameElements(t, e.pe, was, is) {
				d.changed.Members.Insert(e.pe)
			}
			continue
		case e.was > 1:
			d.removed.Members.Insert(e.pe)
			e.before = absent
		case e.is > 1:
			d.changed.Members.Insert(e.pe)
			e.after = absent
		}
		if !e.before.present && !e.after.present {
			continue
		}
		if err := c.step(e.pe, t.ElementType, e.before, e.after, d); err != nil {
			return false, err
		}
	}
	return false, nil
}

// elements brings the elements of two lists together.
func (c comparer) elements(t *smd.List, was, is []any) ([]element, error) {
	all := make([]element, 0, max(len(was), len(is)))
	index := fieldpath.MakePathElementMap(max(len(was), len(is)))
	of := func(v any) (*element, error) {
		pe, err := c.key(t, v)
		if err != nil {
			return nil, err
		}
		i, ok := index.Get(pe)
		if !ok {
			i = len(all)
			index.Insert(pe, i)
			all = append(all, element{pe: pe})
		}
		return &all[i.(int)], nil
	}
	for _, v := range was {
		e, err := of(v)
		if err != nil {
			return nil, err
		}
		if e.was++; e.was == 1 {
			e.before = given(v)
		}
	}
	for _, v := range is {
		e, err := of(v)
		if err != nil {
			return nil, err
		}
		if e.is++; e.is == 1 {
			e.after = given(v)
		}
	}
	return all, nil
}

// sameElements reports whether two lists have the same elements under a key.
func (c comparer) sameElements(t *smd.List, pe fieldpath.PathElement, was, is []any) bool {
	with := func(list []any) (out []any) {
		for _, v := range list {
			if k, err := c.key(t, v); err == nil && k.Equals(pe) {
				out = append(out, v)
			}
		}
		return out
	}
	return equal(with(was), with(is))
}

// key is what an element of a list that is a map or a set is told apart by.
func (c comparer) key(t *smd.List, v any) (fieldpath.PathElement, error) {
	if len(t.Keys) == 0 {
		switch v.(type) {
		case nil, []any, map[string]any:
			return fieldpath.PathElement{}, fmt.Errorf(": a set has a %T for an element", v)
		}
		element := value.NewValueInterface(v)
		return fieldpath.PathElement{Value: &element}, nil
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return fieldpath.PathElement{}, fmt.Errorf(": a map list has a %T for an element", v)
	}
	fields := make(value.FieldList, 0, len(t.Keys))
	for _, name := range t.Keys {
		k, ok := obj[name]
		if !ok {
			k = c.defaultKey(t, name)
		}
		if ok || k != nil {
			fields = append(fields, value.Field{Name: name, Value: value.NewValueInterface(k)})
		}
	}
	if len(fields) == 0 {
		return fieldpath.PathElement{}, fmt.Errorf(": a map list has an element without any of the keys %q", t.Keys)
	}
	fields.Sort()
	return fieldpath.PathElement{Key: &fields}, nil
}

func (c comparer) defaultKey(t *smd.List, name string) any {
	a, _ := c.schema.Resolve(t.ElementType)
	if a.Map == nil {
		return nil
	}
	f, _ := a.Map.FindField(name)
	return f.Default
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
