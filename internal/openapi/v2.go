package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
)

// A fragment is the contribution of a Set to the v2 document.
type fragment struct {
	info            json.RawMessage
	paths           map[string]json.RawMessage
	definitions     map[string]json.RawMessage
	parameters      map[string]json.RawMessage
	securitySchemes map[string]json.RawMessage
}

// A documentV3 has the parts of an OpenAPI v3 document that are converted.
type documentV3 struct {
	Info       json.RawMessage
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas         map[string]json.RawMessage
		SecuritySchemes map[string]json.RawMessage
	}
}

type operationV3 struct {
	Tags        []string
	Description string
	OperationID string
	Parameters  []parameterV3
	RequestBody struct {
		Content  map[string]mediaTypeV3
		Required bool
	}
	Responses map[string]struct {
		Description string
		Content     map[string]mediaTypeV3
	}
	Deprecated bool
	Action     string          `json:"x-kubernetes-action"`
	Kind       json.RawMessage `json:"x-kubernetes-group-version-kind"`
}

type parameterV3 struct {
	Name        string
	In          string
	Description string
	Required    bool
	Schema      struct {
		Type        string
		UniqueItems bool
	}
}

type mediaTypeV3 struct{ Schema any }

type operationV2 struct {
	Description string                `json:"description,omitempty"`
	Consumes    []string              `json:"consumes,omitempty"`
	Produces    []string              `json:"produces,omitempty"`
	Schemes     []string              `json:"schemes"`
	Tags        []string              `json:"tags,omitempty"`
	OperationID string                `json:"operationId,omitempty"`
	Parameters  []any                 `json:"parameters,omitempty"`
	Responses   map[string]responseV2 `json:"responses,omitempty"`
	Deprecated  bool                  `json:"deprecated,omitempty"`
	Action      string                `json:"x-kubernetes-action,omitempty"`
	Kind        any                   `json:"x-kubernetes-group-version-kind,omitempty"`
}

type parameterV2 struct {
	UniqueItems bool   `json:"uniqueItems,omitempty"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Name        string `json:"name"`
	In          string `json:"in"`
	Required    bool   `json:"required,omitempty"`
	Schema      any    `json:"schema,omitempty"` // of a body
}

type responseV2 struct {
	Description string `json:"description"`
	Schema      any    `json:"schema,omitempty"`
}

type securitySchemeV2 struct {
	Description string `json:"description,omitempty"`
	Type        string `json:"type"`
	Name        string `json:"name,omitempty"`
	In          string `json:"in,omitempty"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// A pathV2 has the operations of a path.
type pathV2 struct {
	Get        *operationV2 `json:"get,omitempty"`
	Put        *operationV2 `json:"put,omitempty"`
	Post       *operationV2 `json:"post,omitempty"`
	Delete     *operationV2 `json:"delete,omitempty"`
	Options    *operationV2 `json:"options,omitempty"`
	Head       *operationV2 `json:"head,omitempty"`
	Patch      *operationV2 `json:"patch,omitempty"`
	Parameters []any        `json:"parameters,omitempty"`
}

// merge returns the v2 document of some fragments and of other servers. What several of them
// have is that of the first one.
func merge(fragments []*fragment, remotes []*Remote) ([]byte, error) {
	all := newFragment()
	for _, f := range slices.Backward(fragments) {
		if f.info != nil {
			all.info = f.info
		}
		maps.Copy(all.paths, f.paths)
		maps.Copy(all.definitions, f.definitions)
		maps.Copy(all.parameters, f.parameters)
		maps.Copy(all.securitySchemes, f.securitySchemes)
	}
	for _, r := range remotes {
		if r.v2 == nil {
			continue
		}
		if err := all.addSpec(r.v2); err != nil {
			return nil, err
		}
	}
	out := []byte(`{"swagger":"2.0"`)
	if all.info != nil {
		out = append(append(out, `,"info":`...), all.info...)
	}
	var security []map[string][]string
	for _, name := range slices.Sorted(maps.Keys(all.securitySchemes)) {
		security = append(security, map[string][]string{name: {}})
	}
	for _, part := range []struct {
		name    string
		members map[string]json.RawMessage
	}{{"paths", all.paths}, {"definitions", all.definitions}, {"parameters", all.parameters}, {"securityDefinitions", all.securitySchemes}} {
		if len(part.members) == 0 && part.name != "paths" {
			continue
		}
		out = append(append(append(out, `,"`...), part.name...), `":{`...)
		for i, name := range slices.Sorted(maps.Keys(part.members)) {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendJSON(out, name); err != nil {
				return nil, err
			}
			out = append(append(out, ':'), part.members[name]...)
		}
		out = append(out, '}')
	}
	if security != nil {
		var err error
		if out, err = appendJSON(append(out, `,"security":`...), security); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func newFragment() *fragment {
	return &fragment{
		paths:           map[string]json.RawMessage{},
		definitions:     map[string]json.RawMessage{},
		parameters:      map[string]json.RawMessage{},
		securitySchemes: map[string]json.RawMessage{},
	}
}

// add converts a v3 document. What the fragment has from another document stays.
func (f *fragment) add(document []byte, v2 V2Overrides) error {
	var doc documentV3
	if err := json.Unmarshal(document, &doc); err != nil {
		return err
	}
	if f.info == nil {
		f.info = doc.Info
	}
	for name, raw := range doc.Components.SecuritySchemes {
		var scheme securitySchemeV2
		err := json.Unmarshal(raw, &scheme)
		if err == nil {
			f.securitySchemes[name], err = appendJSON(nil, scheme)
		}
		if err != nil {
			return err
		}
	}
	for name, raw := range doc.Components.Schemas {
		if f.definitions[name] != nil {
			continue
		}
		definition, ok := v2.Definitions[name]
		if !ok {
			var schema any
			if err := json.Unmarshal(raw, &schema); err != nil {
				return err
			}
			definition = convertSchema(schema)
		}
		if m, ok := definition.(map[string]any); ok && len(v2.GroupVersions) > 0 {
			if kind, ok := strings.CutPrefix(name, metaPrefix); ok && (kind == "DeleteOptions" || kind == "WatchEvent") {
				m[kindExtension] = Kinds(v2.GroupVersions, kind)
			}
		}
		b, err := encoder{}.appendValue(nil, definition)
		if err != nil {
			return err
		}
		f.definitions[name] = b
	}
	for path, item := range doc.Paths {
		converted := pathV2{}
		operations := map[string]**operationV2{
			"get": &converted.Get, "put": &converted.Put, "post": &converted.Post, "delete": &converted.Delete,
			"options": &converted.Options, "head": &converted.Head, "patch": &converted.Patch,
		}
		for key, raw := range item {
			var err error
			if operation := operations[key]; operation != nil {
				*operation, err = f.operation(path, raw, v2.Consumes)
			} else if key == "parameters" {
				converted.Parameters, err = f.pathParameters(raw)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		b, err := appendJSON(nil, converted)
		if err != nil {
			return err
		}
		f.paths[path] = b
	}
	return nil
}

const metaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1."

// Kinds returns the list of a kind in several group versions, which schemas have
// as x-kubernetes-group-version-kind.
func Kinds(in []resource.GroupVersion, kind string) []any {
	var all []any
	for _, gv := range in {
		all = append(all, map[string]any{"group": gv.Group, "version": gv.Version, "kind": kind})
	}
	return all
}

func (f *fragment) pathParameters(raw json.RawMessage) ([]any, error) {
	var params []parameterV3
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	return f.shared(convertParameters(params))
}

func (f *fragment) operation(path string, raw json.RawMessage, bodyless []string) (*operationV2, error) {
	var op operationV3
	if err := json.Unmarshal(raw, &op); err != nil {
		return nil, err
	}
	out := &operationV2{
		Description: op.Description,
		Schemes:     []string{"https"},
		Tags:        op.Tags,
		OperationID: op.OperationID,
		Responses:   make(map[string]responseV2, len(op.Responses)),
		Deprecated:  op.Deprecated,
		Action:      op.Action,
	}
	if op.Kind != nil {
		out.Kind = op.Kind
		// kube-apiserver sorts the members of all kinds but its aggregator's.
		if !strings.HasPrefix(path, "/apis/apiregistration.k8s.io/") {
			var sorted map[string]any
			if err := json.Unmarshal(op.Kind, &sorted); err != nil {
				return nil, err
			}
			out.Kind = sorted
		}
	}
	params := convertParameters(op.Parameters)
	if types := mediaTypes(op.RequestBody.Content); types != nil {
		out.Consumes = types
		params = append(params, parameterV2{
			Name:     "body",
			In:       "body",
			Required: op.RequestBody.Required,
			Schema:   convertSchema(op.RequestBody.Content[types[0]].Schema),
		})
	}
	var err error
	if out.Parameters, err = f.shared(params); err != nil {
		return nil, err
	}

	ofKind := false // set for nearly all operations; some return a plain string
	for code, response := range op.Responses {
		r := responseV2{Description: response.Description}
		if types := mediaTypes(response.Content); types != nil {
			r.Schema = convertSchema(response.Content[types[0]].Schema)
			if schema, _ := r.Schema.(map[string]any); schema["$ref"] != nil {
				ofKind = true
			}
			if len(types) > len(out.Produces) {
				out.Produces = types
			}
		}
		out.Responses[code] = r
	}
	// v3 does not declare what an operation without a body consumes.
	if out.Consumes == nil {
		switch {
		case op.Action != "":
			out.Consumes = bodyless
		case ofKind:
			out.Consumes = out.Produces
		}
	}
	return out, nil
}

func convertParameters(params []parameterV3) []parameterV2 {
	var out []parameterV2
	for _, p := range params {
		out = append(out, parameterV2{
			UniqueItems: p.Schema.UniqueItems,
			Type:        p.Schema.Type,
			Description: p.Description,
			Name:        p.Name,
			In:          p.In,
			Required:    p.Required,
		})
	}
	return out
}

// shared sorts parameters and replaces those that several operations share by
// references.
func (f *fragment) shared(params []parameterV2) ([]any, error) {
	slices.SortStableFunc(params, func(a, b parameterV2) int { return strings.Compare(a.Name, b.Name) })
	var out []any
	for _, p := range params {
		name, err := sharedName(p)
		if err != nil {
			return nil, err
		}
		if name == "" {
			out = append(out, p)
			continue
		}
		if f.parameters[name] == nil {
			if f.parameters[name], err = appendJSON(nil, p); err != nil {
				return nil, err
			}
		}
		out = append(out, reference{"#/parameters/" + name})
	}
	return out, nil
}

// mediaTypes returns the keys of a content in the order of v2, nil if there are
// none.
func mediaTypes(content map[string]mediaTypeV3) []string {
	return slices.SortedFunc(maps.Keys(content), func(a, b string) int {
		if c := cmp.Compare(rank(a), rank(b)); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
}

// mediaTypeOrder is the order of consumes and produces; other media types come
// last.
var mediaTypeOrder = []string{
	"text/plain",
	"application/json",
	"application/yaml",
	"application/vnd.kubernetes.protobuf",
	"application/json;stream=watch",
	"application/vnd.kubernetes.protobuf;stream=watch",
	"application/json-patch+json",
	"application/merge-patch+json",
	"application/strategic-merge-patch+json",
	"application/apply-patch+yaml",
}

func rank(mediaType string) int {
	if i := slices.Index(mediaTypeOrder, mediaType); i >= 0 {
		return i
	}
	return len(mediaTypeOrder)
}

// convertSchema returns the v2 encoding of a v3 schema: without defaults, null and
// alternatives, which v2 does not support. An alternative of a string and
// another scalar becomes a string. v is not changed. The result shares memory
// with it.
func convertSchema(v any) any {
	in, ok := v.(map[string]any)
	if !ok {
		return v // additionalProperties: true
	}
	if ref, ok := soleReference(in); ok {
		out := map[string]any{"$ref": ref}
		for key, value := range in {
			if key == "description" || strings.HasPrefix(key, "x-") {
				out[key] = value
			}
		}
		return out
	}
	out := make(map[string]any, len(in))
	for key, value := range in {
		switch key {
		case "default", "nullable", "oneOf", "anyOf", "not":
		case "items", "additionalProperties":
			out[key] = convertSchema(value)
		case "properties":
			properties, _ := value.(map[string]any)
			converted := make(map[string]any, len(properties))
			for name, p := range properties {
				converted[name] = convertSchema(p)
			}
			out[key] = converted
		case "allOf":
			list, _ := value.([]any)
			converted := make([]any, len(list))
			for i, s := range list {
				converted[i] = convertSchema(s)
			}
			out[key] = converted
		default:
			out[key] = value
		}
	}
	if _, typed := in["type"]; !typed && mayBeString(in["oneOf"]) {
		out["type"] = "string"
	}
	return out
}

// soleReference returns the v2 reference of a schema that is a reference. In
// v3, a reference with sibling members is in an allOf.
func soleReference(schema map[string]any) (string, bool) {
	if all, ok := schema["allOf"].([]any); ok && len(all) == 1 {
		schema, _ = all[0].(map[string]any)
	}
	ref, ok := schema["$ref"].(string)
	return strings.Replace(ref, "#/components/schemas/", "#/definitions/", 1), ok
}

func mayBeString(alternatives any) bool {
	list, _ := alternatives.([]any)
	return slices.ContainsFunc(list, func(s any) bool {
		schema, _ := s.(map[string]any)
		return schema["type"] == "string"
	})
}
