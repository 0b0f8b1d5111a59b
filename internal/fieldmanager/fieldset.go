package fieldmanager

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

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

// maxCached is the length of the encodings that each of the two generations of a
// setCache may hold, and of the longest one that it holds at all.
const maxCached, maxCachedSet = 1 << 20, 64 << 10

// A setCache holds the field sets of encodings that were read or written not long ago.
// Its sets must not be changed. It is safe for concurrent use.
type setCache struct {
	mu         sync.Mutex // guards the fields below
	young, old map[object.FieldsV1]*fieldpath.Set
	length     int // of the encodings in young
}

// sets are the field sets of all kinds.
var sets setCache

func (c *setCache) get(text object.FieldsV1) *fieldpath.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := c.young[text]
	if set == nil {
		if set = c.old[text]; set != nil {
			c.putLocked(object.FieldsV1(strings.Clone(string(text))), set)
		}
	}
	return set
}

// put adds a set. The cache keeps the text.
func (c *setCache) put(text object.FieldsV1, set *fieldpath.Set) {
	if len(text) > maxCachedSet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putLocked(text, set)
}

func (c *setCache) putLocked(text object.FieldsV1, set *fieldpath.Set) {
	if c.length += len(text); c.young == nil || c.length > maxCached {
		c.young, c.old, c.length = map[object.FieldsV1]*fieldpath.Set{}, c.young, len(text)
	}
	c.young[text] = set
}

// decode returns the field set of a fieldsV1. The set is shared. Steps of unknown kinds
// are skipped with everything below them. It fails if p ends.
func (n names) decode(text object.FieldsV1, p *pacer) (*fieldpath.Set, error) {
	if set := sets.get(text); set != nil {
		return set, nil
	}
	text = object.FieldsV1(strings.Clone(string(text))) // a part of a body
	tree, err := decodeTree(text, p)
	if err != nil {
		return nil, err
	}
	set, err := n.set(tree)
	if err == nil {
		sets.put(text, set)
	}
	return set, err
}

// encode returns the encoding of a field set, which must not be changed any more.
func (n names) encode(set *fieldpath.Set) object.FieldsV1 {
	text := n.tree(set).encode()
	sets.put(text, set)
	return text
}

// set returns the field set of a tree.
func (n names) set(tree fieldTree) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	_, err := n.addChildren(tree, set)
	return set, err
}

// A parsedStep is a step of a tree. Steps are added to a set in its order: it inserts
// another one by moving all that follow.
type parsedStep struct {
	element fieldpath.PathElement
	fieldStep
}

// fewSteps is the number of steps for which the stack has room.
const fewSteps = 8

// addChildren adds the paths of a tree to set. It reports whether the tree has none.
func (n names) addChildren(tree fieldTree, set *fieldpath.Set) (empty bool, err error) {
	set.Members = fieldpath.MakePathElementSet(len(tree))
	var room [fewSteps]parsedStep // avoids an allocation
	steps := room[:0]
	if len(tree) > fewSteps {
		steps = make([]parsedStep, 0, len(tree))
	}
	for _, s := range tree {
		pe, err := n.parseStep(s.text)
		if errors.Is(err, fieldpath.ErrUnknownPathElementType) {
			continue
		} else if err != nil {
			return false, err
		}
		steps = append(steps, parsedStep{pe, s})
	}
	slices.SortFunc(steps, func(a, b parsedStep) int { return a.element.Compare(b.element) })
	for _, s := range steps {
		if len(s.below) == 0 {
			set.Members.Insert(s.element)
			continue
		}
		var below fieldpath.Set
		none, err := n.addChildren(s.below, &below)
		if err != nil {
			return false, err
		}
		if s.member || none {
			set.Members.Insert(s.element)
		}
		if !below.Empty() {
			*set.Children.Descend(s.element) = below
		}
	}
	return len(steps) == 0, nil
}

func (n names) parseStep(s string) (fieldpath.PathElement, error) {
	if name, ok := strings.CutPrefix(s, "f:"); ok {
		return n.field(name), nil
	}
	return fieldpath.DeserializePathElement(s)
}

// tree returns the tree of a field set.
func (n names) tree(set *fieldpath.Set) fieldTree {
	tree := make(fieldTree, 0, set.Members.Size())
	set.Members.Iterate(func(pe fieldpath.PathElement) {
		tree.add(n.formatStep(pe), true, nil)
	})
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		children, _ := set.Children.Get(pe)
		tree.add(n.formatStep(pe), false, n.tree(children))
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
