package wire

import (
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
// omitted. If the type is stored in protobuf, which has no empty lists and
// maps, they are nulls.
//
// Append accepts values of the types that canonical objects contain, also in
// fields of other types, and panics for others. It does not change or keep obj.
func (t *Type) Append(dst []byte, obj map[string]any) []byte {
	return encode(dst, t.root, obj, t.protobuf)
}

// OmitEmpty returns the response for an object that is not stored: without the
// empty lists and maps that its fields omit, and with the others, which
// protobuf would turn into null. It does not change obj and shares no memory
// with it.
func (t *Type) OmitEmpty(obj map[string]any) map[string]any {
	shown, _, err := t.Decode(encode(nil, t.root, obj, false), DecodeOptions{})
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
	// keys is a stack of the keys of the maps being encoded. It avoids an
	// allocation for each nested map.
	keys []string
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func newEncoder(protobuf bool) *encoder {
	e := encoders.Get().(*encoder)
	e.protobuf, e.keys = protobuf, e.keys[:0]
	return e
}

// encode appends an object of a type.
func encode(dst []byte, n *node, obj map[string]any, protobuf bool) []byte {
	e := newEncoder(protobuf)
	defer encoders.Put(e)
	return e.structure(dst, n, obj)
}

// appendAny appends an untyped value.
func appendAny(dst []byte, v any) []byte {
	e := newEncoder(false)
	defer encoders.Put(e)
	return e.any(dst, v)
}

func (e *encoder) structure(dst []byte, n *node, obj map[string]any) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for set := n.always | n.fieldsOf(obj); set != 0; set &= set - 1 {
		f := &n.fields[bits.TrailingZeros64(set)]
		v := obj[f.name]
		if !f.always && !f.pointer && empty(v) {
			continue
		}
		if len(dst) > start {
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
	return append(dst, '}')
}

// fieldsOf returns the set of the fields that an object has. Most objects have
// few of the fields of their type.
func (n *node) fieldsOf(obj map[string]any) (set uint64) {
	for name := range obj {
		if i, ok := n.find(name); ok {
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
	case nil:
		return append(dst, "null"...)
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
	if v == nil {
		return e.zero(dst, elem)
	}
	return e.value(dst, elem, v)
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
		return appendFloat(dst, v)
	case string:
		return appendString(dst, v)
	case []any:
		return e.list(dst, untyped, v)
	case map[string]any:
		return e.mapping(dst, untyped, v)
	case object.EmptyMap:
		return append(dst, "{}"...)
	case object.FieldsV1:
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
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		b := s[i : i+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		// The lowest byte with a high bit is the first one that is not plain. A subtraction
		// sets the high bit of an ASCII character that is less, and perhaps that of the byte
		// above.
		quoteOrAmpersand := word | 0x04*ones ^ '&'*ones
		angleBracket := word | 0x02*ones ^ '>'*ones
		backslash := word ^ '\\'*ones
		special := word | (word - ' '*ones) | (quoteOrAmpersand - ones) | (angleBracket - ones) | (backslash - ones)
		if special &= highs; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf && plain[s[i]] {
		i++
	}
	return i
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
