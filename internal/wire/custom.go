package wire

import (
	"errors"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/quantity"
)

// microFormat is the layout of a MicroTime. Unlike RFC 3339, parsing requires a
// fraction.
const microFormat = "2006-01-02T15:04:05.000000Z07:00"

// errSchemaOrBool is kube-apiserver's error for an additionalProperties that is
// neither a schema nor a boolean.
var errSchemaOrBool = errors.New("boolean or JSON schema expected")

// custom reads a value of a type with its own codec. In Go, such a type decodes
// the text of the value separately; an error ends the decoding of the whole
// document.
func (d *decoder) custom(n *node, old any) (any, bool) {
	switch n.kind {
	case kindTime, kindMicroTime:
		return d.time(n)
	case kindQuantity:
		return d.quantity(n)
	case kindIntOrString:
		return d.intOrString(old)
	case kindRaw:
		return d.rawJSON(old)
	case kindJSON:
		return d.json(old)
	case kindFieldsV1:
		return d.fieldsV1(old)
	case kindCustomResource:
		return d.customResource(n.elem)
	}

	// The other types are a schema or one of its alternatives.
	switch c := d.peek(); {
	case c == '{':
		return d.separateDocument(n.elem)
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
		list, ok := d.separateDocument(&node{kind: kindSlice, elem: elem})
		if empty(list) {
			return nil, ok
		}
		return list, ok
	}
	return nil, d.skip()
}

var plainString = &node{kind: kindString, goType: "string"}

// expect reads a value that must be a string, as the codecs of times do. A null
// is allowed; any other type is a fatal error.
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

// time reads a timestamp. The zero time is a null.
func (d *decoder) time(n *node) (any, bool) {
	s, null, ok := d.expect("string")
	if !ok || null {
		return nil, ok
	}
	switch text, err := n.canonicalTime(s); {
	case err != nil:
		return d.fail(err)
	case text == "":
		return nil, true
	default:
		return text, true
	}
}

// canonicalTime returns a timestamp in UTC, truncated to the precision of its type: s itself if it
// is that, and "" for the zero time.
func (n *node) canonicalTime(s string) (string, error) {
	layout, precision := time.RFC3339, time.Second
	if n.kind == kindMicroTime {
		layout, precision = microFormat, time.Microsecond
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return "", err
	}
	t = t.UTC()
	t = t.Add(-time.Duration(t.Nanosecond()) % precision)
	if t.IsZero() {
		return "", nil
	}
	var room [len(microFormat)]byte // avoids an allocation
	if text := t.AppendFormat(room[:0], layout); string(text) != s {
		s = string(text)
	}
	return s, nil
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
		text = text[1 : len(text)-1] // no quantity contains escapes
	}
	s, err := quantity.Canonical(text)
	if err != nil {
		return d.fail(err)
	}
	return s, true
}

// intOrString reads an IntOrString such as a port.
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

// rawJSON reads untyped data and returns its text. A null is the value before it.
//
// Differs from kube-apiserver: untyped data: kube-apiserver panics if a number in it is beyond the range
// of a float64, and if a protobuf body has other bytes than JSON there. Here the request fails with 400.
// Request: POST of a ControllerRevision with 1e400 in its data.
func (d *decoder) rawJSON(old any) (any, bool) {
	start := d.pos
	switch v, ok := d.raw(nil); {
	case !ok:
		return nil, false
	case v == nil:
		return old, true
	}
	return d.untyped.next(d.src[start:d.pos]), true
}

// json reads untyped data that kube-apiserver decodes when it has read the whole document: the path of
// an error begins there.
func (d *decoder) json(old any) (any, bool) {
	base := d.base
	d.base = len(d.path)
	v, ok := d.raw(old)
	d.base = base
	return v, ok
}

// raw reads untyped data. Fields in it are never unknown, and duplicate only within a custom
// resource. Storage does not change it.
func (d *decoder) raw(old any) (any, bool) {
	strict, protobuf := d.strict, d.protobuf
	d.strict, d.protobuf = d.strictRaw, false
	v, ok := d.value(untyped, nil)
	d.strict, d.protobuf = strict, protobuf
	if v == nil {
		return old, ok
	}
	return v, ok
}

// separateDocument decodes a value that is a document of its own in kube-apiserver:
// not strictly, and it fails with the first error.
func (d *decoder) separateDocument(n *node) (any, bool) {
	strict, base, saved, depth := d.strict, d.base, d.saved, len(d.path)
	d.strict, d.base, d.saved = false, depth, nil
	v, ok := d.value(n, nil)
	failed := d.saved
	d.strict, d.base, d.saved = strict, base, saved
	if !ok {
		d.path = d.path[:depth] // a failure leaves the steps to it
		d.failure = d.inContext(d.failure)
		return nil, false
	}
	if failed != nil {
		return d.fail(d.inContext(failed))
	}
	return v, true
}
