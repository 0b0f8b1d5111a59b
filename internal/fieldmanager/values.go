package fieldmanager

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// A pacer checks the context of a request while a value is walked. Its zero value
// and a nil *pacer never end.
type pacer struct {
	ctx   context.Context
	count int
}

// pace is the number of list elements and map members between two checks.
const pace = 1024

// step counts an element. It returns the error of the context at each pace-th.
func (p *pacer) step() error {
	if p == nil || p.ctx == nil {
		return nil
	}
	if p.count++; p.count%pace != 0 {
		return nil
	}
	return p.ctx.Err()
}

// end returns the error of the context.
func (p *pacer) end() error {
	if p == nil || p.ctx == nil {
		return nil
	}
	return p.ctx.Err()
}

// A walker validates and merges the values of one request. Its time is n log n in the
// number of list elements. structured-merge-diff does the same in time that is quadratic
// for lists that are not sorted by their keys.
//
// The values that it merges must be valid: then it fails only when the request ends.
type walker struct {
	*pacer

	changed bool // whether a merge has changed a value, other than the type of a number
}

// merge returns before merged with an applied value: before itself if that changes nothing.
// At least one is not absent. The result shares what is not merged with the arguments.
func (w *walker) merge(s *resolvedType, before, applied any) (any, error) {
	if err := w.step(); err != nil {
		return nil, err
	}
	if applied == absent {
		return before, nil
	}
	switch as := variantOf(s, applied); {
	case as == mapVariant || as == anyVariant && s.object != nil:
		was, _ := before.(map[string]any)
		is, _ := applied.(map[string]any)
		switch {
		case s.object.atomic || len(was) == 0:
		case len(is) == 0:
			return before, nil
		default:
			return w.mergeMaps(s.object, was, is)
		}
	case as == listVariant:
		was, _ := before.([]any)
		is, _ := applied.([]any)
		switch {
		case s.list.atomic || len(was) == 0:
		case len(is) == 0:
			return before, nil
		default:
			return w.mergeLists(s.list, was, is)
		}
	}
	if object.Equal(before, applied) {
		return before, nil
	}
	w.changed = w.changed || !equal(before, applied)
	return applied, nil
}

func (w *walker) mergeMaps(t *mapType, before, applied map[string]any) (map[string]any, error) {
	out := before
	for name, v := range applied {
		was := member(before, name)
		if object.Identical(was, v) {
			continue
		}
		merged, err := w.merge(t.typeOf(name), was, v)
		if err != nil {
			return nil, err
		}
		if object.Identical(was, merged) {
			continue
		}
		if object.Same(out, before) {
			out = maps.Clone(before)
		}
		out[name] = merged
	}
	return out, nil
}

// mergeLists merges associative lists. The applied elements keep their order. An
// element that only before has stays behind the elements that precede it there, as
// far as their order is that of applied.
func (w *walker) mergeLists(t *listType, before, applied []any) ([]any, error) {
	if t.sameSteps(before, applied) {
		return w.mergeElements(t, before, applied)
	}
	m := listMerge{w: w, t: t, before: before, applied: applied, index: elementIndex{list: make([]listElement, 0, len(applied))}}
	merged, err := m.merge()
	if err == nil && slices.EqualFunc(before, merged, object.Identical) {
		return before, nil
	}
	w.changed = w.changed || !slices.EqualFunc(before, merged, equal)
	return merged, err
}

// mergeElements merges associative lists whose elements have the same steps.
func (w *walker) mergeElements(t *listType, before, applied []any) ([]any, error) {
	out := before
	for i, v := range applied {
		merged, err := w.merge(t.element, before[i], v)
		if err != nil {
			return nil, err
		}
		if object.Identical(before[i], merged) {
			continue
		}
		if object.Same(out, before) {
			out = slices.Clone(before)
		}
		out[i] = merged
	}
	return out, nil
}

// A listMerge merges two associative lists.
type listMerge struct {
	w *walker
	t *listType

	before, applied []any
	index           elementIndex // of applied; an element's before is its match, null if there are several
	places          []int        // of each element of before: its match in applied, -1 if there is none
	out             []any
}

func (m *listMerge) merge() ([]any, error) {
	if err := m.match(); err != nil {
		return nil, err
	}
	m.out = make([]any, 0, max(len(m.before), len(m.applied)))
	at, next := 0, 0 // next is the first element of applied, from i on, that before has too
	for i := range m.index.list {
		for next < len(m.applied) && (next < i || m.index.list[next].before == absent) {
			next++
		}
		var err error
		if at, err = m.advance(at, i, next); err != nil {
			return nil, err
		}
		e := &m.index.list[i]
		if err := m.add(e.before, e.after); err != nil {
			return nil, err
		}
	}
	for ; at < len(m.before); at++ {
		if m.places[at] < 0 {
			if err := m.add(m.before[at], absent); err != nil {
				return nil, err
			}
		}
	}
	return m.out, nil
}

// match pairs the elements.
func (m *listMerge) match() error {
	if len(m.applied) > fewElements {
		m.index.index = make(map[string]int, len(m.applied))
	}
	for _, v := range m.applied {
		if err := m.w.step(); err != nil {
			return err
		}
		e, err := m.index.get(m.t, v)
		if err != nil {
			return err
		}
		e.after = v
	}
	m.places = make([]int, len(m.before))
	for i, v := range m.before {
		if err := m.w.step(); err != nil {
			return err
		}
		step, err := m.t.step(v)
		if err != nil {
			return err
		}
		at, ok := m.index.find(step)
		if !ok {
			m.places[i] = -1
			continue
		}
		m.places[i] = at
		e := &m.index.list[at]
		if e.before == absent {
			e.before = v
		} else {
			e.before = nil // an applied element does not merge with one of several
		}
	}
	return nil
}

// advance adds the elements of before, from at on, that come before the applied
// element i. It returns the position behind them. next is the first applied element
// from i on that before has too.
func (m *listMerge) advance(at, i, next int) (int, error) {
	for ; at < len(m.before); at++ {
		switch place := m.places[at]; {
		case place < 0:
			if err := m.add(m.before[at], absent); err != nil {
				return 0, err
			}
		case place == i || next == len(m.applied):
			return at + 1, nil
		case place == next:
			return at, nil
		}
	}
	return at, nil
}

func (m *listMerge) add(before, applied any) error {
	v, err := m.w.merge(m.t.element, before, applied)
	m.out = append(m.out, v)
	return err
}

// errInvalid is the error of a value that does not match its type. mismatch says where.
var errInvalid = errors.New("fieldmanager: value does not match its type")

// validate returns errInvalid unless v matches the type. Elements of lists may have
// the same key if duplicates is set.
func (w *walker) validate(s *resolvedType, v any, duplicates bool) error {
	if err := w.step(); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil, object.RawJSON:
		if !s.empty() {
			return nil
		}
	case []any:
		if s.list != nil {
			return w.validateList(s.list, v, duplicates)
		}
	case map[string]any:
		if s.object != nil {
			for name, v := range v {
				if err := w.validate(s.object.typeOf(name), v, duplicates); err != nil {
					return err
				}
			}
			return nil
		}
	default:
		if s.scalar != nil && allows(*s.scalar, v) {
			return nil
		}
	}
	return errInvalid
}

func (w *walker) validateList(t *listType, list []any, duplicates bool) error {
	var index elementIndex
	if !t.atomic && !duplicates {
		index.list = make([]listElement, 0, len(list))
		if len(list) > fewElements {
			index.index = make(map[string]int, len(list))
		}
	}
	for _, v := range list {
		if err := w.validate(t.element, v, duplicates); err != nil {
			return err
		}
		if t.atomic {
			continue
		}
		if !t.hasKeys(v) {
			return errInvalid
		}
		if duplicates {
			continue
		}
		e, err := index.get(t, v)
		if err != nil {
			return errInvalid
		}
		if e.before != absent {
			return errInvalid
		}
		e.before = v
	}
	return nil
}

// validateKeys is validate of a value of a built-in kind. It matches its type because it was
// decoded into that, except that list elements may lack their keys.
func (w *walker) validateKeys(s *resolvedType, v any) error {
	if !s.keyed {
		return nil
	}
	if err := w.step(); err != nil {
		return err
	}
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			if !s.list.atomic && !s.list.hasKeys(element) {
				return errInvalid
			}
			if err := w.validateKeys(s.list.element, element); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, f := range s.object.keyed {
			if err := w.validateKeys(f.resolvedType, v[f.name()]); err != nil {
				return err
			}
		}
		if s.object.other.keyed {
			for name, v := range v {
				if err := w.validateKeys(s.object.typeOf(name), v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hasKeys reports whether an element of an associative list has the keys that it needs: all
// of them, or one if the list is partial.
func (t *listType) hasKeys(v any) bool {
	if len(t.keys) == 0 {
		switch v.(type) {
		case nil, []any, map[string]any:
			return false
		}
		return true
	}
	obj, ok := v.(map[string]any)
	missing := 0
	for _, k := range t.keys {
		if _, present := obj[k.name]; !present && k.absent == nil {
			missing++
		}
	}
	return ok && (missing == 0 || t.partial && missing < len(t.keys))
}
