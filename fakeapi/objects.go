package fakeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/mvcc"
	"sigs.k8s.io/yaml"
)

// An Object is an API object in generic form, as JSON decodes it, with int64
// and float64 for numbers. It is the caller's.
type Object map[string]any

// Name is metadata.name.
func (o Object) Name() string { return o.meta("name") }

// Namespace is metadata.namespace, "" at cluster scope.
func (o Object) Namespace() string { return o.meta("namespace") }

// ResourceVersion is metadata.resourceVersion.
func (o Object) ResourceVersion() string { return o.meta("resourceVersion") }

func (o Object) meta(field string) string {
	m, _ := o["metadata"].(map[string]any)
	s, _ := m[field].(string)
	return s
}

// Into decodes the object into a Go value, such as a *corev1.Pod.
func (o Object) Into(v any) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// ErrNotFound is returned for an object, or a resource, that is not there.
var ErrNotFound = apiserver.ErrNotFound

// A ReadOption says which state, or which part of it, to read.
type ReadOption func(*readOptions)

type readOptions struct {
	at        int64
	namespace string
}

// At reads the state at a revision, as Server.Revision and resource versions
// count them, instead of the newest.
func At(revision int64) ReadOption { return func(o *readOptions) { o.at = revision } }

// In lists one namespace instead of all.
func In(namespace string) ReadOption { return func(o *readOptions) { o.namespace = namespace } }

// Get reads an object past HTTP. A resource is named as kubectl takes it:
// "pods", "po", "deployments.apps". namespace is "" at cluster scope.
//
// Errors: ErrNotFound; mvcc.ErrCompacted and mvcc.ErrFutureRevision for a
// revision that is not kept.
func (s *Server) Get(resource, namespace, name string, options ...ReadOption) (Object, error) {
	t, view, _, err := s.read(resource, options)
	if err != nil {
		return nil, err
	}
	item, ok := view.Get(t.Key(namespace, name))
	if !ok {
		return nil, fmt.Errorf("%w: %s %s", ErrNotFound, t.Name, name)
	}
	o, err := item.Value.In(context.Background(), t)
	if err != nil {
		return nil, err
	}
	return o.Decode(t), nil
}

// List reads the objects of a resource past HTTP, in the order of namespaces
// and names. Errors are those of Get.
func (s *Server) List(resource string, options ...ReadOption) ([]Object, error) {
	t, view, o, err := s.read(resource, options)
	if err != nil {
		return nil, err
	}
	prefix := t.KeyPrefix(o.namespace)
	var stored []*storage.Object
	for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
		stored = append(stored, item.Value)
	}
	if stored, err = storage.In(context.Background(), t, stored); err != nil {
		return nil, err
	}
	out := make([]Object, len(stored))
	for i, o := range stored {
		out[i] = o.Decode(t)
	}
	return out, nil
}

func (s *Server) read(name string, options []ReadOption) (*resource.Type, *mvcc.View[*storage.Object], *readOptions, error) {
	o := &readOptions{}
	for _, option := range options {
		option(o)
	}
	t := s.api.Registry().Find(name)
	if t == nil || t.Virtual() {
		return nil, nil, nil, fmt.Errorf("%w: resource %s", ErrNotFound, name)
	}
	view, err := s.api.Store().View(mvcc.Revision(o.at))
	return t, view, o, err
}

// Put writes an object past HTTP, whether there is one of its name or not: any
// value whose JSON is an object with kind, apiVersion and a name, or JSON or
// YAML as []byte or string. It is stored as it is, status included; the server
// adds what it owns and the object lacks (uid, creationTimestamp, generation).
// It does not ask for a resourceVersion and runs no admission. The object as
// stored is returned.
//
// It fails for what is no valid object of its kind, and for a namespace that is
// not there.
func (s *Server) Put(object any) (Object, error) {
	doc, err := documentOf(object)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: Put: %w", err)
	}
	out, err := s.api.Put(doc.json)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: Put: %w", err)
	}
	return out, nil
}

// Delete removes an object past HTTP, at once: finalizers and grace periods do
// not hold it. It returns ErrNotFound if there is none.
func (s *Server) Delete(resource, namespace, name string) error {
	t := s.api.Registry().Find(resource)
	if t == nil || t.Virtual() {
		return fmt.Errorf("%w: resource %s", ErrNotFound, resource)
	}
	return s.api.Remove(t, namespace, name)
}

// Remove is Delete for whoever has the object, in a form that Put takes: it
// removes the one of its kind, namespace and name.
func (s *Server) Remove(object any) error {
	doc, err := documentOf(object)
	if err != nil {
		return fmt.Errorf("fakeapi: Remove: %w", err)
	}
	return s.api.RemoveObject(doc.json)
}

// load puts the objects of the options: what others need first.
func (s *Server) load() error {
	if err := s.define(); err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	docs, err := s.config.documents()
	if err != nil {
		return fmt.Errorf("fakeapi: %w", err)
	}
	slices.SortStableFunc(docs, func(a, b document) int { return a.rank() - b.rank() })
	for _, d := range docs {
		if _, err := s.api.Put(d.json); err != nil {
			return fmt.Errorf("fakeapi: %s: %w", d.source, err)
		}
	}
	return nil
}

// define puts the definitions of the options, and checks that they are served.
func (s *Server) define() error {
	for _, f := range s.config.crds {
		docs, err := f.read()
		if err != nil {
			return err
		}
		for _, d := range docs {
			if d.kind != "CustomResourceDefinition" {
				return fmt.Errorf("%s: a %s is no CustomResourceDefinition", d.source, d.kind)
			}
			obj, err := s.api.Put(d.json)
			if err == nil {
				err = s.api.CheckServed(Object(obj).Name())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", d.source, err)
			}
		}
	}
	return nil
}

// A document is one object to load.
type document struct {
	json   []byte
	source string // what to call the place it is from in an error
	kind   string
}

// rank puts what other objects need before them.
func (d document) rank() int {
	switch d.kind {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

// documents are all objects that the options name.
func (c *config) documents() ([]document, error) {
	var out []document
	for i, o := range c.objects {
		docs, err := documentsOf(o)
		if err != nil {
			return nil, fmt.Errorf("object %d of WithObjects: %w", i+1, err)
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

// read reads the objects of the files, each file once.
func (f files) read() ([]document, error) {
	var out []document
	err := f.each(func(name string, text []byte) error {
		docs, err := documentsOf(text)
		for _, d := range docs {
			d.source = name
			out = append(out, d)
		}
		return err
	})
	return out, err
}

// each calls do with every file once. An error of it is told with the file's
// name.
func (f files) each(do func(name string, text []byte) error) error {
	var names []string
	for _, glob := range f.globs {
		matches, err := fs.Glob(f.fsys, glob)
		if err != nil {
			return fmt.Errorf("%q: %w", glob, err)
		}
		if len(matches) == 0 {
			return fmt.Errorf("no file matches %q", glob)
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

// documentOf is documentsOf for one object.
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

// documentsOf returns the objects in a Go value, or in YAML or JSON as []byte
// or string: a stream of documents, in which a list stands for its items.
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

// split returns the objects of a YAML stream. Empty documents are none.
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

// toJSON returns a YAML document as JSON. One that is JSON already needs no parser
// of YAML, which is slow.
func toJSON(doc []byte) ([]byte, error) {
	if _, twice, err := wire.DecodeUntyped(doc, wire.DecodeOptions{Strict: true}); err == nil && len(twice) == 0 {
		return doc, nil
	}
	return yaml.YAMLToJSONStrict(doc)
}

// expand returns the object of a JSON document, or the items if it is a list.
// Items of a list of one kind, such as a PodList, need not repeat it.
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
