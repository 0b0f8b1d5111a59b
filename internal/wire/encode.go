package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/object"
)

// Append appends the JSON encoding of an object to dst, as encoding/json
// encodes the Go struct, without a newline: fields in the order of the struct,
// map keys sorted, zero values omitted or added according to the tags, and <, >
// and & escaped. A nil is the zero value of its field; in a pointer field it is
// a null, because an absent member is a nil pointer. Unknown members are
// omitted. If the type is stored in protobuf, empty lists and maps in fields are
// nulls, and nil bytes and lists in maps are empty.
//
// Append accepts values of the types that canonical objects contain, also in
// fields of other types, and panics for others. It does not change or keep obj.
func (t *Type) Append(dst []byte, obj map[string]any) []byte {
	return encode(dst, t.root, obj, t.protobuf)
}

// QuotedElement returns the JSON of an object in the list of objects at a path of fields of a kind, as
// errors of kube-apiserver quote it. The path passes through the elements of other lists. QuotedElement
// panics if there is no such kind or list.
func QuotedElement(group, version, kind string, path []string, elem map[string]any) json.RawMessage {
	t, ok := ForKind(group, version, kind)
	if !ok {
		panic("wire: no kind " + kind + " of " + group + "/" + version)
	}
	n := t.root
	for _, name := range path {
		n = n.member(name)
		if n.kind == kindSlice {
			n = n.elem
		}
	}
	return encode(nil, n, elem, t.protobuf)
}

// member returns the type of a field of a struct.
func (n *node) member(name string) *node {
	i := slices.IndexFunc(n.fields, func(f field) bool { return f.name == name })
	return n.fields[i].node
}

// OmitEmpty returns the response for an object that is not stored: without the
// empty lists and maps that its fields omit, and with the others, which
// protobuf would turn into null. It does not change obj and shares no memory
// with it.
func (t *Type) OmitEmpty(obj map[string]any) map[string]any {
	shown, _, err := t.Decode(encodeVerbatim(t.root, obj, false), DecodeOptions{shown: true})
	if err != nil {
		panic("wire: " + err.Error()) // unreachable: the encoder wrote it
	}
	return shown
}

// An encoder appends the JSON encoding of values.
type encoder struct {
	// protobuf is set if the values are stored in protobuf, which has empty
	// lists and maps only as elements.
	protobuf bool
	// keys is a stack of the keys of the maps being encoded, and values one of the
	// values of the structs being encoded, at the indexes of their fields. They avoid
	// allocations, and a second search in a map for each field.
	keys   []string
	values []any
	// verbatim is set if untyped data keeps its text. Otherwise it is compact, and untyped collects
	// the texts.
	verbatim bool
	untyped  textWriter
	// fieldSet is where the first field set is in the document, the zero value before it.
	fieldSet span
}

// A span is a part of a document, from an index to before another.
type span struct{ begin, end int }

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func newEncoder(protobuf bool) *encoder {
	e := encoders.Get().(*encoder)
	e.protobuf, e.fieldSet, e.verbatim, e.untyped = protobuf, span{}, false, textWriter{}
	return e
}

// release returns e to the pool without what is left on its stacks.
func (e *encoder) release() {
	clear(e.keys)
	clear(e.values)
	e.keys, e.values = e.keys[:0], e.values[:0]
	encoders.Put(e)
}

// encode appends an object of a type.
func encode(dst []byte, n *node, obj map[string]any, protobuf bool) []byte {
	e := newEncoder(protobuf)
	dst = e.structure(dst, n, obj)
	encoders.Put(e) // not after a panic, which leaves values on the stacks
	return dst
}

// encodeVerbatim returns an object of a type with the text of untyped data as it is.
func encodeVerbatim(n *node, obj map[string]any, protobuf bool) []byte {
	e := newEncoder(protobuf)
	e.verbatim = true
	out := e.structure(nil, n, obj)
	encoders.Put(e)
	return out
}

// appendAny appends an untyped value.
func appendAny(dst []byte, v any) []byte {
	e := newEncoder(false)
	dst = e.any(dst, v)
	encoders.Put(e)
	return dst
}

// appendVerbatim is appendAny with the text of untyped data as it is.
func appendVerbatim(dst []byte, v any) []byte {
	e := newEncoder(false)
	e.verbatim = true
	dst = e.any(dst, v)
	encoders.Put(e)
	return dst
}

func (e *encoder) structure(dst []byte, n *node, obj map[string]any) []byte {
	first := len(e.values)
	set := n.always | e.push(n, obj)
	dst = e.fields(append(dst, '{'), n, first, set)
	e.values = e.values[:first]
	return append(dst, '}')
}

// fields appends fields of a struct, a set of those whose values push has pushed on the stack at
// first, and clears the values.
func (e *encoder) fields(dst []byte, n *node, first int, set uint64) []byte {
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		f, v := &n.fields[i], e.values[first+i]
		e.values[first+i] = nil
		if !f.always && !f.pointer && empty(v) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(dst, f.prefix...)
		switch {
		case e.protobuf && f.node.repeats() && empty(v):
			dst = append(dst, "null"...)
		case v == nil && !f.pointer:
			dst = e.zero(dst, f.node)
		default:
			dst = e.value(dst, f.node, v)
		}
	}
	return dst
}

// push pushes the values of the fields of a struct on the stack and returns the set of
// the fields that obj has. Most objects have few of the fields of their type.
func (e *encoder) push(n *node, obj map[string]any) (set uint64) {
	first := len(e.values)
	e.values = slices.Grow(e.values, len(n.fields))[:first+len(n.fields)]
	for name, v := range obj {
		if i := n.byName.Find(name); i >= 0 {
			e.values[first+i] = v
			set |= 1 << i
		}
	}
	return set
}

// zero appends the zero value of a type.
func (e *encoder) zero(dst []byte, n *node) []byte {
	if n.kind == kindStruct {
		return e.structure(dst, n, nil)
	}
	return e.any(dst, n.zero())
}

// value appends a value of a type.
func (e *encoder) value(dst []byte, n *node, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		switch n.kind {
		case kindStruct:
			return e.structure(dst, n, v)
		case kindMap:
			return e.mapping(dst, n.elem, v)
		case kindSchemaOrBool, kindSchemaOrArray, kindSchemaOrStrings:
			return e.structure(dst, n.elem, v)
		}
	case []any:
		switch n.kind {
		case kindSlice, kindSchemaOrArray:
			return e.list(dst, n.elem, v)
		}
	case float64:
		if n.kind == kindFloat {
			return appendFloat(dst, v)
		}
	case nil:
		return append(dst, "null"...)
	}
	if n.kind == kindRaw {
		return e.raw(dst, v)
	}
	return e.any(dst, v)
}

func (e *encoder) mapping(dst []byte, elem *node, obj map[string]any) []byte {
	first := len(e.keys)
	for key := range obj {
		e.keys = append(e.keys, key)
	}
	end := len(e.keys)
	slices.Sort(e.keys[first:])
	dst = append(dst, '{')
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ',')
		}
		key := e.keys[i]
		dst = append(appendString(dst, key), ':')
		if elem == untyped {
			dst = e.any(dst, obj[key])
		} else {
			dst = e.elem(dst, elem, obj[key])
		}
	}
	clear(e.keys[first:])
	e.keys = e.keys[:first]
	return append(dst, '}')
}

func (e *encoder) list(dst []byte, elem *node, list []any) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.elem(dst, elem, v)
	}
	return append(dst, ']')
}

// elem appends an element of a list or a map.
func (e *encoder) elem(dst []byte, elem *node, v any) []byte {
	switch {
	case v != nil:
		return e.value(dst, elem, v)
	case e.protobuf && elem.kind == kindBytes: // protobuf has no nil elements
		return append(dst, `""`...)
	case e.protobuf && elem.kind == kindSlice:
		return append(dst, "[]"...)
	}
	return e.zero(dst, elem)
}

// any appends an untyped value.
func (e *encoder) any(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		if v == 0 && !e.verbatim {
			v = 0 // not -0, which has the syntax of an integer
		}
		return appendFloat(dst, v)
	case string:
		return appendString(dst, v)
	case []any:
		return e.list(dst, untyped, v)
	case map[string]any:
		return e.mapping(dst, untyped, v)
	case object.EmptyMap:
		return append(dst, "{}"...)
	case object.RawJSON:
		if e.verbatim {
			return append(dst, v...)
		}
		return appendCompact(dst, string(v))
	case object.FieldsV1:
		if e.fieldSet.end == 0 {
			e.fieldSet = span{len(dst), len(dst) + len(v)}
		}
		return append(dst, v...)
	}
	panic(fmt.Sprintf("wire: %T in an object", v))
}

// appendFloat appends a number in ECMAScript's format, as encoding/json does.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		panic("wire: " + strconv.FormatFloat(f, 'g', -1, 64) + " in an object")
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 becomes e-9
		dst = dst[:n-1]
	}
	return dst
}

// plain is the set of bytes that a string contains unescaped, also in HTML.
var plain = func() (set [utf8.RuneSelf]bool) {
	for c := range set {
		switch c {
		case '"', '\\', '<', '>', '&':
		default:
			set[c] = c >= ' '
		}
	}
	return set
}()

// plainPrefix returns the number of plain bytes at the start of s.
func plainPrefix(s string) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if set := special(eight(s[i : i+8])); set != 0 {
			return i + bits.TrailingZeros64(set)/8
		}
	}
	switch rest := len(s) - i; {
	case i > 0 && rest > 0: // the last eight bytes, of which some are known to be plain
		if special(eight(s[len(s)-8:])) == 0 {
			return len(s)
		}
	case rest >= 4: // two words of four bytes that overlap
		if special(uint64(four(s[:4]))|uint64(four(s[len(s)-4:]))<<32) == 0 {
			return len(s)
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf && plain[s[i]] {
		i++
	}
	return i
}

// special returns a word that is zero if all bytes of w are plain. Otherwise its lowest bit is
// that of the first byte that is not plain.
func special(w uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	// A subtraction sets the high bit of an ASCII character that is less, and perhaps that of
	// the byte above.
	quoteOrAmpersand := w | 0x04*ones ^ '&'*ones
	angleBracket := w | 0x02*ones ^ '>'*ones
	backslash := w ^ '\\'*ones
	return (w | (w - ' '*ones) | (quoteOrAmpersand - ones) | (angleBracket - ones) | (backslash - ones)) & highs
}

const hexDigits = "0123456789abcdef"

// appendString appends a quoted string.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0 // length of the prefix of s that is in dst
	for i := plainPrefix(s); i < len(s); i += plainPrefix(s[i:]) {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = append(dst, s[done:i]...)
			dst = appendEscape(dst, c)
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[done:i]...)
			dst = append(dst, `\ufffd`...)
			done = i + size
		case r == '\u2028' || r == '\u2029': // line terminators in JavaScript
			dst = append(dst, s[done:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			done = i + size
		}
		i += size
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}

// appendEscape appends an escaped ASCII character.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
