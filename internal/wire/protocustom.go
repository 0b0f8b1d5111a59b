package wire

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// appendCustomProto appends the fields of a value of a type with its own codec,
// without the length of the message: the types that decoder.custom decodes.
func appendCustomProto(dst []byte, n *node, m *message, v any) []byte {
	switch n.kind {
	case kindTime:
		dst = appendTimestamp(dst, v, time.RFC3339)
	case kindMicroTime:
		dst = appendTimestamp(dst, v, microFormat)
	case kindQuantity:
		s, ok := v.(string)
		if !ok {
			s = "0"
		}
		dst = append(dst, 1<<3|wireBytes)
		dst = appendText(dst, s)
	case kindIntOrString:
		i, _ := v.(int64)
		s, isString := v.(string)
		sort := byte(0)
		if isString {
			sort = 1
		}
		dst = append(dst, 1<<3|wireVarint, sort, 2<<3|wireVarint)
		dst = appendVarint(dst, uint64(i))
		dst = append(dst, 3<<3|wireBytes)
		dst = appendText(dst, s)
	case kindRaw, kindJSON, kindFieldsV1:
		if v != nil {
			dst = append(dst, 1<<3|wireBytes, 0)
			start := len(dst)
			dst = closeLength(appendVerbatim(dst, v), start)
		}
	case kindSchemaOrBool:
		schema, isSchema := v.(map[string]any)
		allows, _ := v.(bool)
		dst = append(dst, 1<<3|wireVarint)
		dst = appendProto(dst, plainBool, nil, allows || isSchema)
		if isSchema {
			dst = append(dst, 2<<3|wireBytes)
			dst = appendProto(dst, n.elem, m, schema)
		}
	case kindSchemaOrArray, kindSchemaOrStrings:
		elem := n.elem
		if n.kind == kindSchemaOrStrings {
			elem = plainString
		}
		switch v := v.(type) {
		case map[string]any:
			dst = append(dst, 1<<3|wireBytes)
			dst = appendProto(dst, n.elem, m, v)
		case []any:
			for _, e := range v {
				dst = append(dst, 2<<3|wireBytes)
				dst = appendProto(dst, elem, m, e)
			}
		}
	}
	return dst
}

var plainBool = &node{kind: kindBool, goType: "bool"}

// quantity reads a message with the text of a quantity.
func (d *protoDecoder) quantity(data string, old any) (any, error) {
	canonical, ok := old.(string)
	if !ok {
		canonical = "0"
	}
	err := quantityMessage.each(data, func(_ int32, data string) (rest string, err error) {
		text, rest, err := chunk(data)
		switch {
		case err != nil:
		case strings.TrimSpace(text) != text: // allowed in JSON only
			err = quantity.ErrFormat
		default:
			canonical, err = quantity.Canonical(text)
		}
		return rest, err
	})
	return canonical, err
}

// intOrString reads a message with a type, an integer and a string.
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

// rawJSON reads a message with JSON and returns its text.
func (d *protoDecoder) rawJSON(n *node, data string, old any) (any, error) {
	text, err := rawText(n, data)
	if err != nil || text == "" {
		return old, err
	}
	v := d.document(text)
	if v == nil {
		return nil, nil
	}
	return object.RawJSON(strings.Trim(text, " \t\r\n")), nil
}

// raw reads a message with JSON.
func (d *protoDecoder) raw(n *node, data string, old any) (any, error) {
	text, err := rawText(n, data)
	if err != nil || text == "" {
		return old, err
	}
	return d.document(text), nil
}

// fieldsV1 reads the field set of an entry of managedFields. A text that is no JSON document becomes a
// JSON string, which is no field set either: kube-apiserver keeps such a text until it reads the set.
func (d *protoDecoder) fieldsV1(n *node, data string, old any) (any, error) {
	text, err := rawText(n, data)
	if err != nil || text == "" {
		return canonicalFieldsV1(old), err
	}
	j := decoders.Get().(*decoder)
	defer j.release()
	v, err := j.document(text)
	if err != nil {
		v = text
	}
	return canonicalFieldsV1(v), nil
}

// rawText returns the JSON in a message.
func rawText(n *node, data string) (text string, err error) {
	err = smallMessage{n.typeName(), rawFields}.each(data, func(_ int32, data string) (rest string, err error) {
		text, rest, err = chunk(data)
		return rest, err
	})
	return text, err
}

// document reads an untyped JSON document. It saves its error.
func (d *protoDecoder) document(text string) any {
	j := decoders.Get().(*decoder)
	defer j.release()
	v, err := j.document(text)
	if err != nil {
		d.save(err)
	}
	return v
}

// document reads an untyped JSON document.
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

// schemaOr reads a message with a schema or one of its alternatives.
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

// A smallMessage is a message with its own codec. Its fields are numbered from
// 1.
type smallMessage struct {
	name   string
	fields []smallField
}

type smallField struct {
	name     string
	wireType byte
}

// rawFields are the fields of RawExtension, FieldsV1 and JSON.
var rawFields = []smallField{{"Raw", wireBytes}}

// each calls read for each field in data, with its number and the data from its
// value on. read returns the data after the value.
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
