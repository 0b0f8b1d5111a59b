package scenarios

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/yamlpath"
)

// A fixture is an object of the files of a scenario.
type fixture struct {
	object map[string]any
	file   string
	line   int    // of the document, from 1 on
	text   []byte // of the document
}

// place returns the file and the line at which the object begins.
func (f *fixture) place() string { return fmt.Sprintf("%s:%d", f.file, f.lineOf("")) }

// name returns the name of the object.
func (f *fixture) name() string { return object.String(f.object, "metadata", "name") }

// applyFiles creates the objects of the scenario's files, as kubectl apply --server-side does:
// definitions first, then namespaces, then objects of all other kinds, and at last webhooks and
// policies, which do not apply to the others.
func (p *play) applyFiles() error {
	for _, name := range p.scenario.Files {
		more, err := readFixtures(p.scenario.origin.folder(), name)
		if err != nil {
			return err
		}
		p.fixtures = append(p.fixtures, more...)
	}
	slices.SortStableFunc(p.fixtures, func(a, b *fixture) int { return cmp.Compare(rank(a.object), rank(b.object)) })
	for _, f := range p.fixtures {
		if _, err := p.changeAsUser(&Step{Apply: Objects{f.object}}); err != nil {
			return fmt.Errorf("%s: %w", f.place(), err)
		}
	}
	return nil
}

// rank sorts objects by when they take effect.
func rank(o map[string]any) int {
	switch kind := object.String(o, "kind"); {
	case kind == "CustomResourceDefinition":
		return 0
	case kind == "Namespace":
		return 1
	case !strings.HasPrefix(object.String(o, "apiVersion"), "admissionregistration.k8s.io/"):
		return 2
	case !strings.HasSuffix(kind, "Binding"):
		return 3
	}
	return 4
}

// readFixtures reads the objects of a file, of the files of a directory or of a pattern.
func readFixtures(folder, name string) ([]*fixture, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	names, err := inputfile.Names(name)
	if err != nil {
		return nil, err
	}
	var out []*fixture
	for _, name := range names {
		text, err := inputfile.Read(name)
		if err != nil {
			return nil, err
		}
		line := 1
		for _, doc := range split(text) {
			objects, err := decodeObjects(doc)
			for _, o := range objects {
				out = append(out, &fixture{o, name, line, doc})
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			line += bytes.Count(doc, []byte("\n"))
		}
	}
	return out, nil
}

// decodeObjects returns the object of a document, or the items of a List.
func decodeObjects(doc []byte) ([]map[string]any, error) {
	b, err := sigsyaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, explain.Error(nil, nil, err)
	}
	if string(b) == "null" {
		return nil, nil
	}
	var o map[string]any
	if err := decode(b, &o); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(object.String(o, "kind"), "List") || o["items"] == nil {
		return []map[string]any{o}, nil
	}
	return slices.Collect(object.Each(o["items"])), nil
}

// lineOf returns the line of a field of the object: of its closest parent that the document has.
func (f *fixture) lineOf(path string) int {
	var doc yaml.Node
	if yaml.Unmarshal(f.text, &doc) != nil || len(doc.Content) == 0 {
		return f.line
	}
	return f.line + yamlpath.Find(doc.Content[0], "", path).Line - 1
}
