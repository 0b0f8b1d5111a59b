package fieldmanager

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
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

// valueStep returns the step to an element of a set.
func valueStep(v any) pathStep {
	return pathStep{text: string(appendScalar(append(make([]byte, 0, 64), "v:"...), v))}
}

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

// stepText returns a step as it appears in the path of an error, where integers are those of the
// object. Parsed from a step, they are floating-point numbers.
func stepText(s pathStep) string {
	e := names(nil).parseStep(s.text)
	if e.Value != nil {
		*e.Value = withIntegers(*e.Value)
	}
	if e.Key != nil {
		for i, k := range *e.Key {
			(*e.Key)[i].Value = withIntegers(k.Value)
		}
	}
	return e.String()
}

// withIntegers returns a value in which integers that were parsed as floating-point numbers are
// integers.
func withIntegers(v value.Value) value.Value {
	return value.NewValueInterface(integersIn(v.Unstructured()))
}

func integersIn(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = integersIn(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = integersIn(v[name])
		}
	}
	return v
}

// A fieldSet is a field set in its encoding and in the forms that it was needed in. It is
// safe for concurrent use.
type fieldSet struct {
	text object.FieldsV1
	tree fieldTree // normalized

	set  atomic.Pointer[fieldpath.Set] // must not be changed
	fits atomic.Pointer[compiled]      // a schema by which the set needs no reconciliation
}

// noFields is the empty field set.
var noFields = &fieldSet{text: "{}"}

// of returns the field set of a normalized tree, which it copies.
func of(tree fieldTree) *fieldSet {
	if len(tree) == 0 {
		return noFields
	}
	var room [2 << 10]byte // avoids an allocation
	text := tree.append(room[:0])
	if known := sets.find(text); known != nil {
		return known
	}
	return sets.add(&fieldSet{text: object.FieldsV1(text), tree: tree.clone()})
}

// ofSet returns the field set of a set, which must not be changed any more.
func (n names) ofSet(set *fieldpath.Set) *fieldSet {
	f := of(n.tree(set))
	f.set.CompareAndSwap(nil, set)
	return f
}

// asSet returns the set in the form of structured-merge-diff. It must not be changed.
func (f *fieldSet) asSet(n names) *fieldpath.Set {
	set := f.set.Load()
	if set == nil {
		set = n.set(f.tree)
		f.set.Store(set)
	}
	return set
}

// reconcile returns the set as it is by a schema, whose lists and maps may have become
// atomic since the set was written.
func (f *fieldSet) reconcile(c *compiled) (*fieldSet, error) {
	if f.fits.Load() == c {
		return f, nil
	}
	set, err := typed.ReconcileFieldSetWithSchema(f.asSet(c.names), c.null)
	if err != nil {
		return nil, err
	}
	if set != nil {
		f = c.names.ofSet(set)
	}
	f.fits.Store(c)
	return f, nil
}

// maxCached is the length of the encodings that each of the two generations of a
// setCache may hold, and of the longest one that it holds at all.
const maxCached, maxCachedSet = 1 << 20, 64 << 10

// A setCache holds the field sets that were read or written not long ago, by their
// encodings. It is safe for concurrent use.
type setCache struct {
	mu         sync.Mutex // guards the fields below
	young, old map[object.FieldsV1]*fieldSet
	length     int // of the encodings in young
}

// sets are the field sets of all kinds.
var sets setCache

// get returns the field set of an encoding, nil if the cache does not have it.
func (c *setCache) get(text object.FieldsV1) *fieldSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.getLocked(text)
}

// find is get of an encoding in a buffer.
func (c *setCache) find(text []byte) *fieldSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set := c.young[object.FieldsV1(text)]; set != nil {
		return set
	}
	return c.old[object.FieldsV1(text)]
}

// add adds a field set, unless the cache has one of the same encoding, and returns the one
// that it has. The cache keeps the text.
func (c *setCache) add(set *fieldSet) *fieldSet {
	if len(set.text) > maxCachedSet {
		return set
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.getLocked(set.text); known != nil {
		return known
	}
	c.addLocked(set)
	return set
}

func (c *setCache) getLocked(text object.FieldsV1) *fieldSet {
	set := c.young[text]
	if set == nil {
		if set = c.old[text]; set != nil {
			c.addLocked(set)
		}
	}
	return set
}

func (c *setCache) addLocked(set *fieldSet) {
	if c.length += len(set.text); c.young == nil || c.length > maxCached {
		c.young, c.old, c.length = map[object.FieldsV1]*fieldSet{}, c.young, len(set.text)
	}
	c.young[set.text] = set
}

// decode returns the field set of a fieldsV1. Steps of unknown kinds are skipped with
// everything below them. It fails if p ends.
func decode(text object.FieldsV1, p *pacer) (*fieldSet, error) {
	if set := sets.get(text); set != nil {
		return set, nil
	}
	text = object.FieldsV1(strings.Clone(string(text))) // a part of a body
	tree, err := decodeTree(text, p)
	if err != nil {
		return nil, err
	}
	if tree, err = tree.canonical(); err != nil {
		return nil, err
	}
	return sets.add(&fieldSet{text: text, tree: tree.normalize()}), nil
}

// canonical returns the tree with its steps in the form that trees of objects have, without
// those of unknown kinds. It changes t.
func (t fieldTree) canonical() (fieldTree, error) {
	kept := t[:0]
	for _, s := range t {
		if !strings.HasPrefix(s.text, "f:") {
			pe, err := fieldpath.DeserializePathElement(s.text)
			if errors.Is(err, fieldpath.ErrUnknownPathElementType) {
				continue
			} else if err != nil {
				return nil, err
			}
			if value := s.text[len("v:"):]; !strings.HasPrefix(s.text, "i:") && hasTrailingData(value) {
				return nil, errTrailingData
			}
			s.text = names(nil).formatStep(pe)
		}
		var err error
		if s.below, err = s.below.canonical(); err != nil {
			return nil, err
		}
		s.member = s.member || len(s.below) == 0
		kept = append(kept, s)
	}
	if len(kept) == 0 {
		return nil, nil
	}
	return kept, nil
}

// errTrailingData is the error of a step with more than one JSON document. Releases before v1.37 read
// the first one.
var errTrailingData = errors.New("unexpected trailing data after the value of a step")

// hasTrailingData reports whether a text is a JSON document and something else behind it.
func hasTrailingData(text string) bool {
	if json.Valid([]byte(text)) {
		return false
	}
	d := json.NewDecoder(strings.NewReader(text))
	var document json.RawMessage
	return d.Decode(&document) == nil
}

// set returns the set of a tree.
func (n names) set(tree fieldTree) *fieldpath.Set {
	set := &fieldpath.Set{}
	n.addChildren(tree, set)
	return set
}

// A parsedStep is a step of a tree. Steps are added to a set in its order: it inserts
// another one by moving all that follow.
type parsedStep struct {
	element fieldpath.PathElement
	fieldStep
}

// fewSteps is the number of steps for which the stack has room.
const fewSteps = 8

// addChildren adds the paths of a tree to set.
func (n names) addChildren(tree fieldTree, set *fieldpath.Set) {
	set.Members = fieldpath.MakePathElementSet(len(tree))
	var room [fewSteps]parsedStep // avoids an allocation
	steps := room[:0]
	if len(tree) > fewSteps {
		steps = make([]parsedStep, 0, len(tree))
	}
	for _, s := range tree {
		steps = append(steps, parsedStep{n.parseStep(s.text), s})
	}
	slices.SortFunc(steps, func(a, b parsedStep) int { return a.element.Compare(b.element) })
	for _, s := range steps {
		if s.member {
			set.Members.Insert(s.element)
		}
		if len(s.below) > 0 {
			n.addChildren(s.below, set.Children.Descend(s.element))
		}
	}
}

func (n names) parseStep(s string) fieldpath.PathElement {
	if name, ok := strings.CutPrefix(s, "f:"); ok {
		return n.field(name)
	}
	pe, err := fieldpath.DeserializePathElement(s)
	if err != nil {
		panic("fieldmanager: " + err.Error()) // unreachable: see canonical, listType.step and valueStep
	}
	return pe
}

// tree returns the normalized tree of a set.
func (n names) tree(set *fieldpath.Set) fieldTree {
	return n.steps(set).normalize()
}

func (n names) steps(set *fieldpath.Set) fieldTree {
	tree := make(fieldTree, 0, set.Members.Size())
	set.Members.Iterate(func(pe fieldpath.PathElement) {
		tree.add(pathStep{text: n.formatStep(pe)}, true, nil)
	})
	set.Children.Iterate(func(pe fieldpath.PathElement) {
		children, _ := set.Children.Get(pe)
		tree.add(pathStep{text: n.formatStep(pe)}, false, n.steps(children))
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
