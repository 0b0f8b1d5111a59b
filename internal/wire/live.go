package wire

import (
	"errors"
	"math/bits"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// Live is an object that a document is likely to replace, stored and decoded. What the document
// has from it is not decoded.
type Live struct {
	Object  map[string]any
	Encoded *Encoded
}

// A liveMatch compares a document with the object that it replaces.
type liveMatch struct {
	live      map[string]any // nil unless there are sections
	sections  [2]section     // of the members before the status, and of those from it on
	shared    uint64         // fields of the root that the document has from live
	fieldSets []any          // the entries of managedFields whose field sets come next
}

// A section is a part of the JSON of an object after its metadata.
type section struct {
	text   string // with the comma before it, "" if it is empty or has been found
	fields uint64 // those that it has
}

// errSharedAgain ends decoding of a document that has a member of the live object and the same
// member again, before or after it. It is decoded anew without the live object.
var errSharedAgain = errors.New("a shared member comes twice")

// begin sets the object that a document of type t is compared with.
func (m *liveMatch) begin(t *Type, l *Live) {
	if l == nil {
		return
	}
	m.fieldSets = object.List(l.Object, "metadata", "managedFields")
	if t.root.kind != kindStruct || !l.Encoded.cut || l.Encoded.untyped != nil {
		return
	}
	m.live = l.Object
	_, body, tail := t.root.sections()
	m.sections[0] = section{l.Encoded.body, t.root.present(l.Object, body)}
	m.sections[1] = section{l.Encoded.changing[l.Encoded.status:], t.root.present(l.Object, tail)}
}

// present returns the fields of a set that an object has.
func (n *node) present(obj map[string]any, set uint64) (fields uint64) {
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if _, ok := obj[n.fields[i].name]; ok {
			fields |= 1 << i
		}
	}
	return fields
}

// section consumes the next members of the root if they are those of a section. It returns the
// fields, 0 if the members are others.
func (m *liveMatch) section(d *decoder) (fields uint64) {
	rest := d.src[d.pos:]
	for i := range m.sections {
		s := &m.sections[i]
		if s.text == "" || !strings.HasPrefix(rest, s.text) {
			continue
		}
		if after := rest[len(s.text):]; after == "" || after[0] != ',' && after[0] != '}' {
			continue // the last member goes on
		}
		d.pos += len(s.text)
		fields, m.shared = s.fields, m.shared|s.fields
		s.text = ""
		return fields
	}
	return 0
}

// fieldSet consumes the field set of the next entry of managedFields if it has the text that it has
// in the live object.
func (m *liveMatch) fieldSet(d *decoder) (text object.FieldsV1, ok bool) {
	if len(m.fieldSets) == 0 {
		return "", false
	}
	entry, _ := m.fieldSets[0].(map[string]any)
	m.fieldSets = m.fieldSets[1:]
	text, ok = entry["fieldsV1"].(object.FieldsV1)
	if !ok || !strings.HasPrefix(d.src[d.pos:], string(text)) {
		return "", false
	}
	d.pos += len(text)
	return text, true
}

// end adds what the document has from the live object to the one that was decoded.
func (m *liveMatch) end(n *node, obj map[string]any) {
	for set := m.shared; set != 0; set &= set - 1 {
		object.Keep(obj, object.ViewOf(m.live), n.fields[bits.TrailingZeros64(set)].name)
	}
}
