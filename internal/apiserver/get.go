package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// get answers one object, as stored.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list.
func (r *request) get() error {
	version := ""
	if r.http.URL.RawQuery != "" {
		version = r.query().Get("resourceVersion")
	}
	if err := checkStorable(r.Name); err != nil {
		return err
	}
	obj, rev, err := r.server.store.Get(r.ctx(), r.typ, r.namespaceOfObject(), r.Name, version)
	if err != nil {
		return err
	}
	r.revision = rev
	if obj == nil {
		return status.NotFound(r.groupResource(), r.Name)
	}
	return r.answer(http.StatusOK, obj)
}

// namespaceOfObject is the namespace of the object that the path names: a
// namespace's path has one, the object has none.
func (r *request) namespaceOfObject() string {
	if !r.typ.Namespaced {
		return ""
	}
	return r.Namespace
}

// checkStorable refuses names that no object can be stored by.
func checkStorable(name string) error {
	if name == "" {
		return status.BadRequest("Name parameter required.")
	}
	if problems := validation.PathSegment(name); len(problems) > 0 {
		return status.BadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(problems, ";")))
	}
	return nil
}

func (r *request) key() string { return r.typ.Key(r.namespaceOfObject(), r.Name) }
