package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"sigs.k8s.io/yaml"
)

// A File is the scenarios of a file.
type File struct {
	Name      string
	Scenarios []*Scenario

	// documents are the file's text, cut where a document ends.
	documents [][]byte
	// at[i] is the index of the document that Scenarios[i] is from.
	at []int
}

// Load reads a file.
func Load(name string) (*File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}

// LoadFS reads the files that match any of the globs, each once, in the order of
// their names. A glob that matches no file is an error.
func LoadFS(fsys fs.FS, globs ...string) ([]*File, error) {
	var names []string
	for _, glob := range globs {
		found, err := fs.Glob(fsys, glob)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", glob, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: %w", glob, fs.ErrNotExist)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	var files []*File
	for _, name := range slices.Compact(names) {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		f, err := Parse(name, text)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Parse reads the text of a file. The name is for errors, which also tell the
// document and the step.
func Parse(name string, text []byte) (*File, error) {
	f := &File{Name: name, documents: split(text)}
	for i, doc := range f.documents {
		s, err := parse(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", name, i+1, err)
		}
		if s != nil {
			f.Scenarios = append(f.Scenarios, s)
			f.at = append(f.at, i)
		}
	}
	return f, nil
}

// split cuts a file into documents, which join to the file again.
func split(text []byte) [][]byte {
	var docs [][]byte
	begin := 0
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if string(bytes.TrimRight(text[at:end], " \r\n")) == "---" && at > begin {
			docs = append(docs, text[begin:at])
			begin = at
		}
		at = end
	}
	return append(docs, text[begin:])
}

// parse reads a document; one without content is nil.
func parse(doc []byte) (*Scenario, error) {
	b, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, err
	}
	if string(b) == "null" {
		return nil, nil
	}
	s := &Scenario{}
	if err := decode(b, s); err != nil {
		return nil, err
	}
	return s, s.check()
}

// decode reads JSON, keeping numbers as they are written and refusing what v
// does not know.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Format is the text of a file that holds the scenarios, which Parse reads.
func Format(list ...*Scenario) ([]byte, error) {
	var out bytes.Buffer
	for i, s := range list {
		if i > 0 {
			out.WriteString("---\n")
		}
		b, err := yaml.Marshal(s)
		if err != nil {
			return nil, err
		}
		out.Write(b)
	}
	return out.Bytes(), nil
}
