package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/yamlpath"
)

// An object is one of the input.
type object struct {
	*document
	item string // its path in the document, if that is a List
	body []byte // in JSON
	err  error  // of an item of a List that is no object; then only document and item are set

	apiVersion, kind, namespace, name, generateName, uid string
	labels                                               map[string]string
}

// A header is what Validate reads of an object, or of a List.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string            `json:"name"`
		GenerateName string            `json:"generateName"`
		Namespace    string            `json:"namespace"`
		UID          string            `json:"uid"`
		Labels       map[string]string `json:"labels"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// headerOf returns the members of a JSON object without white space that a header has. To decode the
// others too would take as long as to parse their YAML.
func headerOf(body []byte) []byte {
	out := []byte{'{'}
	for at := 1; at < len(body) && body[at] != '}'; at++ { // over a comma
		start := at
		at = valueEnd(body, at)
		name := body[start:at]
		at = valueEnd(body, at+1)
		switch string(name) {
		case `"apiVersion"`, `"kind"`, `"metadata"`, `"items"`:
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, body[start:at]...)
		}
		if body[at] == '}' {
			break
		}
	}
	return append(out, '}')
}

// valueEnd returns the end of the value at an offset of JSON without white space.
func valueEnd(text []byte, at int) int {
	for depth := 0; ; at++ {
		switch c := text[at]; c {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return at
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
}

// A documentError is why a document has no objects.
type documentError struct {
	outcome Outcome
	line    int // in the text of the document, from 1; 0 if that is not known
	column  int // 0 if that is not known
	err     error
}

func (e *documentError) Error() string { return e.err.Error() }

func noObject(format string, args ...any) error {
	return &documentError{outcome: NoObject, err: fmt.Errorf(format, args...)}
}

// objects returns the objects of a document: one, or the items of a List. Errors are a
// *documentError.
func (d *document) objects(c *Config, r *reader) ([]*object, error) {
	if d.err != nil {
		return nil, &documentError{outcome: Unreadable, err: d.err}
	}
	isTemplate := bytes.Contains(d.text, []byte("{{"))
	if isTemplate && d.file.found && r.isTemplate(d.file.name) {
		return nil, noObject("a template of a Helm chart: helm template renders it")
	}
	body, err := d.json(c.FieldValidation)
	switch {
	case err != nil && isTemplate:
		return nil, noObject("a template, which is not YAML")
	case err != nil && d.file.found && path.Ext(d.file.name) == ".json" && !bytes.Contains(d.text, []byte(`"kind"`)):
		return nil, noObject("it is neither JSON nor an object of Kubernetes")
	case err != nil:
		return nil, err
	}
	return d.expand(body, "", "", "")
}

// json returns the document as JSON. It fails for members that are there twice, unless validation
// does not want that.
func (d *document) json(validation string) (body []byte, err error) {
	if d.body != nil {
		return d.body, nil
	}
	defer func() { d.body = body }()
	if len(d.text) > maxDocument {
		return nil, &documentError{outcome: Unreadable, err: fmt.Errorf("the document has %d MiB, more than the limit of %d MiB", len(d.text)>>20, maxDocument>>20)}
	}
	if !utf8.Valid(d.text) {
		line := 1 + bytes.Count(d.text[:invalidUTF8(d.text)], []byte("\n"))
		return nil, &documentError{outcome: Unreadable, line: line, err: errors.New("the text is not UTF-8")}
	}
	body, err = yaml.YAMLToJSONStrict(d.yaml())
	if err == nil {
		return body, nil
	}
	if strings.Contains(err.Error(), "already set in map") {
		if validation != "Warn" && validation != "Ignore" {
			if duplicate := d.duplicateKey(); duplicate != nil {
				return nil, duplicate
			}
		}
		// The parser also takes a key that replaces one of a merge (<<) for a duplicate.
		body, err = yaml.YAMLToJSON(d.yaml())
	}
	if err != nil {
		return nil, d.syntaxError(err)
	}
	return body, nil
}

// yaml returns the text as YAML, in which there are no tabs between tokens.
func (d *document) yaml() []byte {
	if d.isJSON {
		return bytes.ReplaceAll(d.text, []byte("\t"), []byte(" "))
	}
	return d.text
}

// duplicateKey returns the error of a mapping that has a key twice, nil if none has.
func (d *document) duplicateKey() error {
	l := &locator{document: d}
	key := duplicateKey(l.node())
	if key == nil {
		return nil
	}
	line, _ := d.inFile(yamlpath.Position{Line: key.Line, Column: key.Column})
	return &documentError{
		outcome: Unreadable, line: key.Line, column: key.Column,
		err: fmt.Errorf("yaml: unmarshal errors:\n  line %d: key %q already set in map", line, key.Value),
	}
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8.
func invalidUTF8(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// syntaxError returns the error of a document that is not YAML, with lines of the file.
func (d *document) syntaxError(err error) error {
	out := &documentError{outcome: Unreadable}
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	text = yamlLine.ReplaceAllStringFunc(text, func(found string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(found, "line "))
		if out.line == 0 {
			out.line = n
		}
		return "line " + strconv.Itoa(d.line+n-1)
	})
	out.err = errors.New(text)
	return out
}

// expand returns the objects of a JSON document. item is its path in the document. An item of a
// List may leave out kind and apiVersion.
func (d *document) expand(body []byte, item, apiVersion, kind string) ([]*object, error) {
	at := ""
	if item != "" {
		at = item + ": "
	}
	if len(body) == 0 || body[0] != '{' {
		err := &documentError{outcome: NoObject, err: fmt.Errorf("%sit is not a mapping with kind and apiVersion", at)}
		if item != "" {
			err.outcome = Unreadable
		}
		return nil, err
	}
	var h header
	if err := json.Unmarshal(headerOf(body), &h); err != nil {
		// The server says what is wrong with the metadata.
		if wrong := (*json.UnmarshalTypeError)(nil); !errors.As(err, &wrong) || wrong.Field == "kind" || wrong.Field == "apiVersion" {
			return nil, &documentError{outcome: Unreadable, err: fmt.Errorf("%s%w", at, explain.Error(body, &h, err))}
		}
	}
	if h.Kind == "" && h.APIVersion == "" && kind != "" {
		h.Kind, h.APIVersion = kind, apiVersion
		body = withKind(body, apiVersion, kind)
	}
	switch {
	case h.Kind == "" && item == "":
		return nil, noObject("it has no kind")
	case h.Kind == "":
		return nil, &documentError{outcome: Unreadable, err: fmt.Errorf("%sit has no kind", at)}
	case strings.HasPrefix(h.APIVersion, "kustomize.config.k8s.io/"), h.APIVersion == "" && strings.HasPrefix(path.Base(d.file.name), "kustomization."):
		return nil, noObject("a kustomization: kustomize build renders it")
	case h.APIVersion == "":
		return nil, &documentError{outcome: Unreadable, err: fmt.Errorf("%sapiVersion not set", at)}
	case h.Items == nil:
		return []*object{{
			document: d, item: item, body: body,
			apiVersion: h.APIVersion, kind: h.Kind, labels: h.Metadata.Labels,
			namespace: h.Metadata.Namespace, name: h.Metadata.Name, generateName: h.Metadata.GenerateName, uid: h.Metadata.UID,
		}}, nil
	}
	var out []*object
	if item != "" {
		item += "."
	}
	of, isList := strings.CutSuffix(h.Kind, "List")
	if !isList {
		of = ""
	}
	for i, b := range h.Items {
		objects, err := d.expand(b, fmt.Sprintf("%sitems[%d]", item, i), h.APIVersion, of)
		if err != nil {
			objects = []*object{{document: d, item: fmt.Sprintf("%sitems[%d]", item, i), err: err}}
		}
		out = append(out, objects...)
	}
	return out, nil
}

// withKind returns a JSON object with a kind.
func withKind(body []byte, apiVersion, kind string) []byte {
	v, _ := json.Marshal(apiVersion)
	k, _ := json.Marshal(kind)
	head := fmt.Sprintf(`{"apiVersion":%s,"kind":%s`, v, k)
	if rest := bytes.TrimSpace(body[1:]); rest[0] != '}' {
		head += ","
	}
	return append([]byte(head), body[1:]...)
}

// result returns the result of the object before anything is found.
func (o *object) result() *Result {
	return &Result{
		File: o.file.name, Origin: o.origin, Document: o.number, Item: o.item,
		APIVersion: o.apiVersion, Kind: o.kind, Namespace: o.namespace, Name: o.name,
	}
}

// matches reports whether an element of Config.Skip or Reject stands for the object.
func (o *object) matches(kinds []string) bool {
	for _, k := range kinds {
		if k == o.kind || k == o.apiVersion+"/"+o.kind {
			return true
		}
	}
	return false
}
