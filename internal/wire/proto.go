package wire

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"
	"time"
)

// HasProto reports whether the type has a protobuf encoding. All kinds except
// Table and the types in it have one.
func (t *Type) HasProto() bool { return t.message() != nil }

// AppendProto appends the protobuf encoding of a canonical object to dst: the
// bytes that the Go type's Marshal returns. Scalars and structs are written
// even if they are zero, pointers and lists if they are not empty, maps with
// sorted keys. Members without a protobuf field are omitted, including kind and
// apiVersion of the object.
//
// A value of a type that does not match its field counts as zero. AppendProto
// panics if the type has no protobuf encoding. It does not change or keep obj.
func (t *Type) AppendProto(dst []byte, obj map[string]any) []byte {
	m := t.message()
	if m == nil {
		panic("wire: " + t.GoName() + " has no protobuf encoding")
	}
	return m.append(dst, obj)
}

// The protobuf wire types that kube-apiserver writes.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// append appends the fields of the message, whose values are members of obj.
func (m *message) append(dst []byte, obj map[string]any) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if f.member < 0 {
			dst = appendVarint(dst, f.key)
			start := len(dst) + 1
			dst = closeLength(f.message.append(append(dst, 0), obj), start)
			continue
		}
		v, ok := obj[f.name]
		switch {
		case f.node.kind == kindSlice && !f.wrapped:
			dst = f.appendList(dst, v)
		case f.node.kind == kindMap:
			dst = f.appendMap(dst, v)
		case f.pointer && (!ok || v == nil && f.always),
			v == nil && (f.node.kind == kindBytes || f.wrapped):
		default:
			dst = appendVarint(dst, f.key)
			dst = appendProto(dst, f.node, f.message, v)
		}
	}
	return dst
}

// appendList appends the elements of a repeated field.
func (f *protoField) appendList(dst []byte, v any) []byte {
	list, _ := v.([]any)
	for _, e := range list {
		dst = appendVarint(dst, f.key)
		dst = appendProto(dst, f.node.elem, f.message, e)
	}
	return dst
}

// appendMap appends the entries of a map, each as a message of key and value.
func (f *protoField) appendMap(dst []byte, v any) []byte {
	obj, _ := v.(map[string]any)
	var room [16]string // keeps the keys on the stack
	keys := slices.AppendSeq(room[:0], maps.Keys(obj))
	slices.Sort(keys)
	for _, key := range keys {
		dst = appendVarint(dst, f.key)
		dst = append(dst, 0)
		start := len(dst)
		dst = append(dst, 1<<3|wireBytes)
		dst = appendText(dst, key)
		if v := obj[key]; v != nil || f.node.elem.kind != kindBytes {
			dst = append(dst, 2<<3|f.node.elem.wireType())
			dst = appendProto(dst, f.node.elem, f.message, v)
		}
		dst = closeLength(dst, start)
	}
	return dst
}

// appendProto appends a value, preceded by its length if the wire type has one.
// A nil is the zero value.
func appendProto(dst []byte, n *node, m *message, v any) []byte {
	switch n.kind {
	case kindBool:
		if b, _ := v.(bool); b {
			return append(dst, 1)
		}
		return append(dst, 0)
	case kindInt:
		i, _ := v.(int64)
		return appendVarint(dst, uint64(i))
	case kindFloat:
		f, _ := v.(float64)
		return appendFixed64(dst, math.Float64bits(f))
	case kindString:
		s, _ := v.(string)
		return appendText(dst, s)
	case kindBytes:
		s, _ := v.(string)
		return appendDecoded(dst, s)
	}

	dst = append(dst, 0)
	start := len(dst)
	switch n.kind {
	case kindStruct:
		obj, _ := v.(map[string]any)
		dst = m.append(dst, obj)
	case kindSlice: // a message with one field
		list, _ := v.([]any)
		for _, e := range list {
			dst = append(dst, 1<<3|n.elem.wireType())
			dst = appendProto(dst, n.elem, m, e)
		}
	default:
		dst = appendCustomProto(dst, n, m, v)
	}
	return closeLength(dst, start)
}

// appendTimestamp appends the fields of a time in a layout. The zero time has
// no fields.
func appendTimestamp(dst []byte, v any, layout string) []byte {
	s, _ := v.(string)
	t, err := time.Parse(layout, s)
	if err != nil || t.IsZero() {
		return dst
	}
	nanos := 0
	if layout == microFormat {
		nanos = t.Nanosecond()
	}
	dst = append(dst, 1<<3|wireVarint)
	dst = appendVarint(dst, uint64(t.Unix()))
	dst = append(dst, 2<<3|wireVarint)
	return appendVarint(dst, uint64(nanos))
}

func appendVarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func appendFixed64(dst []byte, v uint64) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56))
}

func appendText(dst []byte, s string) []byte {
	dst = appendVarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// appendDecoded appends the bytes that s encodes in base64.
func appendDecoded(dst []byte, s string) []byte {
	dst = append(dst, 0)
	start := len(dst)
	dst = slices.Grow(dst, base64.StdEncoding.DecodedLen(len(s)))
	n, err := base64.StdEncoding.Decode(dst[start:cap(dst)], []byte(s))
	if err != nil {
		n = 0
	}
	return closeLength(dst[:start+n], start)
}

// closeLength writes the length of the bytes from start on into the byte before
// start. A longer length moves the bytes; that is faster than computing the
// size of each message first.
func closeLength(dst []byte, start int) []byte {
	n := len(dst) - start
	if n < 0x80 {
		dst[start-1] = byte(n)
		return dst
	}
	var length [10]byte
	size := len(appendVarint(length[:0], uint64(n)))
	dst = append(dst, length[1:size]...) // extends dst
	copy(dst[start-1+size:], dst[start:start+n])
	copy(dst[start-1:], length[:size])
	return dst
}

// wireType returns the protobuf wire type of a value.
func (n *node) wireType() byte {
	switch n.kind {
	case kindBool, kindInt:
		return wireVarint
	case kindFloat:
		return wireFixed64
	}
	return wireBytes
}
