package crd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/openapi"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// The OpenAPI document of a custom group version is modelled on what the
// profile's release says of Deployments, which have every path that a custom
// resource can have.
const (
	modelPath  = "apis/apps/v1"
	modelGroup = "apps"
	modelName  = "deployments"
	modelKind  = "Deployment"
	metaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1."
)

// A model is the part of a profile's document that others are made of.
type model struct {
	paths   map[string]any // by what follows the namespace: "", "/{name}", ...
	across  map[string]any // the path of all namespaces
	schemas map[string]any
}

// models are those of profiles: func() (*model, error) by *release.Release.
var models sync.Map

func modelOf(p *release.Release) (*model, error) {
	once, ok := models.Load(p)
	if !ok {
		once, _ = models.LoadOrStore(p, sync.OnceValues(func() (*model, error) { return readModel(p) }))
	}
	return once.(func() (*model, error))()
}

func readModel(p *release.Release) (*model, error) {
	text, err := p.OpenAPI(modelPath)
	if err != nil {
		return nil, err
	}
	doc, err := wire.DecodeAny(text)
	if err != nil {
		return nil, err
	}
	paths := object.Map(doc, "paths")
	m := &model{paths: map[string]any{}, schemas: object.Map(doc, "components", "schemas")}
	m.across, _ = paths["/"+modelPath+"/"+modelName].(map[string]any)
	for path, item := range paths {
		if rest, ok := strings.CutPrefix(path, "/"+modelPath+"/namespaces/{namespace}/"+modelName); ok {
			m.paths[rest] = item
		}
	}
	return m, nil
}

// Document is the OpenAPI v3 document of types that are served in one group
// version.
func Document(p *release.Release, types []*resource.Type) ([]byte, error) {
	m, err := modelOf(p)
	if err != nil {
		return nil, fmt.Errorf("the document that others are modelled on: %w", err)
	}
	d := &published{model: m, paths: map[string]any{}, schemas: map[string]any{}}
	for _, t := range types {
		d.add(t)
	}
	return wire.AppendAny(nil, map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
		"paths": d.paths, "components": map[string]any{"schemas": d.schemas},
	}), nil
}

// V2Overrides returns what the conversion of the v3 document of types to v2 cannot
// derive.
func V2Overrides(types []*resource.Type) openapi.V2Overrides {
	v2 := openapi.V2Overrides{Definitions: map[string]any{}, Consumes: []string{"application/json", "application/yaml"}}
	for _, t := range types {
		v2.Definitions[schemaName(t, t.Kind)] = ofKind(t, t.Kind, schema.PublishV2(t.Codec.(*customCodec).props))
	}
	return v2
}

// ofKind adds to a schema the kind that it is of, and by what its objects can be
// selected.
func ofKind(t *resource.Type, kind string, s map[string]any) map[string]any {
	s["x-kubernetes-group-version-kind"] = []any{groupVersionKind(t, kind)}
	var selectable []any
	for _, f := range t.Fields {
		selectable = append(selectable, map[string]any{"fieldPath": f.Label})
	}
	if selectable != nil {
		s["x-kubernetes-selectable-fields"] = selectable
	}
	return s
}

func groupVersionKind(t *resource.Type, kind string) map[string]any {
	return map[string]any{"group": t.Group, "version": t.GroupVersion.Version, "kind": kind}
}

// published is a document in the making.
type published struct {
	*model
	paths, schemas map[string]any
}

func (d *published) add(t *resource.Type) {
	d.schemas[schemaName(t, t.Kind)] = ofKind(t, t.Kind, schema.PublishV3(t.Codec.(*customCodec).props))
	d.schemas[schemaName(t, t.ListKind)] = ofKind(t, t.ListKind, schema.PublishList(t.Kind, t.ListKind, t.Name, schemaReference+schemaName(t, t.Kind)))
	d.need(metaPrefix + "ListMeta")
	d.need(metaPrefix + "ObjectMeta")

	w := &rewriter{published: d, typ: t, kind: groupVersionKind(t, t.Kind)}
	base := "/apis/" + t.GroupVersion.String() + "/"
	if t.Namespaced {
		d.paths[base+t.Name] = w.item(d.across, "")
		base += "namespaces/{namespace}/"
	}
	for rest, item := range d.model.paths {
		sub := strings.TrimPrefix(strings.TrimPrefix(rest, "/{name}"), "/")
		if sub != "" && t.Subresource(sub) == nil {
			continue
		}
		item, _ := item.(map[string]any)
		d.paths[base+t.Name+rest] = w.item(item, rest)
	}
}

const schemaReference = "#/components/schemas/"

// need adds a schema of the model, with those that it refers to.
func (d *published) need(name string) {
	if _, have := d.schemas[name]; have || d.model.schemas[name] == nil {
		return
	}
	d.schemas[name] = d.model.schemas[name]
	d.needs(d.model.schemas[name])
}

func (d *published) needs(v any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			d.need(strings.TrimPrefix(ref, schemaReference))
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			d.needs(v[name])
		}
	case []any:
		for _, e := range v {
			d.needs(e)
		}
	}
}

// schemaName names a kind as OpenAPI does: "com.example.v1.Widget".
func schemaName(t *resource.Type, kind string) string {
	parts := strings.Split(t.Group, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + t.GroupVersion.Version + "." + kind
}

// groupName is a group as tags are named and, with a capital, operations:
// "ExampleCom".
func groupName(group string, capital bool) string {
	return join(strings.TrimSuffix(group, ".k8s.io"), capital)
}

// join joins the words of a name, each with a capital but perhaps the first.
// What is neither letter nor digit ends a word.
func join(s string, capital bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			capital = true
			continue
		case capital:
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		capital = false
	}
	return b.String()
}

// A rewriter makes of the model's paths those of a type.
type rewriter struct {
	*published
	typ  *resource.Type
	kind map[string]any
}

// item rewrites one path, which has rest after the resource.
func (w *rewriter) item(model map[string]any, rest string) map[string]any {
	out, _ := w.value(model).(map[string]any)
	list, _ := out["get"].(map[string]any)
	for _, method := range []string{"get", "put", "post", "patch", "delete"} {
		op, ok := out[method].(map[string]any)
		if !ok {
			continue
		}
		op["x-kubernetes-group-version-kind"] = w.kind
		switch responses := object.Map(op, "responses"); {
		case method == "patch":
			delete(responses, "201")
		case method == "get" && rest != "":
			op["parameters"] = []any{map[string]any{"name": "resourceVersion", "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true}}}
		case method == "delete" && rest == "":
			delete(op, "requestBody")
			op["parameters"] = list["parameters"]
		}
	}
	if !w.typ.Namespaced {
		out["parameters"] = slices.DeleteFunc(object.List(out, "parameters"), func(p any) bool {
			m, _ := p.(map[string]any)
			return m["name"] == "namespace"
		})
	}
	return out
}

// value rewrites what is in a path.
func (w *rewriter) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			switch name {
			case "content":
				out[name] = w.content(member)
			case "operationId":
				out[name] = w.operation(object.String(v, name))
			case "tags":
				out[name] = []any{groupName(w.typ.Group, false) + "_" + w.typ.GroupVersion.Version}
			case "$ref":
				out[name] = w.reference(object.String(v, name))
			default:
				out[name] = w.value(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = w.value(e)
		}
		return out
	}
	return v
}

// content keeps the media types that custom resources are spoken of in.
func (w *rewriter) content(v any) any {
	types, _ := v.(map[string]any)
	out := map[string]any{}
	for name, form := range types {
		switch {
		case name == "*/*":
			out["application/json"], out["application/yaml"] = w.value(form), w.value(form)
		case strings.Contains(name, "protobuf"), strings.Contains(name, "stream=watch"), strings.Contains(name, "strategic"):
		default:
			out[name] = w.value(form)
		}
	}
	return out
}

// operation renames an operation: "readAppsV1NamespacedDeployment".
func (w *rewriter) operation(id string) string {
	id = strings.Replace(id, groupName(modelGroup, true)+"V1", groupName(w.typ.Group, true)+join(w.typ.GroupVersion.Version, true), 1)
	if !w.typ.Namespaced {
		id = strings.Replace(id, "Namespaced", "", 1)
	}
	return join(strings.Replace(id, modelKind, w.typ.Kind, 1), false)
}

func (w *rewriter) reference(ref string) string {
	name := strings.TrimPrefix(ref, schemaReference)
	switch own, _ := strings.CutPrefix(name, "io.k8s.api.apps.v1."); own {
	case modelKind:
		return schemaReference + schemaName(w.typ, w.typ.Kind)
	case modelKind + "List":
		return schemaReference + schemaName(w.typ, w.typ.ListKind)
	}
	w.need(name)
	return ref
}
