// Package explain says in words for people what is wrong with a document in YAML or JSON.
package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/kubefake/kubefake/internal/suggest"
)

// Error returns an error of encoding/json, or of package yaml, that decoding a document to out
// has returned, in other words: with the field or the line, and without the names of Go types.
// text is the JSON that was decoded, nil if that is not known. Other errors are returned as they
// are.
func Error(text []byte, out any, err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	if err == nil {
		return nil
	}
	message := withoutPrefix(err.Error())
	switch name, unknown := strings.CutPrefix(message, "json: unknown field "); {
	case unknown:
		return fmt.Errorf("unknown field %s%s", name, suggest.DidYouMean(strings.Trim(name, `"`), fieldNames(reflect.TypeOf(out))))
	case errors.As(err, &wrong):
		expected := fmt.Sprintf("expected %s, not %s", wordOf(wrong.Type), valueWord(wrong.Value))
		if path := pathOf(text, wrong); path != "" {
			return errors.New(path + ": " + expected)
		}
		return errors.New(expected)
	case errors.As(err, &syntax) && text != nil:
		line, column := position(text, syntax.Offset)
		return fmt.Errorf("line %d, column %d: %s", line, column, syntax)
	case message != err.Error():
		return errors.New(message)
	}
	return err
}

// withoutPrefix removes what package yaml puts before an error.
func withoutPrefix(text string) string {
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// position returns the line and the column, both from 1 on, of the last byte before an offset.
func position(text []byte, offset int64) (line, column int) {
	before := text[:min(max(offset-1, 0), int64(len(text)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// wordOf says what JSON a Go type is decoded from.
func wordOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "a list"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Map, reflect.Struct, reflect.Interface:
		return "an object"
	}
	return "a whole number"
}

// valueWord says what a value is, by the word of encoding/json for it.
func valueWord(value string) string {
	kind, text, _ := strings.Cut(value, " ")
	switch {
	case text != "":
		return text
	case kind == "array":
		return "a list"
	case kind == "object":
		return "an object"
	case kind == "bool":
		return "a boolean"
	}
	return "a " + kind
}

// fieldNames returns the names of the fields of a type and of the types in it.
func fieldNames(t reflect.Type) (names []string) {
	seen := map[reflect.Type]bool{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			add(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != "-" && name != "" {
					names = append(names, name)
				}
				add(f.Type)
			}
		}
	}
	add(t)
	return names
}

// pathOf returns the path of the value that an error is about: in text, or by the names of fields
// without the indexes of lists.
func pathOf(text []byte, e *json.UnmarshalTypeError) string {
	if path, ok := pathAt(text, e.Offset); ok {
		return path
	}
	fields := strings.Split(e.Field, ".")
	for i, f := range fields {
		fields[i] = lowered(f)
	}
	return strings.Join(fields, ".")
}

// lowered returns a name as it is in documents: the name of a Go field without a tag begins with
// a capital letter.
func lowered(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// pathAt returns the path of the value in JSON that begins, or if it is no object and no list
// ends, at an offset.
func pathAt(text []byte, offset int64) (path string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	path, ok = find(d, offset, "")
	return strings.TrimPrefix(path, "."), ok
}

// find reads the next value, whose path is at, until the offset.
func find(d *json.Decoder, offset int64, at string) (path string, ok bool) {
	token, err := d.Token()
	switch {
	case err != nil:
		return "", false
	case d.InputOffset() >= offset:
		return at, true
	}
	delim, _ := token.(json.Delim)
	if delim == 0 {
		return "", false
	}
	for i := 0; d.More(); i++ {
		child := fmt.Sprintf("%s[%d]", at, i)
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return "", false
			}
			child = fmt.Sprintf("%s.%s", at, key)
		}
		if path, ok = find(d, offset, child); ok {
			return path, true
		}
	}
	_, _ = d.Token() // the end
	return "", false
}

// typeError matches the text of a json.UnmarshalTypeError at the end of another text.
var typeError = regexp.MustCompile(`json: cannot unmarshal (\w+(?: \S+)?) into Go (?:struct field [^.\s]*\.?(\S*)|value) of type (.+)$`)

// Text is Error for a text that may have the error of encoding/json at its end, such as
// the message of a Status.
func Text(text string) string {
	m := typeError.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	explained := fmt.Sprintf("expected %s, not %s", goTypeWord(part(3)), valueWord(part(1)))
	if field := part(2); field != "" {
		explained = field + ": " + explained
	}
	return text[:m[0]] + explained
}

// goTypeWord is wordOf for the name of a Go type.
func goTypeWord(name string) string {
	name = strings.TrimLeft(name, "*")
	switch {
	case name == "string":
		return "a string"
	case name == "bool":
		return "true or false"
	case name == "[]uint8" || name == "[]byte":
		return "a string in base64"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number"
	}
	return "an object"
}
