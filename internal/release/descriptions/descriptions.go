// Package descriptions separates OpenAPI documents from their descriptions and
// puts them back. The descriptions are two thirds of a document, and most
// requests need none of them.
//
// The text form of a Table has a line for each document, an empty line, and a
// line for each text:
//
//	apis/example.com/v1: 1/1 2. 2/2
//
//	get available resources
//	name of the Pod
//
// A text is the contents of a JSON string with its escapes. The line of a
// document has a key, a colon, and a field for each JSON object of the document,
// in the order in which they begin. The field 1/2 is the first text as the member
// at index 2 of the object, and 1 is short for 1/0. A dot is an object without
// description, and a number before it is how many such objects follow each
// other. Objects after the last field have no description.
package descriptions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// File is the name of the text form of a Table in an archive.
const File = "descriptions.txt"

// Key returns the key of the document with that hash in the index of
// /openapi/v3.
func Key(hash string) string { return hash[:min(16, len(hash))] }

// A Description is the member of a JSON object that is named description and is
// a string.
type Description struct {
	Text  string // the contents of the string, with escapes
	Index int    // of the member in its object
}

// A Table has the descriptions of documents. It is immutable and safe for
// concurrent use.
type Table struct {
	texts     []string
	documents string
}

// Parse parses the text form of a table. It does not check the lines of
// documents; Insert does.
func Parse(text string) (*Table, error) {
	documents, texts, ok := strings.Cut("\n"+text, "\n\n")
	if !ok {
		return nil, errors.New("no empty line after the documents")
	}
	t := &Table{documents: documents}
	if texts != "" {
		t.texts = strings.Split(strings.TrimSuffix(texts, "\n"), "\n")
	}
	return t, nil
}

// A Builder builds the text form of a Table. The zero value is ready for use.
type Builder struct {
	texts     bytes.Buffer
	numbers   map[string]int // of texts
	documents bytes.Buffer
}

// Add adds the descriptions of a document, one for each of its JSON objects; nil
// stands for none. The key has neither colons nor newlines.
func (b *Builder) Add(key string, all []*Description) {
	if b.numbers == nil {
		b.numbers = map[string]int{}
	}
	b.documents.WriteString(key + ":")
	without := 0
	for _, d := range all {
		if d == nil {
			without++
			continue
		}
		switch without {
		case 0:
		case 1:
			b.documents.WriteString(" .")
		default:
			fmt.Fprintf(&b.documents, " %d.", without)
		}
		without = 0
		fmt.Fprintf(&b.documents, " %d", b.number(d.Text))
		if d.Index > 0 {
			fmt.Fprintf(&b.documents, "/%d", d.Index)
		}
	}
	b.documents.WriteByte('\n')
}

// number returns the number of a text, from 1. It adds the text if it is new.
func (b *Builder) number(text string) int {
	n, ok := b.numbers[text]
	if !ok {
		n = len(b.numbers) + 1
		b.numbers[text] = n
		b.texts.WriteString(text)
		b.texts.WriteByte('\n')
	}
	return n
}

// String returns the text form.
func (b *Builder) String() string { return b.documents.String() + "\n" + b.texts.String() }

// Insert returns a document with the descriptions that the table has under a
// key. The document is what Cut returned; Insert panics if it is not JSON.
func (t *Table) Insert(document []byte, key string) ([]byte, error) {
	_, line, ok := strings.Cut(t.documents, "\n"+key+":")
	if !ok {
		return nil, fmt.Errorf("no descriptions of document %s", key)
	}
	line, _, _ = strings.Cut(line, "\n")
	f := fields{texts: t.texts, rest: strings.TrimPrefix(line, " ")}
	w := walker{in: document, out: make([]byte, 0, 4*len(document)), begin: f.next}
	w.value()
	if f.err != nil {
		return nil, fmt.Errorf("descriptions of document %s: %w", key, f.err)
	}
	return w.out, nil
}

// fields reads the fields of a document.
type fields struct {
	texts   []string
	rest    string
	without int // objects to come without description
	err     error
}

// next returns the description of the next object, or nil.
func (f *fields) next() *Description {
	if f.without > 0 {
		f.without--
		return nil
	}
	if f.rest == "" {
		return nil
	}
	var field string
	field, f.rest, _ = strings.Cut(f.rest, " ")
	if count, ok := strings.CutSuffix(field, "."); ok {
		if count != "" {
			f.without = f.number(count) - 1
		}
		return nil
	}
	number, index, ok := strings.Cut(field, "/")
	d := &Description{}
	if ok {
		d.Index = f.number(index)
	}
	n := f.number(number)
	if n < 1 || n > len(f.texts) {
		f.fail(fmt.Errorf("field %q has no text", field))
		return nil
	}
	d.Text = f.texts[n-1]
	return d
}

func (f *fields) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		f.fail(err)
	}
	return n
}

// fail keeps the first error and skips the fields that are left.
func (f *fields) fail(err error) {
	if f.err == nil {
		f.err, f.rest = err, ""
	}
}

// Cut returns a document without descriptions, and the description of each of its
// JSON objects, nil for those without one. The document is JSON without
// insignificant space. bare is such that Insert restores every byte of it.
func Cut(document []byte) (bare []byte, all []*Description, err error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(compact.Bytes(), document) {
		return nil, nil, errors.New("document has insignificant space")
	}
	w := walker{in: document, cut: &all}
	w.value()
	return w.out, all, nil
}

// A walker copies a JSON value. It inserts descriptions or leaves them out.
type walker struct {
	in  []byte
	pos int
	out []byte

	begin func() *Description // called for each object: the description to insert
	cut   *[]*Description     // gets the descriptions that are left out; nil leaves none out
}

// value copies the next value.
func (w *walker) value() {
	switch w.in[w.pos] {
	case '{':
		w.object()
	case '[':
		w.copy(1)
		for w.in[w.pos] != ']' {
			if w.in[w.pos] == ',' {
				w.copy(1)
			}
			w.value()
		}
		w.copy(1)
	case '"':
		w.copy(w.stringLen())
	default:
		n := bytes.IndexAny(w.in[w.pos:], ",]}")
		if n < 0 {
			n = len(w.in) - w.pos
		}
		w.copy(n)
	}
}

// object copies the next value, which is an object.
func (w *walker) object() {
	var insert *Description
	if w.begin != nil {
		insert = w.begin()
	}
	slot := 0
	if w.cut != nil {
		slot = len(*w.cut)
		*w.cut = append(*w.cut, nil)
	}
	w.copy(1)
	start := len(w.out)
	separate := func() {
		if len(w.out) > start {
			w.out = append(w.out, ',')
		}
	}
	for i := 0; ; i++ {
		if insert != nil && insert.Index == i {
			separate()
			w.out = append(append(append(w.out, member...), insert.Text...), '"')
		}
		if w.in[w.pos] == ',' {
			w.pos++
		}
		if w.in[w.pos] == '}' {
			break
		}
		if w.cut != nil && (*w.cut)[slot] == nil && bytes.HasPrefix(w.in[w.pos:], []byte(member)) {
			w.pos += len(member) - 1
			n := w.stringLen()
			(*w.cut)[slot] = &Description{Text: string(w.in[w.pos+1 : w.pos+n-1]), Index: i}
			w.pos += n
			continue
		}
		separate()
		w.copy(w.stringLen() + len(":"))
		w.value()
	}
	w.copy(1)
}

// member is the start of the member that holds a description.
const member = `"description":"`

// copy copies n bytes.
func (w *walker) copy(n int) {
	w.out = append(w.out, w.in[w.pos:w.pos+n]...)
	w.pos += n
}

// stringLen returns the length of the next value, which is a string, with its
// quotes.
func (w *walker) stringLen() int {
	for n := 1; ; n++ {
		switch w.in[w.pos+n] {
		case '\\':
			n++
		case '"':
			return n + 1
		}
	}
}
