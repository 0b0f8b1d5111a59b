package wire

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
	"time"
)

// The errors of malformed protobuf, with kube-apiserver's texts.
var (
	errProtoOverflow = errors.New("proto: integer overflow")
	errProtoLength   = errors.New("proto: negative length found during unmarshaling")
	errProtoGroup    = errors.New("proto: unexpected end of group")
	errProtoDepth    = fmt.Errorf("proto: nested more than %d deep", maxDepth)
)

// DecodeProto decodes the protobuf encoding of an object and returns the object
// in canonical form, without kind and apiVersion, which the encoding does not
// contain. Unknown fields are dropped.
//
// Malformed input is an error, io.ErrUnexpectedEOF if it is truncated. Untyped
// data that is not JSON and an object nested more than 10,000 deep are errors,
// too. Time and memory are proportional to the input, regardless of the lengths
// that fields declare, unless values of a map of bytes extend beyond their entries,
// which kube-apiserver allows. DecodeProto panics if the type has no protobuf
// encoding.
//
// The object shares no memory with data. Its strings share one copy of data:
// clone strings that are kept for long.
func (t *Type) DecodeProto(data []byte) (map[string]any, error) {
	m := t.message()
	if m == nil {
		panic("wire: " + t.GoName() + " has no protobuf encoding")
	}
	d := protoDecoder{protobuf: t.protobuf}
	obj, err := d.object(m, string(data), nil)
	if err == nil {
		err = d.saved
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// A protoDecoder decodes one object. It saves errors of values and continues,
// because an error of the encoding takes precedence.
type protoDecoder struct {
	depth    int
	protobuf bool
	saved    error // the first error of a value
}

// save records an error, unless there was one before.
func (d *protoDecoder) save(err error) {
	if d.saved == nil {
		d.saved = err
	}
}

// object reads a struct, on top of the value of an earlier occurrence.
func (d *protoDecoder) object(m *message, data string, old any) (map[string]any, error) {
	if d.depth++; d.depth > maxDepth {
		return nil, errProtoDepth
	}
	obj, _ := old.(map[string]any)
	var have uint64
	if obj == nil {
		obj = make(map[string]any, bits.OnesCount64(m.node.always))
	}
	for name := range obj {
		have |= 1 << m.node.byName.Find(name)
	}
	if err := d.fields(m, data, obj, &have); err != nil {
		return nil, err
	}
	d.depth--
	m.node.addZeros(obj, m.node.always&^have)
	return obj, nil
}

// fields reads the fields of a message into obj. have is the set of the members
// of obj.
func (d *protoDecoder) fields(m *message, data string, obj map[string]any, have *uint64) error {
	for len(data) > 0 {
		number, wireType, rest, err := fieldKey(m.name, data)
		if err != nil {
			return err
		}
		f := m.field(number)
		if f == nil {
			if data, err = skipField(data); err != nil {
				return err
			}
			continue
		}
		packed := wireType == wireBytes && f.repeats() && f.node.elem.wireType() != wireBytes
		if uint64(wireType) != f.key&7 && !packed {
			return fmt.Errorf("proto: wrong wireType = %d for field %s", wireType, f.goName())
		}
		if f.member < 0 {
			var inner string
			if inner, data, err = chunk(rest); err != nil {
				return err
			}
			if err := d.fields(f.message, inner, obj, have); err != nil {
				return err
			}
			continue
		}
		var v any
		bit := uint64(1) << f.member
		var old any
		if *have&bit != 0 {
			old = obj[f.name]
		}
		switch {
		case packed:
			v, data, err = d.packed(f, rest, old)
		case f.repeats():
			v, data, err = d.list(f, rest, old)
		case f.node.kind == kindMap:
			v, data, err = d.entry(f, rest, old)
		default:
			v, data, err = d.value(f.node, f.message, rest, old)
		}
		if err != nil {
			return err
		}
		if f.keep(v, d.protobuf) {
			obj[f.name] = v
			*have |= bit
		} else if old != nil {
			delete(obj, f.name)
			*have &^= bit
		}
	}
	return nil
}

// repeats reports whether the field is a list of values.
func (f *protoField) repeats() bool {
	return f.member >= 0 && f.node.kind == kindSlice && !f.wrapped
}

// keep reports whether the object keeps a value; see decoder.fieldValue.
func (f *protoField) keep(v any, protobuf bool) bool {
	switch {
	case f.always:
		return true
	case f.pointer:
		return v != nil || protobuf
	}
	return !empty(v)
}

// goName returns an approximation of the Go name of the field. The table has
// only JSON names; Go names are used in errors.
func (f *protoField) goName() string {
	switch {
	case f.member < 0:
		return f.message.name
	case f.name == "metadata":
		return f.node.typeName()
	}
	return strings.ToUpper(f.name[:1]) + f.name[1:]
}

// typeName returns the name of the Go type without its package.
func (n *node) typeName() string {
	_, name, _ := strings.Cut(n.goType, ".")
	return name
}

// list reads a repeated field: the current element and those that follow
// directly.
func (d *protoDecoder) list(f *protoField, data string, old any) (any, string, error) {
	list, _ := old.([]any)
	for {
		v, rest, err := d.value(f.node.elem, f.message, data, nil)
		if err != nil {
			return nil, "", err
		}
		list = append(list, v)
		key, next, err := varint(rest)
		if err != nil || key != f.key {
			return list, rest, nil
		}
		data = next
	}
}

// packed reads a packed repeated field.
func (d *protoDecoder) packed(f *protoField, data string, old any) (any, string, error) {
	list, _ := old.([]any)
	inner, rest, err := chunk(data)
	for len(inner) > 0 && err == nil {
		var v any
		v, inner, err = d.value(f.node.elem, f.message, inner, nil)
		list = append(list, v)
	}
	if list == nil {
		return nil, rest, err
	}
	return list, rest, err
}

// entry reads an entry of a map. Like kube-apiserver it ignores wire types
// inside the entry, allows a key or a value to extend beyond the entry, and
// continues after the entry.
func (d *protoDecoder) entry(f *protoField, data string, old any) (any, string, error) {
	entry, rest, err := chunk(data)
	if err != nil {
		return nil, "", err
	}
	inner := data[len(data)-len(rest)-len(entry):]
	obj, _ := old.(map[string]any)
	if obj == nil {
		obj = map[string]any{}
	}
	key, elem := "", f.node.elem
	var v any
	for len(inner) > len(rest) {
		tag, value, err := varint(inner)
		if err != nil {
			return nil, "", err
		}
		switch int32(tag >> 3) {
		case 1:
			if key, inner, err = chunk(value); err != nil {
				return nil, "", err
			}
		case 2:
			if v, inner, err = d.value(elem, f.message, value, nil); err != nil {
				return nil, "", err
			}
		default:
			if inner, err = skipField(inner); err != nil {
				return nil, "", err
			}
			if len(inner) < len(rest) {
				return nil, "", io.ErrUnexpectedEOF
			}
		}
	}
	if v == nil {
		switch elem.kind {
		case kindBytes:
			v = ""
		case kindSlice:
			v = []any{}
		default:
			v = elem.zero()
		}
	}
	obj[validText(key)] = v
	return obj, rest, nil
}

// value reads a value, preceded by its length if the wire type has one.
func (d *protoDecoder) value(n *node, m *message, data string, old any) (v any, rest string, err error) {
	switch n.kind {
	case kindBool:
		i, rest, err := varint(data)
		return i != 0, rest, err
	case kindInt:
		u, rest, err := varint(data)
		i := int64(u)
		if n.bits == 32 {
			i = int64(int32(u))
		}
		return i, rest, err
	case kindFloat:
		if len(data) < 8 {
			return nil, "", io.ErrUnexpectedEOF
		}
		f := math.Float64frombits(binary.LittleEndian.Uint64([]byte(data[:8])))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			d.save(fmt.Errorf("json: unsupported value: %v", f))
		}
		return f, data[8:], nil
	}
	inner, rest, err := chunk(data)
	if err != nil {
		return nil, "", err
	}
	v, err = d.chunk(n, m, inner, old)
	return v, rest, err
}

// chunk reads a value of a wire type that has a length.
func (d *protoDecoder) chunk(n *node, m *message, data string, old any) (any, error) {
	switch n.kind {
	case kindString:
		return validText(data), nil
	case kindBytes:
		return base64.StdEncoding.EncodeToString([]byte(data)), nil
	case kindStruct:
		obj, err := d.object(m, data, old)
		if err != nil {
			return nil, err // an untyped nil
		}
		return obj, nil
	case kindSlice: // a message with one field
		list, _ := old.([]any)
		if list == nil {
			list = []any{}
		}
		items := smallMessage{n.typeName(), []smallField{{"Items", n.elem.wireType()}}}
		err := items.each(data, func(_ int32, data string) (rest string, err error) {
			v, rest, err := d.value(n.elem, m, data, nil)
			list = append(list, v)
			return rest, err
		})
		return list, err
	case kindTime:
		return timestamp(data, time.RFC3339)
	case kindMicroTime:
		return timestamp(data, microFormat)
	case kindQuantity:
		return d.quantity(data, old)
	case kindIntOrString:
		return d.intOrString(data, old)
	case kindRaw:
		return d.rawJSON(n, data, old)
	case kindJSON:
		return d.raw(n, data, old)
	case kindFieldsV1:
		return d.fieldsV1(n, data, old)
	}
	return d.schemaOr(n, m, data)
}

var (
	timestampMessage    = smallMessage{"Timestamp", []smallField{{"Seconds", wireVarint}, {"Nanos", wireVarint}}}
	quantityMessage     = smallMessage{"Quantity", []smallField{{"String_", wireBytes}}}
	intOrStringMessage  = smallMessage{"IntOrString", []smallField{{"Type", wireVarint}, {"IntVal", wireVarint}, {"StrVal", wireBytes}}}
	schemaOrBoolMessage = smallMessage{"JSONSchemaPropsOrBool", []smallField{{"Allows", wireVarint}, {"Schema", wireBytes}}}
	schemaOrListMessage = smallMessage{"JSONSchemaPropsOrArray", []smallField{{"Schema", wireBytes}, {"JSONSchemas", wireBytes}}}
)
