package wire

import (
	"math/bits"

	"github.com/kubefake/kubefake/internal/object"
)

// object reads a struct.
func (d *decoder) object(n *node, old any) (any, bool) {
	o := objectState{n: n, root: len(d.path) == 0, start: len(d.members), last: -1}
	o.have = d.recall(n, old)
	if !d.enter() {
		return d.fail(errSyntax)
	}
	for first := true; ; first = false {
		if o.root && !first && d.live.live != nil {
			shared := d.live.section(d)
			if shared&o.seen != 0 {
				return d.fail(errSharedAgain)
			}
			if shared != 0 {
				o.seen, o.have = o.seen|shared, o.have|shared
				continue
			}
		}
		more, ok := d.next('}', first)
		if !ok {
			return d.fail(errSyntax)
		}
		if !more {
			break
		}
		i, ok := d.field(&o)
		if !ok || i >= 0 && !d.member(&o, i) {
			return nil, false
		}
	}
	obj := d.assemble(n, o.start, o.have)
	if o.root {
		d.live.end(n, obj)
		if !d.prototype.end(d, obj) {
			return nil, false
		}
	}
	return obj, true
}

// An objectState is how far a struct was read.
type objectState struct {
	n     *node
	root  bool
	start int    // of its members on the stack
	last  int    // the field that was read last, or -1
	seen  uint64 // fields that were read
	have  uint64 // fields that have a value, perhaps one of before
}

// field consumes the name of the next field of a struct and the colon. It returns -1 if the struct
// does not have the field, and skips its value then. ok is false if that ends decoding.
func (d *decoder) field(o *objectState) (i int, ok bool) {
	if i, ok = d.fieldAfter(o.n, o.last); ok {
		return i, true
	}
	key, ok := d.key()
	if !ok {
		d.failure = errSyntax
		return 0, false
	}
	if i = o.n.byName.Find(key); i >= 0 {
		return i, true
	}
	if o.root && d.identified && namesType(key) {
		d.failure = errOtherCase
		return 0, false
	}
	d.report(UnknownField, key)
	return -1, d.skip()
}

// member reads the value of a field of a struct. It reports false if that ends decoding.
func (d *decoder) member(o *objectState, i int) bool {
	o.last = i
	f, bit := &o.n.fields[i], uint64(1)<<i
	again := o.seen&bit != 0
	if again {
		if o.root && d.live.shared&bit != 0 {
			d.failure = errSharedAgain
			return false
		}
		d.report(DuplicateField, f.name)
	}
	o.seen |= bit
	compares := o.root && d.prototype.Prototypes != nil && !isHead(f.name)
	if compares {
		if known, ok := d.prototype.knownMember(d, i, again); known || !ok {
			o.have |= bit
			return ok
		}
	}
	slot := len(d.members)
	var before any
	if o.have&bit != 0 {
		for slot = o.start; d.members[slot].field != i; slot++ {
		}
		before = d.members[slot].value
	}
	begin := d.pos
	d.path = append(d.path, step{owner: o.n, field: f})
	m := member{field: i}
	var ok bool
	if m.value, m.keep, ok = d.fieldValue(f, before); !ok {
		return false
	}
	d.path = d.path[:len(d.path)-1]
	if compares {
		d.prototype.add(i, d.src[begin:d.pos], again)
	}
	if f.unstored && d.protobuf && !o.root && !d.shown {
		m.keep = false
	}
	if o.have&bit != 0 {
		d.members[slot] = m
	} else {
		d.members = append(d.members, m)
	}
	o.have |= bit
	return true
}

// fieldAfter consumes the name of a field and the colon if they are those of one of the next
// fields of the struct, as encoders write them.
func (d *decoder) fieldAfter(n *node, last int) (i int, ok bool) {
	const ahead = 8 // more are slower to compare than to find
	rest := d.src[d.pos:]
	for i = last + 1; i < len(n.fields) && i <= last+ahead; i++ {
		if prefix := n.fields[i].prefix; len(prefix) <= len(rest) && prefix[1] == rest[1] && prefix == rest[:len(prefix)] {
			d.pos += len(prefix)
			return i, true
		}
	}
	return 0, false
}

// recall pushes the members of an earlier value of a struct on the stack and
// returns the set of them.
func (d *decoder) recall(n *node, old any) (have uint64) {
	if old == nil {
		return 0
	}
	for name, v := range old.(map[string]any) {
		i := n.byName.Find(name)
		have |= 1 << i
		d.members = append(d.members, member{field: i, keep: true, value: v})
	}
	return have
}

// fieldValue reads the value of a field and reports whether the object keeps
// it.
func (d *decoder) fieldValue(f *field, old any) (v any, keep, ok bool) {
	d.space()
	if f.pointer && d.peek() == 'n' {
		if !d.literal("null") {
			d.failure = errSyntax
			return nil, false, false
		}
		return nil, f.always, true
	}
	v, ok = d.value(f.node, old)
	switch {
	case f.always:
		return v, true, ok
	case f.pointer:
		// A pointer to a value that is written as null: protobuf decodes the
		// pointer, JSON does not.
		return v, v != nil || d.protobuf, ok
	}
	if f.node.kind == kindMap && v != nil && empty(v) {
		v = object.EmptyMap{}
	}
	return v, !unset(v), ok
}

// assemble pops the members from start on and returns them as an object, with
// the zero values of missing fields that are always written.
func (d *decoder) assemble(n *node, start int, have uint64) map[string]any {
	members := d.members[start:]
	missing := n.always &^ have
	size := 0
	for i := range members {
		if members[i].keep {
			size++
		}
	}
	obj := make(map[string]any, size+bits.OnesCount64(missing))
	for i := range members {
		if m := &members[i]; m.keep {
			obj[n.fields[m.field].name] = m.value
		}
	}
	d.members = d.members[:start]
	n.addZeros(obj, missing)
	return obj
}

// mapping reads a map. It changes an earlier value, whose members stay unless they
// are replaced.
func (d *decoder) mapping(n *node, old any) (any, bool) {
	if !d.enter() {
		return d.fail(errSyntax)
	}
	obj, again := old.(map[string]any)
	var seen map[string]bool // the keys of this object, if obj has some already
	if again {
		seen = map[string]bool{}
	} else {
		obj = map[string]any{}
	}
	for first := true; ; first = false {
		more, ok := d.next('}', first)
		if !ok {
			return d.fail(errSyntax)
		}
		if !more {
			break
		}
		begin := d.pos
		key, ok := d.key()
		if !ok {
			return d.fail(errSyntax)
		}
		if d.maxName > 0 && d.pos-begin > d.maxName {
			return d.fail(errLongName)
		}
		_, twice := obj[key]
		if again {
			twice = seen[key]
			seen[key] = true
		}
		if twice {
			d.report(DuplicateField, key)
		}
		d.path = append(d.path, step{key: key, index: -1})
		v, ok := d.value(n.elem, nil)
		if !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
		obj[key] = v
	}
	return obj, true
}

// list reads a slice. Its elements are decoded on top of those of an earlier
// value. Like a Go slice, the list keeps elements beyond its length, which
// matter if the member occurs a third time.
func (d *decoder) list(n *node, old any) (any, bool) {
	if !d.enter() {
		return d.fail(errSyntax)
	}
	before, _ := old.([]any)
	before = before[:cap(before)]
	start := len(d.elems)
	for {
		i := len(d.elems) - start
		more, ok := d.next(']', i == 0)
		if !ok {
			return d.fail(errSyntax)
		}
		if !more {
			break
		}
		var oldElem any
		if i < len(before) {
			oldElem = before[i]
		}
		d.path = append(d.path, step{index: i})
		v, ok := d.value(n.elem, oldElem)
		if !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
		d.elems = append(d.elems, v)
	}
	list := before[:0]
	if n := len(d.elems) - start; n == 0 || n > cap(list) {
		list = make([]any, 0, n)
	}
	list = append(list, d.elems[start:]...)
	d.elems = d.elems[:start]
	return list, true
}
