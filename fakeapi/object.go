package fakeapi

import (
	"encoding/json"
	"fmt"

	"github.com/kubefake/kubefake/mvcc"
)

// An Object is an API object in generic form, as decoded from JSON, with int64 and
// float64 for numbers. The caller owns it.
type Object map[string]any

// Name returns metadata.name.
func (o Object) Name() string { return o.meta("name") }

// Namespace returns metadata.namespace; "" at cluster scope.
func (o Object) Namespace() string { return o.meta("namespace") }

// ResourceVersion returns metadata.resourceVersion.
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

// A ReadOption configures Server.Get and Server.List.
type ReadOption func(*readOptions)

type readOptions struct{ revision int64 }

// AtRevision reads the state at a revision instead of the newest.
func AtRevision(revision int64) ReadOption {
	return func(o *readOptions) { o.revision = revision }
}

// Get reads an object without HTTP. namespace is "" at cluster scope.
//
// Errors: ErrNotFound; ErrCompacted and ErrFutureRevision with AtRevision.
func (s *Server) Get(resource, namespace, name string, options ...ReadOption) (Object, error) {
	found, err := s.api.Cluster().ReadAt(mvcc.Revision(newReadOptions(options).revision), resource, namespace, name)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// List reads the objects of a resource without HTTP, in the order of namespaces and
// names. namespace is "" for all. Its errors are those of Get.
func (s *Server) List(resource, namespace string, options ...ReadOption) ([]Object, error) {
	found, err := s.api.Cluster().ReadAt(mvcc.Revision(newReadOptions(options).revision), resource, namespace, "")
	if err != nil {
		return nil, err
	}
	out := make([]Object, len(found))
	for i, obj := range found {
		out[i] = obj
	}
	return out, nil
}

func newReadOptions(options []ReadOption) *readOptions {
	o := &readOptions{}
	for _, option := range options {
		option(o)
	}
	return o
}

// Store creates or replaces an object without HTTP, below admission. object is any value whose
// JSON is an object with kind, apiVersion and name, or JSON or YAML as []byte, string or
// io.Reader. It is stored with its status. Store sets defaults, and uid, creationTimestamp and
// generation if they are missing. It drops unknown fields and ignores resourceVersion. It
// checks the metadata and the types of the fields of built-in kinds. It runs no admission and
// validates no spec, except those of CustomResourceDefinitions. It returns the stored object.
//
// Errors: ErrNotFound for a namespace or a kind that does not exist, otherwise
// ErrInvalidObject.
func (s *Server) Store(object any) (Object, error) {
	doc, err := documentOf(object)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: Store: %w", objectError(err))
	}
	out, err := s.storeDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: Store: %w", err)
	}
	return out, nil
}

// Remove removes an object without HTTP, at once: finalizers and grace periods have no effect.
// It fails with ErrNotFound.
func (s *Server) Remove(resource, namespace, name string) error {
	return s.api.Cluster().Remove(resource, namespace, name)
}

// removeObject removes the object with the kind, namespace and name of object, which has a form
// that Store takes.
func (s *Server) removeObject(object any) error {
	doc, err := documentOf(object)
	if err == nil {
		err = s.api.Cluster().RemoveObject(doc.json)
	}
	if err != nil {
		return fmt.Errorf("fakeapi: Remove: %w", objectError(err))
	}
	return nil
}
