package fieldmanager

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	smd "sigs.k8s.io/structured-merge-diff/v4/schema"

	"github.com/kubefake/kubefake/internal/object"
)

// A diff is the field sets that a write changed and removed.
type diff struct {
	// changed contains the fields that the write added or gave another value.
	changed, removed fieldTree
}

// normalize normalizes the trees, and removes the fields that f does not select.
func (d *diff) normalize(f *Filter) {
	for _, tree := range []*fieldTree{&d.changed, &d.removed} {
		f.prune(tree)
		*tree = tree.normalize()
	}
}

// diff compares two objects. It returns what typed.TypedValue.Compare returns,
// except that it identifies a map-list element without one of its keys by the
// keys it has, as newer releases of structured-merge-diff do. It compares the
// objects directly because every write calls it; Compare wraps each value.
//
// It fails if an object does not match the schema, and if p ends.
//
// The trees are in c's room.
func (t *Type) diff(before, after map[string]any, c *comparer) (*diff, error) {
	c.foundEmpty = false
	d, err := t.compare(before, after, c)
	if c.foundEmpty && t.kind.OmitEmpty != nil {
		d, err = t.compare(before, t.kind.OmitEmpty(after), c)
	}
	return d, err
}

// compare is diff without Kind.OmitEmpty.
func (t *Type) compare(before, after map[string]any, c *comparer) (*diff, error) {
	root := t.compiled().types.object
	if root == nil {
		return nil, errors.New("schema error: objects are no maps")
	}
	d := &diff{}
	_, err := c.maps(root, before, after, d)
	return d, err
}

// isEmpty reports whether v is an empty list or map.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case object.EmptyMap:
		return true
	}
	return false
}

// containsEmpty reports whether v is or contains an empty list or map.
func containsEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			if containsEmpty(m) {
				return true
			}
		}
	case []any:
		return len(v) == 0 || slices.ContainsFunc(v, containsEmpty)
	case object.EmptyMap:
		return true
	}
	return false
}

// absentValue is the type of absent, the value of a member that an object does not
// have. The value of a null is nil.
type absentValue struct{}

var absent any = absentValue{}

// member returns a member of m, absent if there is none.
func member(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return absent
}

// A comparer compares values.
type comparer struct {
	*pacer
	// foundEmpty reports whether an empty list or map was found in the objects after
	// the writes, which the JSON encoding may omit.
	foundEmpty bool

	room, free []fieldStep // for trees
}

// comparers are comparers whose trees are not needed any more.
var comparers = sync.Pool{New: func() any { return &comparer{} }}

// newComparer returns a comparer, whose caller calls release.
func newComparer(p *pacer) *comparer {
	c := comparers.Get().(*comparer)
	c.pacer = p
	return c
}

// maxRoom is the number of steps for which a comparer keeps room.
const maxRoom = 1 << 12

// release ends the use of the comparer and of all its trees.
func (c *comparer) release() {
	if len(c.room) > maxRoom {
		c.room, c.free = nil, nil
	}
	clear(c.room[:len(c.room)-len(c.free)]) // the steps are parts of request bodies
	c.pacer, c.free = nil, c.room
	comparers.Put(c)
}

// newTree returns an empty tree with room for n steps.
func (c *comparer) newTree(n int) fieldTree {
	if len(c.free) < n {
		c.room = make([]fieldStep, max(n, 2*len(c.room), 64))
		c.free = c.room
	}
	t := c.free[:0:n]
	c.free = c.free[n:]
	return t
}

// makeRoom gives the changed fields of d room for n steps, unless there are some already.
func (c *comparer) makeRoom(d *diff, n int) {
	if d.changed == nil {
		d.changed = c.newTree(n)
	}
}

// A variant is one of the forms that a type allows: scalar, list or map.
type variant int

const (
	anyVariant variant = iota // the value is null, or of a form that the type does not allow
	scalarVariant
	listVariant
	mapVariant
)

func variantOf(s *resolvedType, v any) variant {
	switch v.(type) {
	case string, bool, int64, float64:
		if s.scalar != nil {
			return scalarVariant
		}
	case []any:
		if s.list != nil {
			return listVariant
		}
	case map[string]any:
		if s.object != nil {
			return mapVariant
		}
	}
	switch {
	case s.scalar == nil && s.list == nil:
		return mapVariant
	case s.scalar == nil && s.object == nil:
		return listVariant
	case s.list == nil && s.object == nil:
		return scalarVariant
	}
	return anyVariant
}

// compareAt compares the values at one step below the path of d. At least one of
// them is not absent. Callers skip identical values.
//
// Objects are deep: the stack frames of compareAt and its callees are kept
// small.
func (c *comparer) compareAt(step pathStep, s *resolvedType, before, after any, d *diff) error {
	if s.empty() {
		return atStep(step, errors.New(": schema error: no type"))
	}
	if err := c.pacer.step(); err != nil {
		return err
	}
	if isEmpty(after) {
		c.foundEmpty = true
	}
	was, is := variantOf(s, before), variantOf(s, after)
	if after == absent {
		is = was
	} else if before == absent {
		was = is
	}
	var below diff
	var changed, removed bool
	if was != is {
		// Compare in both variants: a list in place of a scalar changes the
		// scalar and adds the elements of the list.
		leaf, err := c.compareAs(was, s, before, after, &below)
		if err != nil {
			return atStep(step, err)
		}
		if leaf {
			changed, removed = compareAtomic(before, after)
		}
	}
	leaf, err := c.compareAs(is, s, before, after, &below)
	if err != nil {
		return atStep(step, err)
	}
	switch {
	case leaf:
		if changed, removed = compareAtomic(before, after); changed && containsEmpty(after) {
			c.foundEmpty = true
		}
	case before == absent:
		changed = true
	case after == absent:
		removed = true
	}
	d.changed.add(step, changed, below.changed)
	d.removed.add(step, removed, below.removed)
	return nil
}

// atStep adds a step to the path that begins an error's text.
func atStep(step pathStep, err error) error { return fmt.Errorf("%s%w", stepText(step), err) }

// compareAtomic compares values that are owned as a whole. Of untyped data within a list or a map
// that is owned as a whole, as of kube-apiserver's, the text counts; of other the value.
func compareAtomic(before, after any) (changed, removed bool) {
	before, after = object.Plain(before), object.Plain(after)
	return after != absent && (before == absent || !equal(before, after)), after == absent
}

// compareAs compares values as one variant of s and adds the differences below
// them to d. It reports whether the values are owned as a whole.
func (c *comparer) compareAs(as variant, s *resolvedType, before, after any, d *diff) (leaf bool, err error) {
	switch {
	case as == mapVariant || as == anyVariant && s.object != nil:
		return c.maps(s.object, before, after, d)
	case as == scalarVariant || as == anyVariant && s.scalar != nil:
		if !allows(*s.scalar, before) && !allows(*s.scalar, after) {
			return false, fmt.Errorf(": expected %s", *s.scalar)
		}
		return true, nil
	}
	return c.lists(s.list, before, after, d)
}

// allows reports whether a scalar type allows a value. Every type allows null
// and absent.
func allows(s smd.Scalar, v any) bool {
	switch v.(type) {
	case nil, absentValue:
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

func (c *comparer) maps(t *mapType, before, after any, d *diff) (leaf bool, err error) {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	// If neither map has members, the difference between an empty map, a null
	// and an absent value is a change of the map itself.
	if t.atomic || len(was) == 0 && len(is) == 0 {
		return true, nil
	}
	if len(was) == 0 {
		d.changed, err = c.addedMembers(t, is)
		return false, err
	}
	c.makeRoom(d, len(is))
	both := 0
	for name, v := range was {
		after := member(is, name)
		if after != absent {
			both++
		}
		if object.Identical(v, after) {
			continue
		}
		step, s, _ := t.field(name)
		if err := c.compareAt(step, s, v, after, d); err != nil {
			return false, err
		}
	}
	if both == len(is) {
		return false, nil
	}
	for name, v := range is {
		if _, had := was[name]; had {
			continue
		}
		step, s, _ := t.field(name)
		if err := c.added(step, s, v, &d.changed); err != nil {
			return false, err
		}
	}
	return false, nil
}

// added adds the paths of a value that was absent before the write, which is what
// compareAt finds there.
func (c *comparer) added(step pathStep, s *resolvedType, v any, to *fieldTree) error {
	if s.empty() {
		return atStep(step, errors.New(": schema error: no type"))
	}
	if err := c.pacer.step(); err != nil {
		return err
	}
	var below fieldTree
	var err error
	switch v := v.(type) {
	case map[string]any:
		if s.object != nil && !s.object.atomic && len(v) > 0 {
			below, err = c.addedMembers(s.object, v)
		}
	case []any:
		if s.list != nil && !s.list.atomic && len(v) > 0 {
			var d diff
			_, err = c.lists(s.list, nil, v, &d)
			below = d.changed
		}
	}
	if err != nil {
		return atStep(step, err)
	}
	if below == nil && containsEmpty(v) {
		c.foundEmpty = true
	}
	to.add(step, true, below)
	return nil
}

func (c *comparer) addedMembers(t *mapType, members map[string]any) (fieldTree, error) {
	tree := c.newTree(len(members))
	for name, v := range members {
		step, s, _ := t.field(name)
		if err := c.added(step, s, v, &tree); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// fewElements is the number of elements that are searched without an index.
const fewElements = 8

// equal compares two values. Integers and floats are equal if their numbers
// are.
func equal(a, b any) bool {
	if object.Same(a, b) {
		return true
	}
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
