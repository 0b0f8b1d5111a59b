package apiserver

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// boolOf is the boolean parameter, nil if it is not given.
func boolOf(q url.Values, name string) *bool {
	values, ok := q[name]
	if !ok || len(values) == 0 {
		return nil
	}
	b := route.ParseBool(values[0])
	return &b
}

// intOf is the integer parameter, nil if it is not given.
func intOf(q url.Values, name string) (*int64, error) {
	values, ok := q[name]
	if !ok || len(values) == 0 {
		return nil, nil
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return &n, nil
}

// listOptions are the parameters of a list, a watch and a deletecollection.
type listOptions struct {
	storage.Query
	timeoutSeconds    *int64
	watch             bool
	bookmarks         bool
	sendInitialEvents *bool
}

// listOptions reads and checks the query, in kube-apiserver's order.
func (r *request) listOptions() (*listOptions, error) {
	q := r.query()
	o := &listOptions{}
	labels, err := selector.ParseLabels(q.Get("labelSelector"))
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	fields, err := selector.ParseFields(q.Get("fieldSelector"))
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	o.watch = r.Verb == "watch"
	o.bookmarks = ptrValue(boolOf(q, "allowWatchBookmarks"))
	o.Version = q.Get("resourceVersion")
	o.Match = q.Get("resourceVersionMatch")
	if o.timeoutSeconds, err = intOf(q, "timeoutSeconds"); err != nil {
		return nil, err
	}
	limit, err := intOf(q, "limit")
	if err != nil {
		return nil, err
	}
	o.Limit = ptrValue(limit)
	o.Continue = q.Get("continue")
	o.sendInitialEvents = boolOf(q, "sendInitialEvents")

	// A watch from no version in particular begins with the present state, as
	// a streaming list does.
	if o.watch && o.sendInitialEvents == nil && o.Match == "" && (o.Version == "" || o.Version == "0") {
		yes := true
		o.sendInitialEvents = &yes
		o.Match = storage.MatchNotOlderThan
	}
	errs := validation.ListOptions{
		Watch:                o.watch,
		ResourceVersion:      o.Version,
		ResourceVersionMatch: o.Match,
		Continue:             o.Continue,
		SendInitialEvents:    o.sendInitialEvents,
	}.Validate()
	if len(errs) > 0 {
		return nil, invalidOptions("ListOptions", errs)
	}
	if err := r.narrow(&o.Selection, labels, fields); err != nil {
		return nil, err
	}
	return o, nil
}

func invalidOptions(kind string, errs validation.List) error {
	return status.Invalid(status.GroupKind{Group: "meta.k8s.io", Kind: kind}, "", errs)
}

func ptrValue[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// narrow turns the selectors of the query, and a name in the path, into a
// selection.
func (r *request) narrow(s *storage.Selection, labels selector.Labels, fields selector.Fields) error {
	if r.typ.Namespaced {
		s.Namespace = r.Namespace
	}
	fields, err := fields.Transform(func(label, value string) (string, string, error) {
		if !r.knowsField(label) {
			return "", "", status.BadRequest(r.unknownField(label))
		}
		return label, value, nil
	})
	if err != nil {
		return err
	}
	name, named := fields.RequiresExactMatch("metadata.name")
	if r.Name != "" { // a watch of one object by the old path
		if named && name != r.Name {
			return status.BadRequest("field metadata.name must match the requested name")
		}
		name, named = r.Name, true
	}
	if named {
		s.Name = name
	}
	if labels.Empty() && fields.Empty() {
		return nil
	}
	types := r.typ.Fields
	s.Match = func(o *storage.Object) bool {
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
			for i := range types {
				if types[i].Label == label {
					return o.Fields[i]
				}
			}
			return ""
		})
	}
	return nil
}

// knowsField reports whether a field selector on the type may name the label.
// Types without fields of their own take metadata.namespace even at cluster
// scope.
func (r *request) knowsField(label string) bool {
	switch label {
	case "metadata.name":
		return true
	case "metadata.namespace":
		return r.typ.Namespaced || r.typ.UnknownField == nil
	}
	for i := range r.typ.Fields {
		if r.typ.Fields[i].Label == label {
			return true
		}
	}
	return false
}

func (r *request) unknownField(label string) string {
	if r.typ.UnknownField != nil {
		return r.typ.UnknownField(label)
	}
	return strconv.Quote(label) + ` is not a known field selector: only "metadata.name", "metadata.namespace"`
}

// writeOptions are the parameters that every write has.
type writeOptions struct {
	validation.WriteOptions
	// Apply alone has these: it takes fields that other managers own, and it
	// creates what is missing.
	force, creates bool
}

// strict tells that unknown and duplicate fields are to be told.
func (o *writeOptions) strict() bool { return o.FieldValidation != "Ignore" }

// object is the options as admission sees them: of a kind, whatever the request
// had.
func (o *writeOptions) object(kind string) map[string]any {
	obj := map[string]any{"kind": kind, "apiVersion": "meta.k8s.io/v1"}
	for name, v := range map[string]string{"fieldManager": o.FieldManager, "fieldValidation": o.FieldValidation} {
		if v != "" {
			obj[name] = v
		}
	}
	if len(o.DryRun) > 0 {
		obj["dryRun"] = object.Texts(o.DryRun)
	}
	return obj
}

// dryRun tells that the write is to be answered and not made.
func (o *writeOptions) dryRun() bool { return slices.Contains(o.DryRun, "All") }

// writeOptions reads and checks the query of a create or update; kind names it
// in errors.
func (r *request) writeOptions(kind string) (*writeOptions, error) {
	o := r.readWriteOptions()
	if errs := o.Validate(); len(errs) > 0 {
		return nil, invalidOptions(kind, errs)
	}
	return o, nil
}

func (r *request) readWriteOptions() *writeOptions {
	q := r.query()
	return &writeOptions{WriteOptions: validation.WriteOptions{
		FieldManager:    q.Get("fieldManager"),
		DryRun:          q["dryRun"],
		FieldValidation: q.Get("fieldValidation"),
	}}
}
