package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
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
	return item.Value.Decode(t), nil
}

// List reads the objects of a resource past HTTP, in the order of namespaces
// and names. Errors are those of Get.
func (s *Server) List(resource string, options ...ReadOption) ([]Object, error) {
	t, view, o, err := s.read(resource, options)
	if err != nil {
		return nil, err
	}
	prefix := t.KeyPrefix(o.namespace)
	var out []Object
	for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
		out = append(out, item.Value.Decode(t))
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
	b, err := encode(object)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: Put: %w", err)
	}
	out, err := s.api.Put(b)
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

func encode(object any) ([]byte, error) {
	switch o := object.(type) {
	case []byte:
		return yaml.YAMLToJSON(o)
	case string:
		return yaml.YAMLToJSON([]byte(o))
	}
	return json.Marshal(object)
}

// load puts the objects of the options: namespaces first.
func (s *Server) load() error {
	objects := slices.Clone(s.config.objects)
	for _, f := range slices.Concat(s.config.definitions, s.config.files) {
		more, err := f.read()
		if err != nil {
			return err
		}
		objects = append(objects, more...)
	}
	var docs [][]byte
	for _, o := range objects {
		b, err := encode(o)
		if err != nil {
			return fmt.Errorf("fakeapi: %w", err)
		}
		docs = append(docs, b)
	}
	slices.SortStableFunc(docs, func(a, b []byte) int { return rank(a) - rank(b) })
	for _, b := range docs {
		if _, err := s.api.Put(b); err != nil {
			return fmt.Errorf("fakeapi: %w", err)
		}
	}
	return nil
}

// rank puts what other objects need before them.
func rank(object []byte) int {
	var head struct{ Kind string }
	if json.Unmarshal(object, &head) == nil {
		switch head.Kind {
		case "CustomResourceDefinition":
			return 0
		case "Namespace":
			return 1
		}
	}
	return 2
}

// read reads the objects of the files; a List stands for its items.
func (f files) read() ([]any, error) {
	var out []any
	for _, glob := range f.globs {
		names, err := fs.Glob(f.fsys, glob)
		if err != nil {
			return nil, fmt.Errorf("fakeapi: %q: %w", glob, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("fakeapi: no file matches %q", glob)
		}
		for _, name := range names {
			b, err := fs.ReadFile(f.fsys, name)
			if err != nil {
				return nil, fmt.Errorf("fakeapi: %w", err)
			}
			objects, err := documents(b)
			if err != nil {
				return nil, fmt.Errorf("fakeapi: %s: %w", name, err)
			}
			out = append(out, objects...)
		}
	}
	return out, nil
}

// documents splits a YAML stream into its objects.
func documents(b []byte) ([]any, error) {
	var out []any
	for doc := range bytes.SplitSeq(append([]byte("\n"), b...), []byte("\n---")) {
		j, err := yaml.YAMLToJSON(doc)
		if err != nil {
			return nil, err
		}
		var list struct {
			Kind  string            `json:"kind"`
			Items []json.RawMessage `json:"items"`
		}
		switch err := json.Unmarshal(j, &list); {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case list.Kind == "":
			if !bytes.Equal(j, []byte("null")) {
				return nil, errors.New("an object without a kind")
			}
		case list.Kind == "List":
			for _, item := range list.Items {
				out = append(out, json.RawMessage(item))
			}
		default:
			out = append(out, json.RawMessage(j))
		}
	}
	return out, nil
}
