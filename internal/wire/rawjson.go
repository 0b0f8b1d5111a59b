package wire

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// HasUntypedData reports whether objects of the type may have an [object.RawJSON].
func (t *Type) HasUntypedData() bool { return t.untypedData() }

// reachesRaw reports whether a value of the type may have untyped data in it. seen are the types that
// have been looked at.
func (n *node) reachesRaw(seen map[*node]bool) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	return n.kind == kindRaw || n.elem.reachesRaw(seen) ||
		slices.ContainsFunc(n.fields, func(f field) bool { return f.node.reachesRaw(seen) })
}

// raw appends untyped data and, unless the encoder is verbatim, keeps its text.
func (e *encoder) raw(dst []byte, v any) []byte {
	begin := len(dst)
	dst = e.any(dst, v)
	if text, ok := v.(object.RawJSON); ok && string(dst[begin:]) != string(text) {
		e.untyped.add(string(text))
	} else {
		e.untyped.add("")
	}
	return dst
}

// appendCompact appends valid JSON without spaces around its tokens, and with the characters escaped
// that HTML and JavaScript treat specially, as encoding/json encodes a json.RawMessage.
func appendCompact(dst []byte, text string) []byte {
	done, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '<' || c == '>' || c == '&':
			dst = append(append(dst, text[done:i]...), '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
			done = i + 1
		case c == 0xe2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			dst = append(append(dst, text[done:i]...), `\u202`...)
			dst = append(dst, hexDigits[text[i+2]&0xf])
			i += 2
			done = i + 1
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c <= ' ':
			dst = append(dst, text[done:i]...)
			done = i + 1
		}
	}
	return append(dst, text[done:]...)
}

// untypedTexts are the texts of the untyped data of a document, in their order; "" for one that has
// the text in the document. The nil pointer is of a document that has them all.
type untypedTexts struct{ texts []string }

// A textWriter collects the texts of untyped data.
type textWriter struct {
	texts []string
	other bool // one is not that of the document
}

func (w *textWriter) add(text string) {
	w.texts = append(w.texts, text)
	w.other = w.other || text != ""
}

// collected returns the texts. They do not keep the body that they are parts of.
func (w *textWriter) collected() *untypedTexts {
	if !w.other {
		return nil
	}
	for i, text := range w.texts {
		w.texts[i] = strings.Clone(text)
	}
	return &untypedTexts{w.texts}
}

// A textReader returns the texts of the untyped data of a document in their order.
type textReader struct{ texts []string }

func (t *untypedTexts) reader() textReader {
	if t == nil {
		return textReader{}
	}
	return textReader{t.texts}
}

// next returns the next text, which is inDocument unless it is known.
func (r *textReader) next(inDocument string) object.RawJSON {
	if len(r.texts) == 0 {
		return object.RawJSON(inDocument)
	}
	text := r.texts[0]
	if r.texts = r.texts[1:]; text == "" {
		text = inDocument
	}
	return object.RawJSON(text)
}

func (t *untypedTexts) equal(other *untypedTexts) bool {
	if t == nil || other == nil {
		return t == other
	}
	return slices.Equal(t.texts, other.texts)
}

// size returns the length of the texts.
func (t *untypedTexts) size() (n int) {
	if t != nil {
		for _, text := range t.texts {
			n += len(text)
		}
	}
	return n
}

// Verbatim returns an object of type t with JSON that has its untyped data as it is, not as clients that
// read JSON see it. Other encodings are made of it.
func (e *Encoded) Verbatim(t *Type) (Encoded, error) {
	if e.untyped == nil {
		return *e, nil
	}
	obj, err := e.Decode(t, 0, nil, nil)
	if err != nil {
		return Encoded{}, err
	}
	return NewEncoded(encodeVerbatim(t.root, obj, t.protobuf)), nil
}

// UntypedTexts returns the texts of the untyped data of the object for [Type.DecodeWithUntyped]. It is
// nil for most objects: the JSON has all texts.
func (e *Encoded) UntypedTexts() []string {
	if e.untyped == nil {
		return nil
	}
	return e.untyped.texts
}

// DecodeWithUntyped is Decode for the JSON of an Encoded and its UntypedTexts.
func (t *Type) DecodeWithUntyped(data []byte, texts []string) (map[string]any, error) {
	o := DecodeOptions{}
	if len(texts) > 0 {
		o.untyped = &untypedTexts{texts}
	}
	obj, _, err := t.Decode(data, o)
	return obj, err
}
