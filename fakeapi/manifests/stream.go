package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// maxDocument is the size of the largest document that is parsed, in bytes. Documents have
// comments, and are longer than what they become in JSON.
const maxDocument = 16 << 20

// A document is one of a file. It is YAML or JSON.
type document struct {
	file   *file
	number int    // from 1
	line   int    // of the first line of text
	column int    // what precedes text on that line, in characters
	origin string // of Helm's comment
	text   []byte
	isJSON bool
	body   []byte // what json has returned; nil before
	err    error  // of the stream before text; then there is no text
}

// documents returns the documents of a file that are not empty. As in kubectl, a line that begins
// with "---" ends a document.
func (f *file) documents() iter.Seq[*document] {
	text := bytes.TrimPrefix(f.text, []byte("\ufeff"))
	if docs := f.jsonDocuments(text); docs != nil {
		return func(yield func(*document) bool) {
			for _, d := range docs {
				if !yield(d) {
					return
				}
			}
		}
	}
	return func(yield func(*document) bool) { f.yamlDocuments(text, yield) }
}

// yamlDocuments yields the documents of a YAML stream.
func (f *file) yamlDocuments(text []byte, yield func(*document) bool) {
	number, line := 0, 1
	for start := true; start || len(text) > 0; start = false {
		d := &document{file: f, line: line, text: text}
		var separator []byte
		d.text, separator, text = cutDocument(text)
		line += bytes.Count(d.text, []byte("\n"))
		if !isEmpty(d.text) {
			number++
			d.number = number
			d.origin = helmOrigin(d.text)
			if !yield(d) {
				return
			}
		}
		if after := bytes.TrimSpace(bytes.TrimPrefix(separator, []byte("---"))); len(after) > 0 && after[0] != '#' {
			number++
			err := fmt.Errorf("invalid Yaml document separator: %s", after)
			if !yield(&document{file: f, number: number, line: line, err: err}) {
				return
			}
		}
		line += bytes.Count(separator, []byte("\n"))
	}
}

// cutDocument cuts a stream around the first line that begins with "---".
func cutDocument(text []byte) (doc, separator, rest []byte) {
	start := 0
	if !bytes.HasPrefix(text, []byte("---")) {
		i := bytes.Index(text, []byte("\n---"))
		if i < 0 {
			return text, nil, nil
		}
		start = i + 1
	}
	end := len(text)
	if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i + 1
	}
	return text[:start], text[start:end], text[end:]
}

// isEmpty reports whether a document has only comments and white space.
func isEmpty(text []byte) bool { return contentOffset(text) == len(text) }

// contentOffset returns where the first line begins that has more than a comment; the length of
// the text if there is none.
func contentOffset(text []byte) int {
	for at := 0; at < len(text); {
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' && trimmed[0] != '%' {
			return at
		}
		at += len(line) + 1
	}
	return len(text)
}

// helmOrigin returns the template that Helm names in a comment at the beginning of a document.
func helmOrigin(text []byte) string {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSpace(line)
		if name, ok := bytes.CutPrefix(line, []byte("# Source: ")); ok {
			return string(name)
		}
		if len(line) > 0 && line[0] != '#' {
			break
		}
	}
	return ""
}

// jsonDocuments returns the values of a stream of JSON objects, nil if text is none.
func (f *file) jsonDocuments(text []byte) []*document {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' || !utf8.Valid(text) {
		return nil
	}
	var docs []*document
	line, counted := 1, 0
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var value json.RawMessage
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil || value[0] != '{' {
			return nil
		}
		start := int(d.InputOffset()) - len(value)
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		column := utf8.RuneCount(text[bytes.LastIndexByte(text[:start], '\n')+1 : start])
		docs = append(docs, &document{file: f, number: len(docs) + 1, line: line, column: column, text: text[start : start+len(value)], isJSON: true})
	}
}

// lineOf returns a line of the document by its number, from 1, without its end.
func (d *document) lineOf(n int) string {
	text := d.text
	for ; n > 1; n-- {
		_, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			return ""
		}
		text = rest
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimRight(string(line), "\r")
}
