package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// controlObjects puts objects as they are and then removes others, in their
// order, each by a write of its own. It ends at the first that fails.
func (s *Server) controlObjects(r *request) (any, error) {
	var in struct {
		Put    []json.RawMessage `json:"put"`
		Delete []json.RawMessage `json:"delete"` // kind, apiVersion, and of metadata namespace and name count
	}
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	for i, body := range in.Put {
		if _, err := s.Put(body); err != nil {
			return nil, objectError("put", i, err)
		}
	}
	for i, body := range in.Delete {
		if err := s.RemoveObject(body); err != nil {
			return nil, objectError("delete", i, err)
		}
	}
	return revisionAnswer{s.store.Revision()}, nil
}

func objectError(list string, i int, err error) error {
	message := fmt.Sprintf("%s[%d]: %v", list, i, err)
	if errors.Is(err, ErrNotFound) {
		return status.Failure(http.StatusNotFound, status.ReasonNotFound, message, nil)
	}
	return status.BadRequest(message)
}

// RemoveObject removes the object of the kind and the name that a body has, as
// Remove does.
func (s *Server) RemoveObject(body []byte) error {
	kind, err := kindOf(body)
	if err != nil {
		return err
	}
	t := s.Registry().ForKind(kind)
	if t == nil || t.Virtual() {
		return fmt.Errorf("%w: kind %q of %q", ErrNotFound, kind.Kind, kind.GroupVersion)
	}
	var of map[string]any
	if err := json.Unmarshal(body, &of); err != nil {
		return err
	}
	namespace := object.String(of, "metadata", "namespace")
	if t.Namespaced && namespace == "" {
		namespace = "default" // as where it is put
	}
	return s.Remove(t, namespace, object.String(of, "metadata", "name"))
}
