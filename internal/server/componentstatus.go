package server

import (
	"net/http"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// A component is a component of a cluster and its health.
type component struct{ name, healthy, message string }

// components are those that kube-apiserver checks. The scheduler and the
// controller manager are unhealthy: there are none.
var components = []component{
	{"scheduler", "False", `Get "https://127.0.0.1:10259/healthz": dial tcp 127.0.0.1:10259: connect: connection refused`},
	{"controller-manager", "False", `Get "https://127.0.0.1:10257/healthz": dial tcp 127.0.0.1:10257: connect: connection refused`},
	{"etcd-0", "True", "ok"},
}

func (c *component) object(t *resource.Type) *storage.Object {
	return storage.New(t, map[string]any{
		"kind": t.Kind, "apiVersion": t.GroupVersion.String(),
		"metadata":   map[string]any{"name": c.name},
		"conditions": []any{map[string]any{"type": "Healthy", "status": c.healthy, "message": c.message}},
	}, nil)
}

// componentStatuses serves the health of the cluster's components, which is not
// stored.
func (r *request) componentStatuses() error {
	t := *r.typ
	t.Strategy = &resource.Strategy{}
	r.typ = &t
	if r.Verb == "get" {
		for _, c := range components {
			if c.name == r.Name {
				return r.answer(http.StatusOK, c.object(r.typ))
			}
		}
		if !r.surface.Release().Has(behavior.ComponentStatusNotFound) {
			return status.Unclassified("Component not found: " + r.Name)
		}
		return status.NotFound(status.GroupResource{Resource: r.typ.Singular}, r.Name)
	}
	o, err := r.listOptions()
	switch {
	case err != nil:
		return err
	case r.Verb == "watch":
		return status.MethodNotSupported(r.groupResource(), "watch")
	}
	shape, err := r.representation(r.typ, true)
	if err != nil {
		return err
	}
	selection := &o.Selection
	return r.answerList(shape, &storage.Page{Remaining: -1, Items: func(yield func(*storage.Object) bool) {
		for _, c := range components {
			object := c.object(r.typ)
			if (selection.Name == "" || selection.Name == c.name) && (selection.Match == nil || selection.Match(object)) && !yield(object) {
				return
			}
		}
	}})
}
