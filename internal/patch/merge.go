package patch

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/wire"
)

// CheckMerge looks for mistakes in a JSON Merge Patch that Merge overlooks: it
// returns an error for each duplicate field.
//
// Errors: *MalformedError, also for a patch that is no object, which to Merge is
// what to put in the object's place.
func CheckMerge(patch []byte) (fieldErrors []error, err error) {
	_, fieldErrors, err = wire.DecodeUntyped(patch, wire.DecodeOptions{Strict: true})
	if err != nil {
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	}
	return fieldErrors, nil
}

// Merge applies a JSON Merge Patch to the JSON text of an object and returns the
// changed text, compact and with sorted members where it has merged. It changes
// neither argument. It works on text, so that every number is decoded once and
// as it was spelled. doc must be valid.
//
// Nulls in what the patch adds are dropped, but for those in lists and in what
// takes the place of an object, as gopkg.in/evanphx/json-patch.v4 has it, by
// which kube-apiserver merges.
//
// Errors: *MalformedError.
//
// See https://datatracker.ietf.org/doc/html/rfc7386.
func Merge(doc, patch []byte) ([]byte, error) {
	if json.Valid(patch) {
		switch p := text(patch).skipSpace(); p[0] {
		case '{':
			return appendMerged(make([]byte, 0, len(doc)+len(p)), text(doc).skipSpace(), p), nil
		case '[':
			return appendPruned(nil, p), nil
		}
	}
	return nil, &MalformedError{"Invalid JSON Patch"}
}

// appendMerged appends doc, an object, as patch changes it.
func appendMerged(dst []byte, doc, patch text) []byte {
	olds, changes := doc.properties(), patch.properties()
	dst = append(dst, '{')
	first := true
	for len(olds) > 0 || len(changes) > 0 {
		var order int
		switch {
		case len(changes) == 0:
			order = -1
		case len(olds) == 0:
			order = 1
		default:
			order = strings.Compare(olds[0].name, changes[0].name)
		}
		var old, change property
		if order <= 0 {
			old, olds = olds[0], olds[1:]
		}
		if order >= 0 {
			change, changes = changes[0], changes[1:]
			if change.value.isNull() {
				continue
			}
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		switch {
		case order < 0:
			dst = appendCompact(old.appendName(dst), old.value)
		case order > 0 || old.value[0] != '{':
			dst = appendPruned(change.appendName(dst), change.value)
		case change.value[0] != '{':
			dst = appendCompact(change.appendName(dst), change.value)
		default:
			dst = appendMerged(change.appendName(dst), old.value, change.value)
		}
	}
	return append(dst, '}')
}

// appendPruned appends a value without the nulls of its objects.
func appendPruned(dst []byte, value text) []byte {
	switch value[0] {
	case '{':
		return appendMerged(dst, "{}", value)
	case '[':
		dst = append(dst, '[')
		for i, element := range value.elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPruned(dst, element)
		}
		return append(dst, ']')
	}
	return appendCompact(dst, value)
}

// appendCompact appends a value without space, and its strings as encoding/json
// writes them into HTML.
func appendCompact(dst []byte, value text) []byte {
	inString := false
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '"':
			inString = !inString
		case !inString:
			if isSpace(c) {
				continue
			}
		case c == '\\':
			i++
			dst = append(dst, c)
			c = value[i]
		case c == '<' || c == '>' || c == '&':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			continue
		case strings.HasPrefix(string(value[i:]), "\u2028"), strings.HasPrefix(string(value[i:]), "\u2029"):
			dst = append(dst, '\\', 'u', '2', '0', '2', hex[value[i+2]&15])
			i += 2
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

const hex = "0123456789abcdef"

// A text is valid JSON: a value that no space precedes, and what follows it.
type text string

// A property is a member of an object.
type property struct {
	key   text   // the name as it is spelled
	name  string // what it means
	value text
}

// appendName appends the name and a colon.
func (p property) appendName(dst []byte) []byte { return append(appendCompact(dst, p.key), ':') }

// properties are an object's, sorted by name. Of those of one name, the last
// counts.
func (t text) properties() []property {
	var list []property
	sorted := true
	for t = t.after(1); t[0] != '}'; {
		end := t.end()
		p := property{key: t[:end], name: t[:end].unquoted()}
		t = t[end:].skipSpace()[1:].skipSpace() // over the colon
		end = t.end()
		p.value = t[:end]
		t = t.after(end)
		sorted = sorted && (len(list) == 0 || list[len(list)-1].name < p.name)
		list = append(list, p)
	}
	if sorted {
		return list
	}
	slices.SortStableFunc(list, func(a, b property) int { return strings.Compare(a.name, b.name) })
	kept := list[:0]
	for _, p := range list {
		if n := len(kept); n > 0 && kept[n-1].name == p.name {
			kept = kept[:n-1]
		}
		kept = append(kept, p)
	}
	return kept
}

// elements are a list's.
func (t text) elements() []text {
	var list []text
	for t = t.after(1); t[0] != ']'; {
		end := t.end()
		list = append(list, t[:end])
		t = t.after(end)
	}
	return list
}

// after is what follows the first n bytes, and a comma if there is one.
func (t text) after(n int) text {
	t = t[n:].skipSpace()
	if t[0] == ',' {
		t = t[1:].skipSpace()
	}
	return t
}

// end is where the value ends that t begins with.
func (t text) end() int {
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			for i++; t[i] != '"'; i++ {
				if t[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			// A number or a word ends where something else begins.
			if depth > 0 || i+1 < len(t) && !strings.ContainsRune(" \t\r\n,:]}", rune(t[i+1])) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(t)
}

// unquoted is the string that t spells.
func (t text) unquoted() string {
	if !strings.Contains(string(t), `\`) {
		return string(t[1 : len(t)-1])
	}
	var s string
	if err := json.Unmarshal([]byte(t), &s); err != nil {
		panic(err) // t is valid
	}
	return s
}

func (t text) isNull() bool { return t[0] == 'n' }

func (t text) skipSpace() text {
	for len(t) > 0 && isSpace(t[0]) {
		t = t[1:]
	}
	return t
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
