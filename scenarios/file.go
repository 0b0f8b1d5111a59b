package scenarios

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
)

// A File is a parsed scenario file.
type File struct {
	Name      string
	Scenarios []*Scenario

	// documents is the file's text, split at document boundaries. Joined, the
	// documents are the file again.
	documents [][]byte
	// index[i] is the document that holds Scenarios[i].
	index []int
}

// Load reads and parses a file. A file with an error fails with a [ParseError].
func Load(name string) (*File, error) {
	text, err := inputfile.Read(name)
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}

// Parse parses the text of a file. The name is for error messages. An error is a
// [ParseError]. The temporary file of a [RecordingFile] is a file too; an incomplete
// last line of it is ignored.
func Parse(name string, text []byte) (*File, error) {
	text = withoutCut(text)
	f := &File{Name: name, documents: split(text)}
	line := 1
	for i, doc := range f.documents {
		s, err := parse(doc)
		if err != nil {
			return nil, &ParseError{File: name, Document: i + 1, Err: err}
		}
		if s != nil {
			s.origin = &origin{name, line, doc}
			f.Scenarios = append(f.Scenarios, s)
			f.index = append(f.index, i)
		}
		line += bytes.Count(doc, []byte("\n"))
	}
	return f, nil
}

// split splits a file into documents, separator lines included.
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

// parse parses a document. It returns nil for a document without content.
func parse(doc []byte) (*Scenario, error) {
	b, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, explain.Error(nil, nil, err)
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

// decode decodes JSON into v. It keeps numbers as json.Number and rejects unknown
// fields.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	d.DisallowUnknownFields()
	return explain.Error(b, v, d.Decode(v))
}

// Format returns the text of a file with the given scenarios, which Parse reads.
func Format(scenarios ...*Scenario) ([]byte, error) {
	var out bytes.Buffer
	for i, s := range scenarios {
		if i > 0 {
			out.WriteString("---\n")
		}
		b, err := toYAML(s)
		if err != nil {
			return nil, err
		}
		out.Write(b)
	}
	return out.Bytes(), nil
}
