package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// errNoMerge is the error for a text that is no JSON Merge Patch.
var errNoMerge = errors.New("Invalid JSON Patch")

// mergeText applies a JSON Merge Patch to the JSON text of an object. It returns what the
// library that kube-apiserver has for it returns, gopkg.in/evanphx/json-patch.v4, but in a time
// that grows with the size of the texts: the library decodes each level of nesting again with
// all that is below it.
func mergeText(doc, patch []byte) ([]byte, error) {
	if !json.Valid(patch) {
		return nil, errNoMerge
	}
	changes := parseText(patch)
	switch {
	case changes != nil && changes.members != nil:
		merged := parseText(doc)
		merged.merge(changes)
		return json.Marshal(json.RawMessage(merged.append(nil)))
	case changes != nil && changes.items != nil:
		changes.prune()
		return json.Marshal(json.RawMessage(changes.append(nil)))
	}
	return nil, errNoMerge
}

// A text is a value in JSON. The nil pointer is null, as in a JSON Merge Patch.
type text struct {
	members map[string]*text // of an object; otherwise nil
	items   []*text          // of a list; otherwise nil
	raw     []byte           // nil for an object or a list that has been changed
}

// parseText parses valid JSON.
func parseText(valid []byte) *text {
	p := &textParser{rest: valid}
	return p.value()
}

// merge changes an object.
func (t *text) merge(changes *text) {
	t.raw = nil
	for name, change := range changes.members {
		current := t.members[name]
		switch {
		case change == nil:
			delete(t.members, name)
		case current == nil || current.members == nil:
			change.prune()
			t.members[name] = change
		case change.members == nil:
			t.members[name] = &text{raw: change.raw} // with the nulls in its lists
		default:
			current.merge(change)
		}
	}
}

// prune removes the members that are null from the objects in a value.
func (t *text) prune() {
	if t.members != nil || t.items != nil {
		t.raw = nil
	}
	for name, member := range t.members {
		if member == nil {
			delete(t.members, name)
		} else {
			member.prune()
		}
	}
	for _, item := range t.items {
		if item != nil {
			item.prune()
		}
	}
}

// append appends the JSON of a value. The members of objects that have been changed are sorted.
func (t *text) append(b []byte) []byte {
	switch {
	case t == nil:
		return append(b, "null"...)
	case t.raw != nil:
		return append(b, t.raw...)
	case t.members != nil:
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(t.members)) {
			if i > 0 {
				b = append(b, ',')
			}
			key, _ := json.Marshal(name) // a string has no error
			b = append(append(b, key...), ':')
			b = t.members[name].append(b)
		}
		return append(b, '}')
	}
	b = append(b, '[')
	for i, item := range t.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = item.append(b)
	}
	return append(b, ']')
}

// A textParser parses valid JSON. rest begins with what is to be parsed.
type textParser struct{ rest []byte }

// next skips white space and returns the next byte.
func (p *textParser) next() byte {
	p.rest = bytes.TrimLeft(p.rest, " \t\r\n")
	return p.rest[0]
}

// value parses a value.
func (p *textParser) value() *text {
	first, from := p.next(), p.rest
	t := &text{}
	switch first {
	case '{':
		t.members = map[string]*text{}
		p.list('}', func() {
			var name string
			_ = json.Unmarshal(p.token(), &name) // it is valid
			p.next()
			p.rest = p.rest[1:] // the colon
			t.members[name] = p.value()
		})
	case '[':
		t.items = []*text{}
		p.list(']', func() { t.items = append(t.items, p.value()) })
	case 'n':
		p.token()
		return nil
	default:
		p.token()
	}
	t.raw = from[:len(from)-len(p.rest)]
	return t
}

// list parses what is between brackets and commas with element.
func (p *textParser) list(end byte, element func()) {
	p.rest = p.rest[1:]
	for p.next() != end {
		element()
		if p.next() == ',' {
			p.rest = p.rest[1:]
			p.next()
		}
	}
	p.rest = p.rest[1:]
}

// token returns the next string, number or literal.
func (p *textParser) token() []byte {
	n := 1
	if p.next() == '"' {
		for ; p.rest[n] != '"'; n++ {
			if p.rest[n] == '\\' {
				n++
			}
		}
		n++
	} else {
		for n < len(p.rest) && bytes.IndexByte([]byte(",]} \t\r\n"), p.rest[n]) < 0 {
			n++
		}
	}
	token := p.rest[:n]
	p.rest = p.rest[n:]
	return token
}
