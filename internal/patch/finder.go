package patch

import "fmt"

// A finder finds elements of a list: the first whose merge key has a value, or, without a
// merge key, the first that is a scalar.
type finder struct {
	key    string
	places map[any]int // by value; lists and objects are not found
	// notObject is the position of the first element that is not an object though the list
	// has a merge key, -1 if there is none. The elements from there on are not found.
	notObject int
}

// newFinder returns a finder for a list. key is "" if it has no merge key.
func newFinder(list []any, key string) *finder {
	f := &finder{key: key, places: make(map[any]int, len(list)), notObject: -1}
	for i, v := range list {
		if key == "" {
			f.add(v, i)
			continue
		}
		elem, ok := v.(map[string]any)
		if !ok {
			f.notObject = i
			break
		}
		if value, ok := elem[key]; ok {
			f.add(value, i)
		}
	}
	return f
}

// add adds the place of a value, unless it has one.
func (f *finder) add(value any, i int) {
	if !isScalar(value) {
		return
	}
	if _, ok := f.places[value]; !ok {
		f.places[value] = i
	}
}

// find returns the position of the element with a value, -1 if there is none. It fails if an
// element before it is not an object.
func (f *finder) find(value any) (int, error) {
	if isScalar(value) {
		if i, ok := f.places[value]; ok {
			return i, nil
		}
	}
	if f.notObject >= 0 {
		return -1, fmt.Errorf("value for key %d is not a map", f.notObject)
	}
	return -1, nil
}

// place is find of the value of an element, -1 for one that find fails for.
func (f *finder) place(elem any) int {
	value := elem
	if f.key != "" {
		_, value, _ = mergeKeyValue(elem, f.key)
	}
	i, _ := f.find(value)
	return i
}

// isScalar reports whether v is neither a list nor an object.
//
// Differs from kube-apiserver: values of lists in strategic merge patches:
// kube-apiserver panics if it compares two lists or two objects. Here they are
// different. Request: PATCH with Content-Type
// application/strategic-merge-patch+json and a list of lists.
func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
