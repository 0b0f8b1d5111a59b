package patch

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"

	"github.com/kubefake/kubefake/internal/schema"
)

// Error texts of kube-apiserver about lists.
var (
	errListOfLists = &InapplicableError{errors.New("lists of lists are not supported")}
	errNoElements  = errors.New("no elements in any of the given slices")
)

func badDirective(v any, patch map[string]any) error {
	return fmt.Errorf("unknown patch type: %s in map: %v", v, patch)
}

func noMergeKey(elem map[string]any, key string) error {
	return fmt.Errorf("map: %v does not contain declared merge key: %s", elem, key)
}

func badType(want, v any) error {
	return fmt.Errorf("expected a %s, but received a %s", reflect.TypeOf(want), reflect.TypeOf(v))
}

// asList returns v as a list.
func asList(v any) ([]any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, badType(list, v)
	}
	return list, nil
}

// mergeKeyValue returns v as an element of a list with a merge key, and the
// value of that key.
func mergeKeyValue(v any, key string) (elem map[string]any, value any, err error) {
	elem, ok := v.(map[string]any)
	if !ok {
		return nil, nil, badType(elem, v)
	}
	value, ok = elem[key]
	if !ok {
		return nil, nil, noMergeKey(elem, key)
	}
	return elem, value, nil
}

// same reports whether two values are the same scalar.
func same(a, b any) bool { return isScalar(a) && isScalar(b) && a == b }

// elementsAreObjects reports whether the elements of the lists are objects. It
// fails unless all are of one type and there is at least one.
//
// Differs from kube-apiserver: nulls in lists of strategic merge patches:
// kube-apiserver panics if the first element of a list is a null. Here a
// null is a scalar. Request: PATCH with Content-Type
// application/strategic-merge-patch+json and a list [null].
func elementsAreObjects(lists ...[]any) (bool, error) {
	var first reflect.Type
	found := false
	for _, list := range lists {
		for _, v := range list {
			t := reflect.TypeOf(v)
			switch {
			case !found:
				first, found = t, true
				if _, ok := v.([]any); ok {
					return false, errListOfLists
				}
			case t != first:
				return false, fmt.Errorf("list element types are not identical: %v", lists)
			}
		}
	}
	if !found {
		return false, errNoElements
	}
	return first == reflect.TypeFor[map[string]any](), nil
}

// mergeList merges patch into a list. With deletes set, it removes the scalars
// in patch from the list instead.
func mergeList(old, patch []any, f field, deletes bool) ([]any, error) {
	if len(old) == 0 && len(patch) == 0 {
		return old, nil
	}
	objects, err := elementsAreObjects(old, patch)
	if err != nil {
		return nil, err
	}
	var merged []any
	switch {
	case objects && f.key == "":
		return nil, fmt.Errorf("cannot merge lists without merge key for %s", goKind(f.typ))
	case objects:
		if old, patch, err = applySpecialElements(old, patch, f.key); err != nil {
			return nil, err
		}
		if merged, err = mergeElements(old, patch, f); err != nil {
			return nil, err
		}
	case deletes:
		deleted := newFinder(patch, "")
		return slices.DeleteFunc(old, func(v any) bool { return deleted.place(v) >= 0 }), nil
	default:
		known := newFinder(nil, "")
		for _, v := range slices.Concat(old, patch) {
			if known.place(v) < 0 {
				known.add(v, len(merged))
				merged = append(merged, v)
			}
		}
	}
	ours, theirs, err := partition(merged, patch, f.key)
	if err != nil {
		return nil, err
	}
	return normalizeOrder(ours, theirs, patch, old, f.key, objects)
}

// mergeElements merges each element of patch into the element of the list with
// the same merge key, or appends it.
func mergeElements(list, patch []any, f field) ([]any, error) {
	known := newFinder(list, f.key)
	for _, v := range patch {
		elem, value, err := mergeKeyValue(v, f.key)
		if err != nil {
			return nil, err
		}
		i, err := known.find(value)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			known.add(value, len(list))
			list = append(list, elem)
			continue
		}
		merged, err := mergeObject(list[i].(map[string]any), elem, f.typ)
		if err != nil {
			return nil, err
		}
		list[i] = merged
		if v, ok := merged[f.key]; !ok || !same(v, value) { // a null removes the key
			known = newFinder(list, f.key)
		}
	}
	return list, nil
}

// applySpecialElements applies the elements of a patch that are directives: one
// deletes the elements with its merge key, another replaces the list. It
// returns the two lists that remain to be merged.
func applySpecialElements(old, patch []any, key string) (rest, elems []any, err error) {
	replace := false
	for _, v := range patch {
		elem := v.(map[string]any)
		what, ok := elem[directive]
		if !ok {
			elems = append(elems, elem)
			continue
		}
		switch what {
		case "delete":
			_, value, err := mergeKeyValue(elem, key)
			if err != nil {
				return nil, nil, err
			}
			if old, err = deleteKey(old, key, value); err != nil {
				return nil, nil, err
			}
		case "replace":
			replace = true
		case "merge":
			return nil, nil, errors.New("merging lists cannot yet be specified in the patch")
		default:
			return nil, nil, badDirective(what, elem)
		}
	}
	if replace {
		return elems, nil, nil
	}
	return old, elems, nil
}

// deleteKey deletes the elements whose merge key has that value. It works in
// place and does not clear the end of the array: slices of the former list see
// the deleted elements there. kube-apiserver reads the former order from such a
// slice.
func deleteKey(list []any, key string, value any) ([]any, error) {
	for {
		i, err := newFinder(list, key).find(value)
		if i < 0 {
			return list, err
		}
		list = append(list[:i], list[i+1:]...)
	}
}

// mergeOrdered applies a $setElementOrder directive: it merges the list that
// the directive names, orders it, and removes it from the patch.
func mergeOrdered(obj, patch map[string]any, name string, directive any, s *schema.Schema) error {
	order, err := asList(directive)
	if err != nil {
		return err
	}
	name, err = listOf(name, setElementOrder, errSetElementOrder)
	if err != nil {
		return err
	}
	var old, change []any
	oldValue, inObject := obj[name]
	changeValue, inPatch := patch[name]
	if inObject {
		if old, err = asList(oldValue); err != nil {
			return err
		}
	}
	if inPatch {
		if change, err = asList(changeValue); err != nil {
			return err
		}
	}
	f, err := list(s, name)
	if err != nil {
		return err
	}
	if err := checkOrder(change, order, f.key); err != nil {
		return err
	}
	merged := old
	switch {
	case inObject && inPatch:
		merged = change
		if f.strategy == "merge" {
			if merged, err = mergeList(old, change, f, false); err != nil {
				return err
			}
		}
	case inPatch:
		v, _ := withoutDirectives(change) // a list is never a directive
		merged = v.([]any)
	case !inObject:
		return nil
	}
	ours, theirs, err := partition(merged, order, f.key)
	if err != nil {
		return err
	}
	objects, err := elementsAreObjects(old, change)
	if err != nil {
		return err
	}
	if obj[name], err = normalizeOrder(ours, theirs, order, old, f.key, objects); err != nil {
		return err
	}
	delete(patch, name)
	return nil
}

// checkOrder fails if an element of a patch is missing from order, or the
// elements are in a different order.
func checkOrder(patch, order []any, key string) error {
	if len(patch) == 0 || len(order) == 0 {
		return nil
	}
	var elems []any
	for _, v := range patch {
		elem, ok := v.(map[string]any)
		if key != "" && !ok {
			return badType(elem, v)
		}
		if key == "" || elem[directive] != "delete" {
			elems = append(elems, v)
		}
	}
	i, j := 0, 0
	for i < len(elems) && j < len(order) {
		if hasDirective(elems[i]) {
			i++
			continue
		}
		equal, err := sameElement(elems[i], order[j], key)
		if err != nil {
			return err
		}
		if equal {
			i++
		}
		j++
	}
	if i < len(elems) && j >= len(order) {
		return fmt.Errorf("The order in patch list:\n%v\n doesn't match %s list:\n%v\n", patch, setElementOrder, order)
	}
	return nil
}

// sameElement reports whether two elements are merged with each other: they
// have the same merge key or, without a merge key, are the same scalar.
func sameElement(a, b any, key string) (bool, error) {
	if key == "" {
		return same(a, b), nil
	}
	x, ok := a.(map[string]any)
	if !ok {
		return false, badType(x, a)
	}
	y, ok := b.(map[string]any)
	if !ok {
		return false, badType(y, b)
	}
	_, v, err := mergeKeyValue(x, key)
	if err != nil {
		return false, err
	}
	_, w, err := mergeKeyValue(y, key)
	return err == nil && same(v, w), err
}

// partition separates the elements of a merged list that are in wanted from the
// others.
func partition(merged, wanted []any, key string) (ours, theirs []any, err error) {
	of := newFinder(wanted, key)
	for _, v := range merged {
		value := v
		if key != "" {
			if _, value, err = mergeKeyValue(v, key); err != nil {
				return nil, nil, err
			}
		}
		i, err := of.find(value)
		if err != nil {
			return nil, nil, err
		}
		if i >= 0 {
			ours = append(ours, v)
		} else {
			theirs = append(theirs, v)
		}
	}
	return ours, theirs, nil
}

// normalizeOrder joins the two parts of a merged list. Elements that are in
// wanted have the order of wanted, the others the order of old. The two are
// interleaved as in old as far as possible. objects is set if the elements are
// objects.
func normalizeOrder(ours, theirs, wanted, old []any, key string, objects bool) ([]any, error) {
	if objects {
		for _, list := range [][]any{ours, wanted, theirs, old} {
			for _, v := range list {
				if _, _, err := mergeKeyValue(v, key); err != nil {
					return nil, err
				}
			}
		}
	}
	if !objects {
		key = ""
	}
	inWanted, inOld := newFinder(wanted, key), newFinder(old, key)
	sortBy(ours, inWanted)
	sortBy(theirs, inOld)

	arranged := make([]any, 0, len(ours)+len(theirs))
	for len(ours) > 0 && len(theirs) > 0 {
		i, j := inOld.place(theirs[0]), inOld.place(ours[0])
		if i >= 0 && j >= 0 && i < j {
			arranged, theirs = append(arranged, theirs[0]), theirs[1:]
		} else {
			arranged, ours = append(arranged, ours[0]), ours[1:]
		}
	}
	return append(append(arranged, ours...), theirs...), nil
}

// sortBy sorts a list by the positions of its elements in another.
func sortBy(list []any, in *finder) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := in.place(list[i]), in.place(list[j])
		// The order of elements without a position depends on the sort
		// algorithm, here as in kube-apiserver.
		return a < 0 || b < 0 || a < b
	})
}
