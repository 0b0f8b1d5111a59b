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
	"unicode/utf8"
)

// The errors of malformed protobuf, in the words of the server.
var (
	errProtoOverflow = errors.New("proto: integer overflow")
	errProtoLength   = errors.New("proto: negative length found during unmarshaling")
	errProtoGroup    = errors.New("proto: unexpected end of group")
	errProtoDepth    = fmt.Errorf("proto: nested more than %d deep", maxDepth)
)

// DecodeProto reads the protobuf encoding of an object of the type and returns
// the object in canonical form, without kind and apiVersion: those are no part
// of the encoding. Fields the type does not have are dropped.
//
// Malformed input is an error, io.ErrUnexpectedEOF where it ends too soon. So is
// untyped data that is not JSON, and an object nested more than 10,000 deep. The
// work and the memory are in proportion to the fields that are there, whatever
// lengths they declare. DecodeProto panics if the type has no protobuf encoding.
//
// The object shares no memory with data. Its strings share one copy of data, so
// whoever keeps a few of them for long should clone them.
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

// A protoDecoder decodes one object. What is wrong with a value is saved, and
// decoding goes on: an error of the encoding takes precedence.
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

// object reads a struct, on top of what an earlier occurrence gave.
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
		i, _ := m.node.find(name)
		have |= 1 << i
	}
	if err := d.fields(m, data, obj, &have); err != nil {
		return nil, err
	}
	d.depth--
	m.node.addZeros(obj, m.node.always&^have)
	return obj, nil
}

// fields reads the fields of a message into obj. have is the set of members
// that obj has.
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

// repeats reports whether the field is a list of values, not one value.
func (f *protoField) repeats() bool {
	return f.member >= 0 && f.node.kind == kindSlice && !f.wrapped
}

// keep reports whether a value that was read is one to keep; see
// decoder.fieldValue.
func (f *protoField) keep(v any, protobuf bool) bool {
	switch {
	case f.always:
		return true
	case f.pointer:
		return v != nil || protobuf
	}
	return !empty(v)
}

// goName is what the Go struct calls the field, or nearly so: it is in errors
// only, and the table has the names of JSON.
func (f *protoField) goName() string {
	switch {
	case f.member < 0:
		return f.message.name
	case f.name == "metadata":
		return f.node.typeName()
	}
	return strings.ToUpper(f.name[:1]) + f.name[1:]
}

// typeName is the name of the Go type, without its package.
func (n *node) typeName() string {
	_, name, _ := strings.Cut(n.goType, ".")
	return name
}

// list reads a repeated field: the element at hand and those that follow at
// once, as they mostly do.
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

// packed reads a repeated field whose elements stand together.
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

// entry reads an entry of a map. Like the server it does not look at the wire
// types in there, lets a key or a value run over the end of the entry, and goes
// on where the entry ends.
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

// value reads a value, with its length if it is of a wire type that has one.
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
			return nil, err // not a nil map in an any
		}
		return obj, nil
	case kindSlice: // in a message of its own
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
		return d.raw(n, data, old)
	}
	return d.schemaOr(n, m, data)
}

// quantity reads a message of a quantity's text.
func (d *protoDecoder) quantity(data string, old any) (any, error) {
	quantity, ok := old.(string)
	if !ok {
		quantity = "0"
	}
	err := quantityMessage.each(data, func(_ int32, data string) (rest string, err error) {
		text, rest, err := chunk(data)
		switch {
		case err != nil:
		case strings.TrimSpace(text) != text: // which is for JSON only
			err = ErrQuantityFormat
		default:
			quantity, err = CanonicalQuantity(text)
		}
		return rest, err
	})
	return quantity, err
}

// intOrString reads a message of a sort and a value of each.
func (d *protoDecoder) intOrString(data string, old any) (any, error) {
	i, _ := old.(int64)
	s, isString := old.(string)
	var sort uint64
	if isString {
		sort = 1
	}
	err := intOrStringMessage.each(data, func(number int32, data string) (rest string, err error) {
		switch number {
		case 1:
			sort, rest, err = varint(data)
		case 2:
			var u uint64
			u, rest, err = varint(data)
			i = int64(int32(u))
		case 3:
			s, rest, err = chunk(data)
		}
		return rest, err
	})
	switch {
	case err != nil:
		return nil, err
	case sort == 0:
		return i, nil
	case sort == 1:
		return validText(s), nil
	}
	d.save(errors.New("impossible IntOrString.Type"))
	return int64(0), nil
}

// raw reads a message of JSON.
func (d *protoDecoder) raw(n *node, data string, old any) (any, error) {
	text := ""
	err := smallMessage{n.typeName(), rawFields}.each(data, func(_ int32, data string) (rest string, err error) {
		text, rest, err = chunk(data)
		return rest, err
	})
	if err != nil || text == "" {
		return old, err
	}
	j := decoders.Get().(*decoder)
	defer j.release()
	v, err := j.document(text)
	if err != nil {
		d.save(err)
	}
	return v, nil
}

// document reads a JSON document of no type.
func (d *decoder) document(text string) (any, error) {
	d.src = text
	v, ok := d.value(untyped, nil)
	if ok {
		d.space()
		ok = d.pos == len(text)
	}
	switch {
	case !ok:
		if err := syntaxError([]byte(text)); err != nil {
			return nil, err
		}
		return nil, d.failure
	case d.saved != nil:
		return nil, d.saved
	}
	return v, nil
}

// schemaOr reads a message of a schema or one of the things to put in its place.
func (d *protoDecoder) schemaOr(n *node, m *message, data string) (any, error) {
	var schema any
	var list []any
	allows := false
	fields := schemaOrListMessage
	if n.kind == kindSchemaOrBool {
		fields = schemaOrBoolMessage
	}
	err := fields.each(data, func(number int32, data string) (rest string, err error) {
		var v any
		switch {
		case n.kind == kindSchemaOrBool && number == 1:
			v, rest, err = d.value(plainBool, nil, data, nil)
			allows = v == true
		case n.kind == kindSchemaOrBool || number == 1:
			schema, rest, err = d.value(n.elem, m, data, schema)
		case n.kind == kindSchemaOrArray:
			v, rest, err = d.value(n.elem, m, data, nil)
			list = append(list, v)
		default:
			v, rest, err = d.value(plainString, nil, data, nil)
			list = append(list, v)
		}
		return rest, err
	})
	switch {
	case err != nil:
		return nil, err
	case len(list) > 0:
		return list, nil
	case schema != nil:
		return schema, nil
	case n.kind == kindSchemaOrBool:
		return allows, nil
	}
	return nil, nil
}

// timestamp reads a message of seconds and nanoseconds.
func timestamp(data, layout string) (any, error) {
	if data == "" {
		return nil, nil
	}
	var seconds, nanos uint64
	err := timestampMessage.each(data, func(number int32, data string) (rest string, err error) {
		switch number {
		case 1:
			seconds, rest, err = varint(data)
		case 2:
			nanos, rest, err = varint(data)
		}
		return rest, err
	})
	if err != nil {
		return nil, err
	}
	if layout != microFormat {
		nanos = 0
	}
	t := time.Unix(int64(seconds), int64(int32(nanos))/1000*1000).UTC()
	if t.IsZero() {
		return nil, nil
	}
	return t.Format(layout), nil
}

// A smallMessage is a message with a codec of its own. Its fields are numbered
// from 1.
type smallMessage struct {
	name   string
	fields []smallField
}

type smallField struct {
	name     string
	wireType byte
}

var (
	timestampMessage    = smallMessage{"Timestamp", []smallField{{"Seconds", wireVarint}, {"Nanos", wireVarint}}}
	quantityMessage     = smallMessage{"Quantity", []smallField{{"String_", wireBytes}}}
	intOrStringMessage  = smallMessage{"IntOrString", []smallField{{"Type", wireVarint}, {"IntVal", wireVarint}, {"StrVal", wireBytes}}}
	schemaOrBoolMessage = smallMessage{"JSONSchemaPropsOrBool", []smallField{{"Allows", wireVarint}, {"Schema", wireBytes}}}
	schemaOrListMessage = smallMessage{"JSONSchemaPropsOrArray", []smallField{{"Schema", wireBytes}, {"JSONSchemas", wireBytes}}}
)

// rawFields are those of RawExtension, FieldsV1 and JSON.
var rawFields = []smallField{{"Raw", wireBytes}}

// each calls read with the number of each field that is there and with the data
// from its value on. read returns the data after the value.
func (m smallMessage) each(data string, read func(number int32, data string) (rest string, err error)) error {
	for len(data) > 0 {
		number, wireType, value, err := fieldKey(m.name, data)
		if err != nil {
			return err
		}
		if int(number) > len(m.fields) {
			if data, err = skipField(data); err != nil {
				return err
			}
			continue
		}
		if f := m.fields[number-1]; wireType != f.wireType {
			return fmt.Errorf("proto: wrong wireType = %d for field %s", wireType, f.name)
		}
		if data, err = read(number, value); err != nil {
			return err
		}
	}
	return nil
}

// fieldKey reads what stands before the value of a field of a message.
func fieldKey(message, data string) (number int32, wireType byte, value string, err error) {
	key, value, err := varint(data)
	number, wireType = int32(key>>3), byte(key&7)
	switch {
	case err != nil:
	case wireType == 4:
		err = fmt.Errorf("proto: %s: wiretype end group for non-group", message)
	case number <= 0:
		err = fmt.Errorf("proto: %s: illegal tag %d (wire type %d)", message, number, key)
	}
	return number, wireType, value, err
}

// varint reads an integer.
func varint(data string) (v uint64, rest string, err error) {
	for i := range 10 {
		if i == len(data) {
			return 0, "", io.ErrUnexpectedEOF
		}
		b := data[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return v, data[i+1:], nil
		}
	}
	return 0, "", errProtoOverflow
}

// chunk reads a length and as many bytes.
func chunk(data string) (inner, rest string, err error) {
	n, data, err := varint(data)
	switch {
	case err != nil:
		return "", "", err
	case int(n) < 0:
		return "", "", errProtoLength
	case int(n) > len(data):
		return "", "", io.ErrUnexpectedEOF
	}
	return data[:n], data[n:], nil
}

// skipField drops a field, key and all. The fields of a group are dropped up to
// the end of it.
func skipField(data string) (rest string, err error) {
	for groups := 0; ; {
		key, value, err := varint(data)
		if err != nil {
			return "", err
		}
		switch key & 7 {
		case 0:
			_, data, err = varint(value)
		case 1:
			data, err = drop(value, 8)
		case 2:
			_, data, err = chunk(value)
		case 3:
			groups++
			data = value
		case 4:
			if groups == 0 {
				return "", errProtoGroup
			}
			groups--
			data = value
		case 5:
			data, err = drop(value, 4)
		default:
			return "", fmt.Errorf("proto: illegal wireType %d", key&7)
		}
		if err != nil || groups == 0 {
			return data, err
		}
	}
}

func drop(data string, n int) (rest string, err error) {
	if len(data) < n {
		return "", io.ErrUnexpectedEOF
	}
	return data[n:], nil
}

// validText is s as JSON shows it: with a replacement character for each byte
// that is not UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
