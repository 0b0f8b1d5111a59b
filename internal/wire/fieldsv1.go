package wire

import (
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/object"
)

// fieldsV1 reads the field set of an entry of managedFields. Like raw, it reads any JSON.
//
// The result is a part of the source if that has the form of an [object.FieldsV1]
// already, as the sets of stored objects and those that clients send back have. A known set
// is the result itself.
func (d *decoder) fieldsV1(old any) (any, bool) {
	start, depth := d.pos, d.depth
	if d.known.text != "" && d.known.at == start {
		d.pos += len(d.known.text)
		return d.known.text, true
	}
	if text, ok := d.live.fieldSet(d); ok {
		return text, true
	}
	if d.plainFieldSet() {
		return object.FieldsV1(d.src[start:d.pos]), true
	}
	d.pos, d.depth = start, depth
	v, ok := d.raw(old)
	return canonicalFieldsV1(v), ok
}

// canonicalFieldsV1 returns a value as an [object.FieldsV1], and nil as it is.
func canonicalFieldsV1(v any) any {
	switch v.(type) {
	case nil, object.FieldsV1:
		return v
	}
	return object.FieldsV1(appendAny(nil, v))
}

// isPlainFieldSet reports whether a text is a field set that encoding it again would not change. It
// may miss that.
func isPlainFieldSet(text string) bool {
	d := decoder{src: text}
	return d.plainFieldSet() && d.pos == len(text)
}

// plainFieldSet consumes a field set whose text encoding it again would not change. It
// reports false for most others, and for sets with rare characters.
func (d *decoder) plainFieldSet() bool {
	if d.peek() != '{' || !d.enter() {
		return false
	}
	last := ""
	for first := true; ; first = false {
		if d.peek() == '}' {
			d.pos++
			d.depth--
			return true
		}
		if !first {
			if d.peek() != ',' {
				return false
			}
			d.pos++
		}
		step, ok := d.plainStep()
		if !ok || !first && compareSteps(last, step) >= 0 || d.peek() != ':' {
			return false
		}
		d.pos++
		last = step
		if !d.plainFieldSet() {
			return false
		}
	}
}

// plainStep consumes the name of a member and returns it with its escapes, which are
// those of quotation marks.
func (d *decoder) plainStep() (step string, ok bool) {
	if d.peek() != '"' {
		return "", false
	}
	start := d.pos + 1
	for i := start; i < len(d.src); i++ {
		switch c := d.src[i]; {
		case c == '"':
			d.pos = i + 1
			return d.src[start:i], true
		case c == '\\' && i+1 < len(d.src) && d.src[i+1] == '"':
			i++
		case c >= utf8.RuneSelf || !plain[c]:
			return "", false
		}
	}
	return "", false
}

// compareSteps compares the names of which a and b are the escaped forms.
func compareSteps(a, b string) int {
	for a != "" && b != "" {
		if a[0] == '\\' {
			a = a[1:]
		}
		if b[0] == '\\' {
			b = b[1:]
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}
