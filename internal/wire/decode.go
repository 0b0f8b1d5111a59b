package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/bits"
	"strconv"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
)

// DecodeOptions say what Decode reports. The zero value decodes as a request
// with fieldValidation=Ignore is decoded.
type DecodeOptions struct {
	// Strict makes unknown and duplicate fields errors of their own. They are
	// dropped, or merged, all the same.
	Strict bool
}

// Decode reads the JSON encoding of an object of the type and returns the object
// in canonical form. The members kind and apiVersion stay as they are given.
//
// Fields the type does not have are dropped; names are case-sensitive. A null is
// an absent field. With o.Strict, each unknown or duplicate field gives a
// FieldError, at most 100 of them in the order of the body; they do not keep the
// object from being returned.
//
// The error is that of a kube-apiserver's JSON decoder, in its words: for input
// that is not JSON (an empty body and one nested more than 10,000 deep included)
// a *json.SyntaxError; else the error of the first timestamp, quantity or other
// value with a codec of its own that does not parse; else a *TypeError for the
// first value of the wrong type, a list or a string in place of the object
// included, or the error of a value that is not base64. The literal null decodes
// as an empty object.
//
// The object shares no memory with data. Its strings share one copy of data, so
// whoever keeps a few of them for long should clone them.
func (t *Type) Decode(data []byte, o DecodeOptions) (obj map[string]any, fieldErrors []error, err error) {
	v, fieldErrors, err := t.decode(data, o)
	if err != nil {
		return nil, nil, err
	}
	return v.(map[string]any), fieldErrors, nil
}

// decode is Decode for a type whose root is anything.
func (t *Type) decode(data []byte, o DecodeOptions) (v any, fieldErrors []error, err error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.src, d.strict, d.protobuf = string(data), o.Strict, t.protobuf

	v, ok := d.value(t.root, nil)
	if ok {
		d.space()
		ok = d.pos == len(d.src)
		if !ok {
			d.failure = errSyntax
		}
	}
	if !ok {
		if err := syntaxError(data); err != nil {
			return nil, nil, err
		}
		return nil, nil, d.failure
	}
	if d.saved != nil {
		return nil, nil, d.saved
	}
	return v, d.fieldErrors, nil
}

// Normalize puts an object that was made or changed outside this package, by a
// patch for instance, in canonical form: it returns what Decode would return for
// obj's JSON encoding, with the same errors. It neither changes obj nor keeps
// parts of it.
//
// Values are of the sorts that canonical objects have; Normalize panics at
// others.
func (t *Type) Normalize(obj map[string]any, o DecodeOptions) (normal map[string]any, fieldErrors []error, err error) {
	// The bytes between are what it costs that each rule stands once.
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = appendAny((*buf)[:0], obj)
	return t.Decode(*buf, o)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// errSyntax stands for a syntax error until syntaxError finds its text.
var errSyntax = errors.New("invalid JSON")

// syntaxError returns the error of encoding/json for data that is not JSON, nil
// for data that is. The decoder leaves the wording of such errors to it.
func syntaxError(data []byte) error {
	var raw json.RawMessage
	return json.Unmarshal(data, &raw)
}

// maxDepth is how deep lists and objects can be nested.
const maxDepth = 10000

// A decoder decodes one document, in one pass: type errors are saved and
// decoding goes on; a syntax error, or one of a value with a codec of its own,
// ends it.
type decoder struct {
	src   string
	pos   int // of the next byte to read
	depth int

	strict   bool
	protobuf bool

	path []step
	base int // where in path the document starts that errors are relative to

	members []member // of the objects being read, innermost last
	elems   []any    // of the lists being read, innermost last

	fieldErrors []error
	saved       error // the first error that did not end decoding
	failure     error // the error that did
}

// A member is a field of a struct and its value.
type member struct {
	field int
	keep  bool // the value is one to write
	value any
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// release returns d to the pool, with the room it has but nothing of the
// document.
func (d *decoder) release() {
	const limit = 1 << 10 // entries worth keeping
	fresh := decoder{path: d.path[:0], members: d.members[:0], elems: d.elems[:0]}
	if cap(fresh.members) > limit || cap(fresh.elems) > limit || cap(fresh.path) > limit {
		fresh = decoder{}
	}
	clear(fresh.path[:cap(fresh.path)])
	clear(fresh.members[:cap(fresh.members)])
	clear(fresh.elems[:cap(fresh.elems)])
	*d = fresh
	decoders.Put(d)
}

// fail ends decoding with an error.
func (d *decoder) fail(err error) (any, bool) {
	d.failure = err
	return nil, false
}

// value reads a value of type n. Where a member comes up twice, old is what the
// first gave, and the second is decoded on top of it, as into a Go variable that
// has a value already. After an error that does not end decoding the result is
// of no use, but true.
func (d *decoder) value(n *node, old any) (any, bool) {
	d.space()
	if n.kind >= kindTime {
		return d.custom(n, old)
	}
	switch c := d.peek(); c {
	case '{':
		switch n.kind {
		case kindStruct:
			return d.object(n, old)
		case kindMap:
			return d.mapping(n, old)
		case kindAny:
			return d.mapping(untypedMap, nil)
		}
		d.mismatch("object", n)
		return n.zero(), d.skip()
	case '[':
		switch n.kind {
		case kindSlice:
			return d.list(n, old)
		case kindBytes:
			return d.byteList(n, old)
		case kindAny:
			return d.list(untypedList, nil)
		}
		d.mismatch("array", n)
		return n.zero(), d.skip()
	case '"':
		s, ok := d.string()
		if !ok {
			return d.fail(errSyntax)
		}
		switch n.kind {
		case kindString, kindAny:
			return s, true
		case kindBytes:
			return d.base64(s), true
		}
		d.mismatch("string", n)
		return n.zero(), true
	case 't', 'f':
		b := c == 't'
		if !d.literal(strconv.FormatBool(b)) {
			return d.fail(errSyntax)
		}
		if n.kind != kindBool && n.kind != kindAny {
			d.mismatch("bool", n)
			return n.zero(), true
		}
		return b, true
	case 'n':
		if !d.literal("null") {
			return d.fail(errSyntax)
		}
		switch n.kind {
		case kindBool, kindInt, kindFloat, kindString, kindStruct:
			if old != nil {
				return old, true
			}
		}
		return n.zero(), true
	default:
		literal, ok := d.number()
		if !ok {
			return d.fail(errSyntax)
		}
		return d.numeric(n, literal), true
	}
}

// numeric converts a number for type n.
func (d *decoder) numeric(n *node, literal string) any {
	switch n.kind {
	case kindInt:
		if n.bits == 8 {
			if u, err := strconv.ParseUint(literal, 10, 8); err == nil {
				return int64(u)
			}
		} else if i, err := strconv.ParseInt(literal, 10, n.bits); err == nil {
			return i
		}
	case kindFloat:
		if f, err := strconv.ParseFloat(literal, 64); err == nil {
			return f
		}
	case kindAny:
		if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return i
		}
		if f, err := strconv.ParseFloat(literal, 64); err == nil {
			return f
		}
		d.save(d.inContext(&TypeError{Value: "number " + literal, GoType: "float64"}))
		return nil
	default:
		d.mismatch("number", n)
		return n.zero()
	}
	d.mismatch("number "+literal, n)
	return n.zero()
}

// base64 checks the text of a []byte and returns it in canonical form, which
// has no line breaks.
func (d *decoder) base64(s string) any {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		d.save(err)
		return nil
	}
	return base64.StdEncoding.EncodeToString(b)
}

// byteList reads a []byte given as a list of numbers.
func (d *decoder) byteList(n *node, old any) (any, bool) {
	var before []any
	if text, ok := old.(string); ok {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			panic("wire: " + err.Error()) // canonical form is valid
		}
		for _, c := range b {
			before = append(before, int64(c))
		}
	}
	v, ok := d.list(&node{kind: kindSlice, elem: n.elem}, before)
	if !ok {
		return nil, false
	}
	elems, _ := v.([]any)
	b := make([]byte, len(elems))
	for i, e := range elems {
		b[i] = byte(e.(int64))
	}
	return base64.StdEncoding.EncodeToString(b), true
}

// enter consumes the bracket that opens a list or an object.
func (d *decoder) enter() bool {
	d.pos++
	d.depth++
	return d.depth <= maxDepth
}

// next consumes what stands between the elements of a list or the members of an
// object: it reports whether there is another, the first if first is set, and
// else consumes the bracket that closes it. Not ok is a syntax error.
func (d *decoder) next(closing byte, first bool) (more, ok bool) {
	d.space()
	switch c := d.peek(); {
	case c == closing:
		d.pos++
		d.depth--
		return false, true
	case first:
		return true, true
	case c == ',':
		d.pos++
		return true, true
	}
	return false, false
}

// key reads the name of a member and the colon after it.
func (d *decoder) key() (string, bool) {
	d.space()
	if d.peek() != '"' {
		return "", false
	}
	key, ok := d.string()
	if !ok {
		return "", false
	}
	d.space()
	if d.peek() != ':' {
		return "", false
	}
	d.pos++
	return key, true
}

// object reads a struct.
func (d *decoder) object(n *node, old any) (any, bool) {
	start := len(d.members)
	have := d.recall(n, old)
	seen := uint64(0)
	root := len(d.path) == 0
	if !d.enter() {
		return d.fail(errSyntax)
	}
	for first := true; ; first = false {
		more, ok := d.next('}', first)
		if !ok {
			return d.fail(errSyntax)
		}
		if !more {
			break
		}
		key, ok := d.key()
		if !ok {
			return d.fail(errSyntax)
		}
		i, ok := n.find(key)
		if !ok {
			d.report(UnknownField, key)
			if !d.skip() {
				return nil, false
			}
			continue
		}
		f := &n.fields[i]
		bit := uint64(1) << i
		if seen&bit != 0 {
			d.report(DuplicateField, key)
		}
		seen |= bit
		slot := -1 // of an earlier value
		var before any
		if have&bit != 0 {
			for slot = start; d.members[slot].field != i; slot++ {
			}
			before = d.members[slot].value
		}
		d.path = append(d.path, step{owner: n, field: f})
		m := member{field: i}
		if m.value, m.keep, ok = d.fieldValue(f, before); !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
		if f.unstored && d.protobuf && !root {
			m.keep = false
		}
		if slot >= 0 {
			d.members[slot] = m
		} else {
			d.members = append(d.members, m)
		}
		have |= bit
	}
	return d.assemble(n, start, have), true
}

// recall puts the members of an earlier value of a struct on the stack and
// returns the set of them.
func (d *decoder) recall(n *node, old any) (have uint64) {
	if old == nil {
		return 0
	}
	for name, v := range old.(map[string]any) {
		i, _ := n.find(name)
		have |= 1 << i
		d.members = append(d.members, member{field: i, keep: true, value: v})
	}
	return have
}

// fieldValue reads the value of a field and tells whether it is one to keep.
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
		// A pointer to what is written as null: protobuf brings the pointer
		// back, JSON does not.
		return v, v != nil || d.protobuf, ok
	}
	if f.node.kind == kindMap && v != nil && empty(v) {
		v = object.EmptyMap{}
	}
	return v, !unset(v), ok
}

// assemble takes the members from start off the stack and makes them an object,
// with the zero values of those that are missing and always written.
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

// mapping reads a map. Members of an earlier value stay unless they come up
// again.
func (d *decoder) mapping(n *node, old any) (any, bool) {
	if !d.enter() {
		return d.fail(errSyntax)
	}
	obj := map[string]any{}
	for first := true; ; first = false {
		more, ok := d.next('}', first)
		if !ok {
			return d.fail(errSyntax)
		}
		if !more {
			break
		}
		key, ok := d.key()
		if !ok {
			return d.fail(errSyntax)
		}
		if _, twice := obj[key]; twice {
			d.report(DuplicateField, key)
		}
		d.path = append(d.path, step{key: key, index: -1})
		v, ok := d.value(n.elem, nil)
		if !ok {
			return nil, false
		}
		d.path = d.path[:len(d.path)-1]
		if v == nil && d.protobuf {
			switch n.elem.kind { // which protobuf brings back empty
			case kindBytes:
				v = ""
			case kindSlice:
				v = []any{}
			}
		}
		obj[key] = v
	}
	before, _ := old.(map[string]any)
	for key, v := range before {
		if _, ok := obj[key]; !ok {
			obj[key] = v
		}
	}
	return obj, true
}

// list reads a slice. Its elements are decoded on top of those of an earlier
// value, and like a Go slice the list keeps what lies beyond its length, which
// shows when it comes up a third time.
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

// What untyped data is made of.
var (
	untyped     = &node{kind: kindAny, goType: "interface {}"}
	untypedList = &node{kind: kindSlice, elem: untyped}
	untypedMap  = &node{kind: kindMap, elem: untyped, goType: "map[string]interface {}"}
)

// skip reads a value and drops it.
func (d *decoder) skip() bool {
	d.space()
	switch c := d.peek(); c {
	case '{', '[':
		closing := c + 2 // in ASCII
		if !d.enter() {
			break
		}
		for first := true; ; first = false {
			more, ok := d.next(closing, first)
			if !ok {
				break
			}
			if !more {
				return true
			}
			if closing == '}' {
				if _, ok := d.key(); !ok {
					break
				}
			}
			if !d.skip() {
				return false
			}
		}
	case '"':
		if _, ok := d.string(); ok {
			return true
		}
	case 't':
		if d.literal("true") {
			return true
		}
	case 'f':
		if d.literal("false") {
			return true
		}
	case 'n':
		if d.literal("null") {
			return true
		}
	default:
		if _, ok := d.number(); ok {
			return true
		}
	}
	d.failure = errSyntax
	return false
}
