package wire

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// AppendCBOR appends the CBOR encoding of a canonical object to dst, without
// the tag of self-described CBOR. It contains the members that [Type.Append]
// encodes. Strings are byte strings; a []byte is a byte string in the tag that
// announces base64; numbers have the shortest form that keeps their value.
// Members are sorted by their encoding, shorter ones first.
//
// AppendCBOR accepts the values that Append accepts. It does not change or keep
// obj.
//
// Differs from kube-apiserver: order of members in CBOR: kube-apiserver
// shuffles the members of an object. Here they are sorted. Request: GET with
// Accept application/cbor.
func (t *Type) AppendCBOR(dst []byte, obj map[string]any) []byte {
	return appendCBORStruct(dst, t.root, obj)
}

// AppendCBOR appends the CBOR encoding of a generic value to dst.
func AppendCBOR(dst []byte, v any) []byte { return appendCBOR(dst, untyped, v) }

// The major types of CBOR, shifted to their position in the first byte, and the
// simple values and tags in use.
const (
	cborUnsigned = 0 << 5
	cborNegative = 1 << 5
	cborBytes    = 2 << 5
	cborArray    = 4 << 5
	cborMap      = 5 << 5
	cborTag      = 6 << 5

	cborFalse   = 0xf4
	cborTrue    = 0xf5
	cborNull    = 0xf6
	cborFloat16 = 0xf9
	cborFloat32 = 0xfa
	cborFloat64 = 0xfb

	cborTagBase64 = 22
)

// appendCBORHead appends the head of an item: its major type and a number,
// which is its value or its length.
func appendCBORHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n <= math.MaxUint8:
		return append(dst, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}

func appendCBORString(dst []byte, s string) []byte {
	return append(appendCBORHead(dst, cborBytes, uint64(len(s))), s...)
}

// cborLess compares keys by their encodings.
func cborLess(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	return 1
}

func appendCBORStruct(dst []byte, n *node, obj map[string]any) []byte {
	var room [maxFields]uint8 // indexes of the fields to write
	fields := room[:0]
	for i := range n.fields {
		f := &n.fields[i]
		if v, ok := obj[f.name]; f.always || ok && (f.pointer || !empty(v)) {
			fields = append(fields, uint8(i))
		}
	}
	slices.SortFunc(fields, func(a, b uint8) int { return cborLess(n.fields[a].name, n.fields[b].name) })
	dst = appendCBORHead(dst, cborMap, uint64(len(fields)))
	for _, i := range fields {
		f := &n.fields[i]
		dst = appendCBORString(dst, f.name)
		if v := obj[f.name]; v == nil && !f.pointer {
			dst = appendCBORZero(dst, f.node)
		} else {
			dst = appendCBOR(dst, f.node, v)
		}
	}
	return dst
}

func appendCBORZero(dst []byte, n *node) []byte {
	if n.kind == kindStruct {
		return appendCBORStruct(dst, n, nil)
	}
	return appendCBOR(dst, n, n.zero())
}

// appendCBOR appends a value of a type. The type distinguishes structs from
// maps and bytes from strings.
func appendCBOR(dst []byte, n *node, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, cborNull)
	case bool:
		if v {
			return append(dst, cborTrue)
		}
		return append(dst, cborFalse)
	case int64:
		if v < 0 {
			return appendCBORHead(dst, cborNegative, uint64(^v))
		}
		return appendCBORHead(dst, cborUnsigned, uint64(v))
	case float64:
		return appendCBORFloat(dst, v)
	case string:
		if n.kind == kindBytes {
			return appendCBORBytes(dst, v)
		}
		return appendCBORString(dst, v)
	case object.RawJSON, object.FieldsV1:
		return appendCBOR(dst, untyped, object.Plain(v))
	case []any:
		elem := untyped
		if n.kind == kindSlice || n.kind == kindSchemaOrArray {
			elem = n.elem
		}
		dst = appendCBORHead(dst, cborArray, uint64(len(v)))
		for _, e := range v {
			dst = appendCBORElem(dst, elem, e)
		}
		return dst
	case map[string]any:
		switch n.kind {
		case kindStruct:
			return appendCBORStruct(dst, n, v)
		case kindSchemaOrBool, kindSchemaOrArray, kindSchemaOrStrings:
			return appendCBORStruct(dst, n.elem, v)
		}
		elem := untyped
		if n.kind == kindMap {
			elem = n.elem
		}
		var room [16]string // keeps the keys on the stack
		keys := slices.AppendSeq(room[:0], maps.Keys(v))
		slices.SortFunc(keys, cborLess)
		dst = appendCBORHead(dst, cborMap, uint64(len(keys)))
		for _, key := range keys {
			dst = appendCBORString(dst, key)
			dst = appendCBORElem(dst, elem, v[key])
		}
		return dst
	}
	panic(fmt.Sprintf("wire: %T in an object", v))
}

// appendCBORElem appends an element of a list or a map.
func appendCBORElem(dst []byte, elem *node, v any) []byte {
	if v == nil {
		return appendCBORZero(dst, elem)
	}
	return appendCBOR(dst, elem, v)
}

// appendCBORBytes appends the bytes that s encodes in base64. Text that is not
// base64 is appended as a string.
func appendCBORBytes(dst []byte, s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return appendCBORString(dst, s)
	}
	dst = appendCBORHead(dst, cborTag, cborTagBase64)
	return append(appendCBORHead(dst, cborBytes, uint64(len(b))), b...)
}

// appendCBORFloat appends a number in the shortest of the three widths that can
// represent it.
func appendCBORFloat(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		panic("wire: " + fmt.Sprint(f) + " in an object")
	}
	single := float32(f)
	if float64(single) != f {
		return binary.BigEndian.AppendUint64(append(dst, cborFloat64), math.Float64bits(f))
	}
	if half, ok := float16(single); ok {
		return binary.BigEndian.AppendUint16(append(dst, cborFloat16), half)
	}
	return binary.BigEndian.AppendUint32(append(dst, cborFloat32), math.Float32bits(single))
}

// float16 returns the half-precision form of a finite number. ok is false if
// that form cannot represent the number.
func float16(f float32) (half uint16, ok bool) {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xff) - 127
	fraction := bits & (1<<23 - 1)
	switch {
	case bits&^(1<<31) == 0:
		return sign, true
	case exponent > 15 || exponent < -24:
		return 0, false
	case exponent >= -14: // normal
		return sign | uint16(exponent+15)<<10 | uint16(fraction>>13), fraction&(1<<13-1) == 0
	}
	shift := -exponent - 1 // of the fraction with its leading one
	fraction |= 1 << 23
	return sign | uint16(fraction>>shift), fraction&(1<<shift-1) == 0
}

// AppendCBORArray appends the head of an array of n items.
func AppendCBORArray(dst []byte, n int) []byte {
	return appendCBORHead(dst, cborArray, uint64(n))
}
