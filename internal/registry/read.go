package registry

import (
	"cmp"
	"context"
	"strconv"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Get returns an object as stored, and the revision of the state that it was read
// from. The state is not older than version, a resourceVersion; "" is the
// present. It fails with a NotFound status and the errors of storage.Store.Get.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list.
func (g *Registry) Get(ctx context.Context, r Request, version string) (*storage.Object, mvcc.Revision, error) {
	if r.Subresource != "" && targetOf(r.Type, r.Subresource) == targetUnsupported {
		return nil, 0, r.notImplemented("get")
	}
	obj, rev, err := g.get(ctx, r, version)
	if err != nil && r.Subresource == "scale" {
		err = r.scaleError(err, cmp.Or(r.Surface, g.follower.Surface()).Release())
	}
	return obj, rev, err
}

func (g *Registry) get(ctx context.Context, r Request, version string) (*storage.Object, mvcc.Revision, error) {
	if err := resource.CheckName(r.Name); err != nil {
		return nil, 0, err
	}
	obj, rev, err := cmp.Or(r.Store, g.store).Get(ctx, r.Type, r.objectNamespace(), r.Name, version)
	switch {
	case err != nil:
	case obj != nil && version == "":
		obj, err = obj.ConvertAnew(ctx, r.Type)
	case obj == nil:
		err = status.NotFound(r.groupResource(), r.Name)
	}
	return obj, rev, err
}

// List returns a page of objects. It fails with the errors of storage.Store.List.
func (g *Registry) List(ctx context.Context, t *resource.Type, q storage.Query) (*storage.Page, error) {
	return g.store.List(ctx, t, q)
}

// Watch follows the selected objects from the first change after a
// revision. It fails with the errors of storage.Store.Watch.
func (g *Registry) Watch(ctx context.Context, t *resource.Type, selection storage.Selection, after mvcc.Revision) (*storage.Watch, error) {
	return g.store.Watch(ctx, t, selection, after)
}

// A Selector is what a list, a watch or a deletecollection selects by.
type Selector struct {
	Labels selector.Labels
	Fields selector.Fields
}

// Select returns the selection of the selector in the namespace, and by the name,
// of the request. It fails for a field label that the type does not know, and for
// a selector that contradicts the name.
func (r *Request) Select(o Selector) (storage.Selection, error) {
	var s storage.Selection
	if r.Type.Namespaced {
		s.Namespace = r.Namespace
	}
	fields, err := o.Fields.Transform(func(label, value string) (string, string, error) {
		if !r.knowsField(label) {
			return "", "", status.BadRequest(r.unknownField(label))
		}
		return label, value, nil
	})
	if err != nil {
		return s, err
	}
	name, named := fields.RequiresExactMatch("metadata.name")
	if r.Name != "" { // a watch of one object by the deprecated path
		if !fields.Empty() && (!named || name != r.Name) {
			return s, status.BadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		name, named = r.Name, true
	}
	if named {
		s.Name = name
	}
	if labels := o.Labels; !labels.Empty() || !fields.Empty() {
		s.Match = r.matcher(labels, fields)
	}
	return s, nil
}

// matcher reports whether an object matches the selectors.
func (r *Request) matcher(labels selector.Labels, fields selector.Fields) func(*storage.Object) bool {
	known := r.Type.SelectableFields
	return func(o *storage.Object) bool {
		if !labels.Empty() && !labels.Matches(selector.Map(o.Labels)) {
			return false
		}
		return fields.Empty() || fields.Matches(func(label string) string {
			switch label {
			case "metadata.name":
				return o.Name
			case "metadata.namespace":
				return o.Namespace
			}
			for i := range known {
				if known[i].Label == label {
					return o.Fields.At(i)
				}
			}
			return ""
		})
	}
}

// knowsField reports whether a field selector may name the label. Types without
// fields of their own accept metadata.namespace even at cluster scope.
func (r *Request) knowsField(label string) bool {
	switch label {
	case "metadata.name":
		return true
	case "metadata.namespace":
		return r.Type.Namespaced && !r.Type.NoNamespaceField || r.Type.FieldLabelError == nil
	}
	for i := range r.Type.SelectableFields {
		if r.Type.SelectableFields[i].Label == label {
			return true
		}
	}
	return false
}

func (r *Request) unknownField(label string) string {
	if r.Type.FieldLabelError != nil {
		return r.Type.FieldLabelError(label)
	}
	return strconv.Quote(label) + ` is not a known field selector: only "metadata.name", "metadata.namespace"`
}
