package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/wire"
	"sigs.k8s.io/yaml"
)

// load puts the objects of the options into the server.
func (s *Server) load() error {
	if err := s.loadDefinitions(); err != nil {
		return err
	}
	docs, err := s.config.documents()
	if err != nil {
		return err
	}
	slices.SortStableFunc(docs, func(a, b document) int { return a.rank() - b.rank() })
	for _, d := range docs {
		if _, err := s.api.Registry().Put(d.json); err != nil {
			return fmt.Errorf("%s: %w", d.source, objectError(err))
		}
	}
	return nil
}

// loadDefinitions puts the CustomResourceDefinitions of the options into the
// server and checks that they are served.
func (s *Server) loadDefinitions() error {
	for _, f := range s.config.crds {
		docs, err := f.read()
		if err != nil {
			return err
		}
		for _, d := range docs {
			if d.kind != "CustomResourceDefinition" {
				return fmt.Errorf("%s: %w", d.source, objectError(fmt.Errorf("a %s is not a CustomResourceDefinition", d.kind)))
			}
			obj, err := s.api.Registry().Put(d.json)
			if err == nil {
				err = s.api.Registry().CheckServed(Object(obj).Name())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", d.source, objectError(err))
			}
		}
	}
	return nil
}

// A document is one object to load.
type document struct {
	json   []byte
	source string // where it comes from, for errors
	kind   string
}

// rank orders documents: others may depend on definitions and namespaces.
func (d document) rank() int {
	switch d.kind {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

// documents returns the objects of all options.
func (c *config) documents() ([]document, error) {
	var out []document
	for i, o := range c.objects {
		docs, err := documentsOf(o)
		if err != nil {
			return nil, fmt.Errorf("object %d of WithObjects: %w", i+1, objectError(err))
		}
		for _, d := range docs {
			d.source = fmt.Sprintf("object %d of WithObjects", i+1)
			out = append(out, d)
		}
	}
	for _, f := range c.files {
		docs, err := f.read()
		if err != nil {
			return nil, err
		}
		out = append(out, docs...)
	}
	return out, nil
}

// read returns the objects of the files, each file once.
func (f files) read() ([]document, error) {
	var out []document
	err := f.each(func(name string, text []byte) error {
		docs, err := documentsOf(text)
		for _, d := range docs {
			d.source = name
			out = append(out, d)
		}
		if err != nil {
			return objectError(err)
		}
		return nil
	})
	return out, err
}

// each calls do with every file once. Its error names the file. It fails with
// fs.ErrNotExist if a glob matches no file.
func (f files) each(do func(name string, text []byte) error) error {
	var names []string
	for _, glob := range f.globs {
		matches, err := fs.Glob(f.fsys, glob)
		if err != nil {
			return fmt.Errorf("%q: %w", glob, err)
		}
		if len(matches) == 0 {
			return &kindError{fs.ErrNotExist, fmt.Errorf("no file matches %q", glob)}
		}
		for _, name := range matches {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		text, err := fs.ReadFile(f.fsys, name)
		if err != nil {
			return err
		}
		if err := do(name, text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// documentOf returns the object in a value that documentsOf takes. It fails if
// there is not exactly one.
func documentOf(object any) (document, error) {
	docs, err := documentsOf(object)
	if err == nil && len(docs) != 1 {
		err = fmt.Errorf("%d objects instead of one", len(docs))
	}
	if err != nil {
		return document{}, err
	}
	return docs[0], nil
}

// documentsOf returns the objects in a Go value, or in YAML or JSON as []byte or
// string. It expands YAML streams and lists.
func documentsOf(object any) ([]document, error) {
	switch o := object.(type) {
	case []byte:
		return split(o)
	case string:
		return split([]byte(o))
	}
	b, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return expand(b)
}

// split returns the objects of a YAML stream. It ignores empty documents.
func split(stream []byte) ([]document, error) {
	var out []document
	i := 0
	for doc := range bytes.SplitSeq(append([]byte("\n"), stream...), []byte("\n---")) {
		b, err := toJSON(doc)
		if err == nil && string(b) == "null" {
			continue
		}
		i++
		var docs []document
		if err == nil {
			docs, err = expand(b)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		out = append(out, docs...)
	}
	return out, nil
}

// toJSON returns a YAML document as JSON. It does not run the slow YAML parser for
// a document that is JSON.
func toJSON(doc []byte) ([]byte, error) {
	if _, duplicates, err := wire.DecodeUntyped(doc, wire.DecodeOptions{Strict: true}); err == nil && len(duplicates) == 0 {
		return doc, nil
	}
	return yaml.YAMLToJSONStrict(doc)
}

// expand returns the object in a JSON document, or the items of a list. Items of a
// typed list, such as a PodList, may omit kind and apiVersion.
func expand(b []byte) ([]document, error) {
	var head struct {
		APIVersion string                       `json:"apiVersion"`
		Kind       string                       `json:"kind"`
		Items      []map[string]json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	kind, isList := strings.CutSuffix(head.Kind, "List")
	if !isList || head.Items == nil {
		if head.Kind == "" || head.APIVersion == "" {
			return nil, errors.New("an object without kind and apiVersion")
		}
		return []document{{json: b, kind: head.Kind}}, nil
	}
	var out []document
	for i, item := range head.Items {
		if item["kind"] == nil && kind != "" {
			item["kind"], _ = json.Marshal(kind)
			item["apiVersion"], _ = json.Marshal(head.APIVersion)
		}
		b, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		docs, err := expand(b)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		out = append(out, docs...)
	}
	return out, nil
}
