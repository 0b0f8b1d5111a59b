package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
)

// load puts the objects of the options into the server.
func (s *Server) load() error {
	if err := s.loadStages(); err != nil {
		return err
	}
	if err := s.loadDefinitions(); err != nil {
		return err
	}
	docs, err := s.config.documents()
	if err != nil {
		return err
	}
	slices.SortStableFunc(docs, func(a, b document) int { return a.rank() - b.rank() })
	if s.config.namespaces != nil {
		if err := s.createNamespaces(docs); err != nil {
			return err
		}
	}
	for _, d := range docs {
		if _, err := s.storeDocument(d); err != nil {
			return err
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
				return d.wrap(errors.New("it is not a CustomResourceDefinition"))
			}
			if _, err := s.storeDocument(d); err != nil {
				return err
			}
			if err := s.api.Cluster().CheckServed(d.name); err != nil {
				return d.wrap(err)
			}
		}
	}
	return nil
}

// createNamespaces creates the namespaces of WithNamespaces, and those of docs, that
// neither exist nor are in docs.
func (s *Server) createNamespaces(docs []document) error {
	given := map[string]bool{"": true}
	for _, d := range docs {
		if d.kind == "Namespace" {
			given[d.name] = true
		}
	}
	create := func(name, source string) error {
		if given[name] {
			return nil
		}
		given[name] = true
		if _, err := s.Get("namespaces.", "", name); err == nil {
			return nil
		}
		b, err := json.Marshal(Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
		if err != nil {
			return err
		}
		_, err = s.storeDocument(document{json: b, source: source, kind: "Namespace", name: name})
		return err
	}
	for _, name := range s.config.namespaces {
		if err := create(name, "WithNamespaces"); err != nil {
			return err
		}
	}
	for _, d := range docs {
		if err := create(d.namespace, d.source); err != nil {
			return err
		}
	}
	return nil
}

// storeDocument stores the object of a document.
func (s *Server) storeDocument(d document) (Object, error) {
	obj, err := s.api.Cluster().Put(d.json)
	if err != nil {
		return nil, d.wrap(err)
	}
	return obj, nil
}

// A document is one object to load.
type document struct {
	json   []byte
	source string // where it comes from, for errors: "shop.yaml: document 2"

	apiVersion, kind, namespace, name string
}

// wrap returns an error of the document's object. Its text names the source, the kind
// and the name.
func (d document) wrap(err error) error {
	name := d.name
	if d.namespace != "" {
		name = d.namespace + "/" + name
	}
	text := err.Error()
	if _, causes, ok := strings.Cut(text, fmt.Sprintf(" %q is invalid: ", d.name)); ok {
		text = causes
	}
	text = explain.Text(text)
	if d.source != "" {
		text += d.advice(err)
	}
	return objectError(&kindError{err, in(d.source, fmt.Errorf("%s: %s", printable.Line(strings.TrimSpace(d.kind+" "+name)), text))})
}

// advice returns what a fixture with an error lacks, as the end of the text of the error;
// "" if that is not known.
func (d document) advice(err error) string {
	var st *status.Status
	switch {
	case errors.As(err, &st) && st.Code == http.StatusNotFound && st.Details != nil && st.Details.Kind == "namespaces":
		return "; WithNamespaces or --create-namespaces creates it"
	case errors.Is(err, ErrNotFound) && strings.Contains(strings.Split(d.apiVersion, "/")[0], "."):
		return "; WithCRDs or --crds gives the definition of a custom resource"
	}
	return ""
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
		docs, err := documentsOf(o, fmt.Sprintf("object %d of WithObjects", i+1))
		if err != nil {
			return nil, objectError(err)
		}
		out = append(out, docs...)
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
		docs, err := split(text, name)
		out = append(out, docs...)
		if err != nil {
			return objectError(err)
		}
		return nil
	})
	return out, err
}

// each calls do with every file once. It fails with fs.ErrNotExist if a glob matches
// no file.
func (f files) each(do func(name string, text []byte) error) error {
	return inputfile.EachMatch(f.fsys, f.globs, do)
}

// documentOf returns the object in a value that documentsOf takes. It fails if
// there is not exactly one.
func documentOf(object any) (document, error) {
	docs, err := documentsOf(object, "")
	if err == nil && len(docs) != 1 {
		err = fmt.Errorf("%d objects instead of one", len(docs))
	}
	if err != nil {
		return document{}, err
	}
	docs[0].source = ""
	return docs[0], nil
}

// documentsOf returns the objects in a Go value, or in YAML or JSON as []byte, string
// or io.Reader. It expands YAML streams and lists. source is where the value comes
// from, "" if that needs no name; the name of a file replaces it.
func documentsOf(object any, source string) ([]document, error) {
	switch o := object.(type) {
	case []byte:
		return split(o, source)
	case string:
		return split([]byte(o), source)
	case io.Reader:
		if f, ok := o.(interface{ Name() string }); ok {
			source = f.Name()
		}
		text, err := io.ReadAll(o)
		if err != nil {
			return nil, in(source, err)
		}
		return split(text, source)
	}
	b, err := json.Marshal(object)
	if err != nil {
		return nil, in(source, err)
	}
	return expand(b, source)
}

// in returns an error that names its source, if that is not "".
func in(source string, err error) error {
	if source == "" {
		return err
	}
	return fmt.Errorf("%s: %w", source, err)
}

// split returns the objects of a YAML stream. It ignores empty documents. Errors name
// the document by its number, from 1.
func split(stream []byte, source string) ([]document, error) {
	if source != "" {
		source += ": "
	}
	var out []document
	i := 0
	for _, doc := range bytes.Split(append([]byte("\n"), stream...), []byte("\n---")) {
		b, err := toJSON(doc)
		if err == nil && string(b) == "null" {
			continue
		}
		i++
		at := fmt.Sprintf("%sdocument %d", source, i)
		if err != nil {
			return nil, in(at, err)
		}
		docs, err := expand(b, at)
		if err != nil {
			return nil, err
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
func expand(b []byte, source string) ([]document, error) {
	var head struct {
		APIVersion string                       `json:"apiVersion"`
		Kind       string                       `json:"kind"`
		Metadata   json.RawMessage              `json:"metadata"`
		Items      []map[string]json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field == "" {
			return nil, in(source, fmt.Errorf("not a Kubernetes object: a mapping with kind and apiVersion is expected, not a value of the type %s", wrong.Value))
		}
		return nil, in(source, explain.Error(b, &head, err))
	}
	kind, isList := strings.CutSuffix(head.Kind, "List")
	if !isList || head.Items == nil {
		if head.Kind == "" || head.APIVersion == "" {
			return nil, in(source, errors.New("an object without kind and apiVersion"))
		}
		var meta struct{ Namespace, Name string }
		_ = json.Unmarshal(head.Metadata, &meta) // Put reports what is wrong
		return []document{{json: b, source: source, apiVersion: head.APIVersion, kind: head.Kind, namespace: meta.Namespace, name: meta.Name}}, nil
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
		at := fmt.Sprintf("items[%d]", i)
		if source != "" {
			at = source + ": " + at
		}
		docs, err := expand(b, at)
		if err != nil {
			return nil, err
		}
		out = append(out, docs...)
	}
	return out, nil
}
