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
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// The OpenAPI document of a custom resource is derived from the paths of Deployments in the
// documents of the release. Deployments have every path that a custom resource can have. A
// replacer changes the texts that differ.
const (
	modelPath  = "apis/apps/v1"
	modelGroup = "apps"
	modelName  = "deployments"
	modelKind  = "Deployment"
	metaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1."
)

// A model is the part of a release's document that other documents are derived from.
type model struct {
	release *release.Release
	paths   map[string]any // by what follows the namespace: "", "/{name}", ...
	across  map[string]any // the path of all namespaces
	schemas map[string]any
}

// models caches the models: func() (*model, error) by *release.Release.
var models sync.Map

func loadModel(p *release.Release) (*model, error) {
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
	doc, _, err := wire.DecodeUntyped(text, wire.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	paths := object.Map(doc, "paths")
	m := &model{release: p, paths: map[string]any{}, schemas: object.Map(doc, "components", "schemas")}
	m.across, _ = paths["/"+modelPath+"/"+modelName].(map[string]any)
	for path, item := range paths {
		if rest, ok := strings.CutPrefix(path, "/"+modelPath+"/namespaces/{namespace}/"+modelName); ok {
			m.paths[rest] = item
		}
	}
	return m, nil
}

// Document returns the OpenAPI v3 document of the types of one group version.
func Document(p *release.Release, types []*resource.Type) ([]byte, error) {
	m, err := loadModel(p)
	if err != nil {
		return nil, fmt.Errorf("model of OpenAPI documents: %w", err)
	}
	d := &documentBuilder{model: m, paths: map[string]any{}, schemas: map[string]any{}}
	for _, t := range types {
		d.add(t)
	}
	if options, ok := d.schemas[metaPrefix+"DeleteOptions"].(map[string]any); ok {
		options = maps.Clone(options)
		options["x-kubernetes-group-version-kind"] = openapi.Kinds(clientGroupVersions(p), "DeleteOptions")
		d.schemas[metaPrefix+"DeleteOptions"] = options
	}
	return openapi.AppendDocument(nil, map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
		"paths": d.paths, "components": map[string]any{"schemas": d.schemas},
	})
}

// clientGroupVersions returns the group versions of a release that client-go has
// Go types for.
func clientGroupVersions(p *release.Release) []resource.GroupVersion {
	return slices.DeleteFunc(p.SchemeGroupVersions(), func(gv resource.GroupVersion) bool {
		switch gv.Group {
		case "admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io":
			return true
		}
		return false
	})
}

// publishOptions returns how a release publishes schemas.
func publishOptions(p *release.Release) schema.PublishOptions {
	return schema.PublishOptions{OmitExamples: !p.Has(behavior.CRDExamples)}
}

// V2Overrides returns what the conversion of the v3 document of types to v2 cannot
// derive.
func V2Overrides(p *release.Release, types []*resource.Type) openapi.V2Overrides {
	v2 := openapi.V2Overrides{Definitions: map[string]any{}, Consumes: []string{"application/json", "application/yaml"}}
	for _, t := range types {
		v2.Definitions[schemaName(t, t.Kind)] = withKind(p, t, t.Kind, schema.PublishV2(t.Codec.(*customCodec).props, publishOptions(p)))
	}
	return v2
}

// withKind adds the kind and the selectable fields to a schema.
func withKind(p *release.Release, t *resource.Type, kind string, s map[string]any) map[string]any {
	s["x-kubernetes-group-version-kind"] = []any{groupVersionKind(t, kind)}
	var selectableFields []any
	if !p.Has(behavior.OmitsEmptySelectableFields) {
		selectableFields = []any{} // these releases publish an empty list
	}
	for _, f := range t.SelectableFields {
		selectableFields = append(selectableFields, map[string]any{"fieldPath": f.Label})
	}
	if selectableFields != nil {
		s["x-kubernetes-selectable-fields"] = selectableFields
	}
	return s
}

func groupVersionKind(t *resource.Type, kind string) map[string]any {
	return map[string]any{"group": t.Group, "version": t.GroupVersion.Version, "kind": kind}
}

// A documentBuilder builds an OpenAPI document.
type documentBuilder struct {
	*model
	paths, schemas map[string]any
}

func (d *documentBuilder) add(t *resource.Type) {
	d.schemas[schemaName(t, t.Kind)] = withKind(d.release, t, t.Kind, schema.PublishV3(t.Codec.(*customCodec).props, publishOptions(d.release)))
	d.schemas[schemaName(t, t.ListKind)] = withKind(d.release, t, t.ListKind, schema.PublishList(t.Kind, t.ListKind, t.Name, schemaReference+schemaName(t, t.Kind)))
	d.addSchema(metaPrefix + "ListMeta")
	d.addSchema(metaPrefix + "ObjectMeta")

	w := &rewriter{documentBuilder: d, typ: t, kind: groupVersionKind(t, t.Kind), texts: texts(t.Kind)}
	for _, p := range object.List(d.across, "parameters") {
		if p, _ := p.(map[string]any); p["name"] == "resourceVersion" {
			w.resourceVersion = p
		}
	}
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

// addSchema adds a schema of the model and the schemas that it refers to.
func (d *documentBuilder) addSchema(name string) {
	if _, have := d.schemas[name]; have || d.model.schemas[name] == nil {
		return
	}
	d.schemas[name] = d.model.schemas[name]
	d.addReferenced(d.model.schemas[name])
}

// addReferenced adds the schemas that v refers to.
func (d *documentBuilder) addReferenced(v any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			d.addSchema(strings.TrimPrefix(ref, schemaReference))
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			d.addReferenced(v[name])
		}
	case []any:
		for _, e := range v {
			d.addReferenced(e)
		}
	}
}

// schemaName returns the name of the schema of a kind, such as "com.example.v1.Widget".
func schemaName(t *resource.Type, kind string) string {
	parts := strings.Split(t.Group, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + t.GroupVersion.Version + "." + kind
}

// groupName returns the name of a group in tags or, with a capital, in operations, such as
// "ExampleCom".
func groupName(group string, capital bool) string {
	return camelCase(strings.TrimSuffix(group, ".k8s.io"), capital)
}

// camelCase joins the words of a name in camel case. The first word starts with a capital
// if capital is true. Characters other than letters and digits separate words.
func camelCase(s string, capital bool) string {
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

// A rewriter derives the paths of a type from those of the model.
type rewriter struct {
	*documentBuilder
	typ             *resource.Type
	kind            map[string]any
	texts           *strings.Replacer
	resourceVersion map[string]any // a parameter
}

// texts returns a Replacer of descriptions for a kind.
func texts(kind string) *strings.Replacer {
	article := " a "
	switch {
	case strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss"):
		article = " " // kube-apiserver takes it for a plural
	case strings.ContainsRune("AEIOUaeiou", rune(kind[0])):
		article = " an "
	}
	return strings.NewReplacer(
		"list or watch objects of kind "+modelKind, "list objects of kind "+kind,
		"name of the Scale", "name of the "+kind,
		" a "+modelKind, article+kind,
		modelKind, kind,
	)
}

// item rewrites a path item. rest is the part of the path after the resource.
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
			op["parameters"] = []any{w.resourceVersion}
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

// value rewrites a value in a path item.
func (w *rewriter) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			switch name {
			case "content":
				out[name] = w.content(member)
			case "description":
				out[name] = w.texts.Replace(object.String(v, name))
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

// content rewrites a content object and removes media types that custom resources do not
// support.
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

// operation renames an operation such as "readAppsV1NamespacedDeployment".
func (w *rewriter) operation(id string) string {
	id = strings.Replace(id, groupName(modelGroup, true)+"V1", groupName(w.typ.Group, true)+camelCase(w.typ.GroupVersion.Version, true), 1)
	if !w.typ.Namespaced {
		id = strings.Replace(id, "Namespaced", "", 1)
	}
	return camelCase(strings.Replace(id, modelKind, w.typ.Kind, 1), false)
}

func (w *rewriter) reference(ref string) string {
	name := strings.TrimPrefix(ref, schemaReference)
	switch own, _ := strings.CutPrefix(name, "io.k8s.api.apps.v1."); own {
	case modelKind:
		return schemaReference + schemaName(w.typ, w.typ.Kind)
	case modelKind + "List":
		return schemaReference + schemaName(w.typ, w.typ.ListKind)
	}
	w.addSchema(name)
	return ref
}
