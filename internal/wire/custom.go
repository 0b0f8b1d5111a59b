package wire

import (
	"errors"
	"strconv"
	"time"
)

// microFormat is the layout of a MicroTime. Unlike RFC 3339 it asks for a
// fraction when it parses.
const microFormat = "2006-01-02T15:04:05.000000Z07:00"

// errSchemaOrBool is the server's error for an additionalProperties of neither
// sort.
var errSchemaOrBool = errors.New("boolean or JSON schema expected")

// custom reads a value of a type with a codec of its own. In Go such a type
// gets the value's text and decodes it alone, so that an error ends the decoding
// of the whole.
func (d *decoder) custom(n *node, old any) (any, bool) {
	switch n.kind {
	case kindTime:
		return d.time(time.RFC3339, time.Second)
	case kindMicroTime:
		return d.time(microFormat, time.Microsecond)
	case kindQuantity:
		return d.quantity(n)
	case kindIntOrString:
		return d.intOrString(old)
	case kindRaw:
		return d.raw(old)
	}

	// What is left is a schema, or one of the things to put in place of one.
	switch c := d.peek(); {
	case c == '{':
		return d.alone(n.elem)
	case n.kind == kindSchemaOrBool:
		start := d.pos
		if !d.skip() {
			return nil, false
		}
		switch d.src[start:d.pos] {
		case "true":
			return true, true
		case "false":
			return false, true
		}
		return d.fail(errSchemaOrBool)
	case c == '[':
		elem := n.elem
		if n.kind == kindSchemaOrStrings {
			elem = plainString
		}
		list, ok := d.alone(&node{kind: kindSlice, elem: elem})
		if empty(list) {
			return nil, ok
		}
		return list, ok
	}
	return nil, d.skip()
}

var plainString = &node{kind: kindString, goType: "string"}

// expect reads a value that has to be a string, as the codecs of times do.
// Another sort is a fatal error, a null is not.
func (d *decoder) expect(goType string) (s string, null, ok bool) {
	var found string
	switch c := d.peek(); c {
	case '"':
		if s, ok = d.string(); !ok {
			d.failure = errSyntax
		}
		return s, false, ok
	case 'n':
		return "", true, d.skip()
	case '{':
		found = "object"
	case '[':
		found = "array"
	case 't', 'f':
		found = "bool"
	default:
		found = "number"
	}
	if d.skip() {
		d.failure = d.inContext(&TypeError{Value: found, GoType: goType})
	}
	return "", false, false
}

// time reads a timestamp and returns it in UTC, cut to the precision it is
// written in. The zero time is a null.
func (d *decoder) time(layout string, precision time.Duration) (any, bool) {
	s, null, ok := d.expect("string")
	if !ok || null {
		return nil, ok
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return d.fail(err)
	}
	t = t.UTC()
	t = t.Add(-time.Duration(t.Nanosecond()) % precision)
	if t.IsZero() {
		return nil, true
	}
	text := t.Format(layout)
	if text == s {
		return s, true
	}
	return text, true
}

// quantity reads a resource quantity, a string or a number.
func (d *decoder) quantity(n *node) (any, bool) {
	start := d.pos
	if !d.skip() {
		return nil, false
	}
	text := d.src[start:d.pos]
	if text == "null" {
		return n.zero(), true
	}
	if text[0] == '"' {
		text = text[1 : len(text)-1] // escapes are no part of any quantity
	}
	s, err := CanonicalQuantity(text)
	if err != nil {
		return d.fail(err)
	}
	return s, true
}

// intOrString reads a port, a percentage and the like.
func (d *decoder) intOrString(old any) (any, bool) {
	switch c := d.peek(); {
	case c == 'n':
		if i, ok := old.(int64); ok {
			return i, d.skip()
		}
		return int64(0), d.skip()
	case c == '-' || '0' <= c && c <= '9':
		literal, ok := d.number()
		if !ok {
			return d.fail(errSyntax)
		}
		i, err := strconv.ParseInt(literal, 10, 32)
		if err != nil {
			return d.fail(d.inContext(&TypeError{Value: "number " + literal, GoType: "int32"}))
		}
		return i, true
	}
	s, _, ok := d.expect("int32")
	return s, ok
}

// raw reads data of no type. Nothing in it is unknown, duplicate or changed by
// storage.
func (d *decoder) raw(old any) (any, bool) {
	strict, protobuf := d.strict, d.protobuf
	d.strict, d.protobuf = false, false
	v, ok := d.value(untyped, nil)
	d.strict, d.protobuf = strict, protobuf
	if v == nil {
		return old, ok
	}
	return v, ok
}

// alone reads a value as a document of its own: strictness does not reach into
// it, and its first error is a fatal one.
func (d *decoder) alone(n *node) (any, bool) {
	strict, base, saved := d.strict, d.base, d.saved
	d.strict, d.base, d.saved = false, len(d.path), nil
	v, ok := d.value(n, nil)
	failed := d.saved
	d.strict, d.base, d.saved = strict, base, saved
	if !ok {
		d.failure = d.inContext(d.failure)
		return nil, false
	}
	if failed != nil {
		return d.fail(d.inContext(failed))
	}
	return v, true
}
