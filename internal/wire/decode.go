package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
)

// DecodeOptions configure decoding. The zero value decodes like a request with
// fieldValidation=Ignore.
type DecodeOptions struct {
	// Strict reports unknown and duplicate fields. They are still dropped or
	// merged.
	Strict bool

	// Prototypes, unless nil, are compared with the document.
	Prototypes *Prototypes

	// Live, unless nil, is compared with the document, which is of the same Type. The result shares
	// with it what has the same text in both.
	Live *Live

	// Integers makes an untyped number that is not an int64 an error.
	Integers bool

	// MaxName, unless it is 0, makes a name in a map an error if it and what is around it, with
	// the colon, are longer in the document, in bytes.
	MaxName int

	known fieldSet

	untyped *untypedTexts

	// identified is set to fail with errOtherCase for a kind or apiVersion in another case.
	identified bool

	skipComplete bool // see prototypeMatch

	// shown is set for a response, which also has fields that protobuf does not have.
	shown bool
}

// A fieldSet is the value of a fieldsV1 at a place of a document, which need not be checked.
type fieldSet struct {
	at   int
	text object.FieldsV1 // "" if there is none
}

// Decode decodes the JSON encoding of an object and returns the object in
// canonical form. The members kind and apiVersion are unchanged.
//
// Unknown fields are dropped; names are case-sensitive. A null is an absent
// field. With o.Strict, fieldErrors has a FieldError for each unknown or
// duplicate field, at most 100 in the order of the body; the object is returned
// nevertheless.
//
// err has the text of kube-apiserver's JSON decoder. It is a *json.SyntaxError
// for input that is not JSON, including an empty body and one nested more than
// 10,000 deep; else the error of the first timestamp, quantity or other value
// with its own codec that does not parse; else a *TypeError for the first value
// of the wrong type, or the error of a value that is not base64. A list or a
// string in place of the object is a value of the wrong type. The literal null
// decodes as an empty object.
//
// The object shares no memory with data. Its strings share one copy of data:
// clone strings that are kept for long.
func (t *Type) Decode(data []byte, o DecodeOptions) (obj map[string]any, fieldErrors []error, err error) {
	v, fieldErrors, err := t.decode(data, o)
	if err != nil {
		return nil, nil, err
	}
	return v.(map[string]any), fieldErrors, nil
}

// decode is Decode for a root of any type.
func (t *Type) decode(data []byte, o DecodeOptions) (v any, fieldErrors []error, err error) {
	d := decoders.Get().(*decoder)
	defer d.release()
	d.src, d.strict, d.protobuf, d.known, d.identified = string(data), o.Strict, t.protobuf, o.known, o.identified
	d.integers, d.maxName, d.shown = o.Integers, o.MaxName, o.shown
	d.untyped = o.untyped.reader()
	d.prototype.Prototypes, d.prototype.skipComplete = o.Prototypes, o.skipComplete
	d.live.begin(t, o.Live)

	v, ok := d.value(t.root, nil)
	switch d.failure {
	case errOtherMembers:
		o.skipComplete = true
		return t.decode(data, o)
	case errSharedAgain:
		o.Live = nil
		return t.decode(data, o)
	}
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
	if m := &d.prototype; m.candidate != nil {
		m.Found = m.candidate
	} else if m.Prototypes != nil && len(m.texts) > 0 && d.strict && len(d.fieldErrors) == 0 {
		m.Found = m.find()
	}
	return v, d.fieldErrors, nil
}

// Normalize returns the canonical form of an object that was created or changed
// outside of this package, for instance by a patch: the result and the errors
// of Decode for obj's JSON encoding. It does not change obj and shares no
// memory with it. It panics for values of types that canonical objects do not
// contain.
func (t *Type) Normalize(obj map[string]any, o DecodeOptions) (normal map[string]any, fieldErrors []error, err error) {
	// Encoding and decoding again costs time, but only Decode implements the
	// rules of canonical form.
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = appendVerbatim((*buf)[:0], obj)
	return t.Decode(*buf, o)
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// errSyntax is the error of every syntax error inside the decoder. Decode replaces it
// with that of syntaxError.
var errSyntax = errors.New("invalid JSON")

// The errors of options that few callers set.
var (
	errNoInteger = errors.New("a number is not an int64")
	errLongName  = errors.New("a name is too long")
)

// syntaxError returns the error of encoding/json for data that is not JSON, nil
// for JSON. It provides the texts of the decoder's syntax errors.
func syntaxError(data []byte) error {
	var raw json.RawMessage
	return json.Unmarshal(data, &raw)
}

// maxDepth is the maximum nesting of lists and objects.
const maxDepth = 10000

// A decoder decodes one document in one pass. It saves type errors and
// continues; a syntax error, or an error of a value with its own codec, ends
// it.
type decoder struct {
	src   string
	pos   int // of the next byte
	depth int

	strict     bool
	strictRaw  bool // reports duplicate fields in raw data too
	protobuf   bool
	identified bool
	integers   bool
	maxName    int
	shown      bool
	known      fieldSet
	untyped    textReader
	prototype  prototypeMatch
	live       liveMatch

	path []step
	base int // index in path of the start of the document; errors are relative to it

	members []member // of the objects being read, innermost last
	elems   []any    // of the lists being read, innermost last

	repeated *repeatedStrings // of documents before this one too

	fieldErrors []error
	saved       error // the first error that did not end decoding
	failure     error // the error that ended decoding
}

// A member is a field of a struct and its value.
type member struct {
	field int
	keep  bool // whether the value is part of the object
	value any
}

var decoders = sync.Pool{New: func() any { return &decoder{repeated: new(repeatedStrings)} }}

// release returns d to the pool. It keeps buffers but no parts of the document.
func (d *decoder) release() {
	const limit = 1 << 10 // entries worth keeping
	fresh := decoder{path: d.path[:0], members: d.members[:0], elems: d.elems[:0], repeated: d.repeated}
	clear(d.prototype.texts)
	fresh.prototype.texts = d.prototype.texts[:0]
	if cap(fresh.members) > limit || cap(fresh.elems) > limit || cap(fresh.path) > limit {
		fresh = decoder{repeated: d.repeated}
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

// value reads a value of type n. For a duplicate member, old is the previous
// value and the new one is decoded on top of it, as into a Go variable that
// already has a value. After an error that does not end decoding, the result is
// undefined and ok is true.
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
			return d.repeated.get(s), true
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

// numeric converts a number to type n.
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
		if d.integers {
			d.save(errNoInteger)
			return nil
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

// base64 checks the text of a []byte and returns it in canonical form, without
// line breaks.
func (d *decoder) base64(s string) any {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		d.save(err)
		return nil
	}
	return base64.StdEncoding.EncodeToString(b)
}

// byteList reads a []byte in the form of a list of numbers.
func (d *decoder) byteList(n *node, old any) (any, bool) {
	var before []any
	if text, ok := old.(string); ok {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			panic("wire: " + err.Error()) // unreachable: canonical form is valid
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

// next consumes the separator between the elements of a list or the members of
// an object and reports whether another follows. Set first before the first
// one. If none follows, it consumes the closing bracket. ok is false for a
// syntax error.
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

// The types of untyped data.
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
		if d.skipString() {
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
