package wire

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A Prototype is what a decoded document has beside its kind, apiVersion and metadata: the text
// and, once the Prototype is complete, the values. Other documents often have the same: the Pods
// of a ReplicaSet differ only in their metadata. A Prototype is immutable.
type Prototype struct {
	texts   []memberText
	members *object.Object // nil unless complete
}

// A memberText is the text of a member of a document, an object or a list.
type memberText struct {
	field int
	text  string
}

// Complete returns p with the values of obj, which is the document decoded, and may have been given
// defaults. The values within the members of obj are shared from then on.
func (p *Prototype) Complete(obj map[string]any) *Prototype {
	members := map[string]any{}
	for name, v := range obj {
		if !isHead(name) {
			members[name] = v
		}
	}
	object.CopyMembers(obj, members)
	return &Prototype{texts: p.texts, members: object.FromMap(members)}
}

// IsComplete reports whether p has values.
func (p *Prototype) IsComplete() bool { return p.members != nil }

// isHead reports whether documents with the same Prototype may differ in the member of that name.
func isHead(name string) bool { return name == "kind" || name == "apiVersion" || name == "metadata" }

// Prototypes are the Prototypes of earlier documents.
type Prototypes struct {
	// Known are of documents of the same Type. The members of a document that has the texts of a
	// complete one are not decoded, but shallow copies: the values within them are shared and must
	// not be changed.
	Known []*Prototype
	// Found is set to the one of Known that a document has or, without one, to a new one, which is
	// incomplete. It is nil for a document that cannot have one: it was not decoded strictly, it
	// has errors, or it has a scalar or a null beside its kind and apiVersion.
	Found *Prototype
}

// A prototypeMatch compares the members of the root of a document with Prototypes.
type prototypeMatch struct {
	*Prototypes               // nil if the document can have none
	skipComplete bool         // complete ones are not compared
	candidate    *Prototype   // the complete one that has the members up to now, nil if there is none
	known        int          // how many members were those of candidate
	texts        []memberText // of the members that were not
}

// errOtherMembers is the error of a document that has the first member of a complete Prototype,
// but not all others. The document is decoded anew.
var errOtherMembers = errors.New("not all members of the prototype")

// knownMember consumes the value of a field of the root if a complete Prototype has it. again says
// that the document had the field before. ok is false if that ends decoding.
func (m *prototypeMatch) knownMember(d *decoder, field int, again bool) (known, ok bool) {
	if m.skipComplete || len(m.texts) > 0 {
		return false, true
	}
	d.space()
	rest := d.src[d.pos:]
	found := !again && m.choose(func(p *Prototype) bool { return m.known < len(p.texts) && p.texts[m.known].begins(field, rest) })
	switch {
	case found:
		d.pos += len(m.candidate.texts[m.known].text)
		m.known++
		return true, true
	case m.known == 0:
		return false, true
	}
	d.failure = errOtherMembers
	return false, false
}

// choose sets candidate to a complete Prototype that has the members up to now and for which fits
// returns true, and reports whether there is one.
func (m *prototypeMatch) choose(fits func(*Prototype) bool) bool {
	i := slices.IndexFunc(m.Known, func(p *Prototype) bool {
		return p.IsComplete() && fits(p) && (m.known == 0 || slices.Equal(p.texts[:m.known], m.candidate.texts[:m.known]))
	})
	if i >= 0 {
		m.candidate = m.Known[i]
	}
	return i >= 0
}

// begins reports whether the field has the text and a document continues with it.
func (t memberText) begins(field int, rest string) bool {
	return t.field == field && strings.HasPrefix(rest, t.text)
}

// add adds a member that was decoded from a text. again says that the document had it before.
func (m *prototypeMatch) add(field int, text string, again bool) {
	if again || text[0] != '{' && text[0] != '[' {
		m.Prototypes = nil
		return
	}
	m.texts = append(m.texts, memberText{field, text})
}

// end ends the root: it adds the members of a complete Prototype to obj. ok is false if obj has
// not all of its texts.
func (m *prototypeMatch) end(d *decoder, obj map[string]any) (ok bool) {
	if m.known == 0 {
		return true
	}
	if !m.choose(func(p *Prototype) bool { return m.known == len(p.texts) }) {
		d.failure = errOtherMembers
		return false
	}
	object.CopyMembers(obj, m.candidate.members.View().SharedMembers())
	return true
}

// find returns the Prototype of a document that was decoded without errors.
func (m *prototypeMatch) find() *Prototype {
	for _, p := range m.Known {
		if slices.Equal(p.texts, m.texts) {
			return p
		}
	}
	return &Prototype{texts: slices.Clone(m.texts)}
}
