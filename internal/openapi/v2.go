package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A fragment is the contribution of one v3 document to the v2 document.
type fragment struct {
	info            json.RawMessage
	paths           map[string]json.RawMessage
	definitions     map[string]json.RawMessage
	parameters      map[string]parameterV2
	securitySchemes map[string]json.RawMessage
}

// A documentV3 has the parts of an OpenAPI v3 document that are converted.
type documentV3 struct {
	Info       json.RawMessage
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas         map[string]any
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
	Kind        json.RawMessage       `json:"x-kubernetes-group-version-kind,omitempty"`
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

type reference struct {
	Ref string `json:"$ref"`
}

// merge returns the v2 document of some v3 documents. Of conflicting
// definitions, the one of the last path is used.
func merge(documents map[string]*Document) ([]byte, error) {
	var all struct {
		Swagger             string                     `json:"swagger"`
		Info                json.RawMessage            `json:"info,omitempty"`
		Paths               map[string]json.RawMessage `json:"paths"`
		Definitions         map[string]json.RawMessage `json:"definitions,omitempty"`
		Parameters          map[string]parameterV2     `json:"parameters,omitempty"`
		SecurityDefinitions map[string]json.RawMessage `json:"securityDefinitions,omitempty"`
		Security            []map[string][]string      `json:"security,omitempty"`
	}
	all.Swagger = "2.0"
	all.Paths = map[string]json.RawMessage{}
	all.Definitions = map[string]json.RawMessage{}
	all.Parameters = map[string]parameterV2{}
	all.SecurityDefinitions = map[string]json.RawMessage{}
	for _, path := range slices.Sorted(maps.Keys(documents)) {
		f, err := documents[path].v2()
		if err != nil {
			return nil, fmt.Errorf("OpenAPI of %s: %w", path, err)
		}
		if f.info != nil {
			all.Info = f.info
		}
		maps.Copy(all.Paths, f.paths)
		maps.Copy(all.Definitions, f.definitions)
		maps.Copy(all.Parameters, f.parameters)
		maps.Copy(all.SecurityDefinitions, f.securitySchemes)
	}
	for _, name := range slices.Sorted(maps.Keys(all.SecurityDefinitions)) {
		all.Security = append(all.Security, map[string][]string{name: {}})
	}
	return json.Marshal(all)
}

// convert converts a v3 document, without the overrides for v2.
func convert(document []byte, v2 V2Overrides) (*fragment, error) {
	var doc documentV3
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	f := &fragment{
		info:            doc.Info,
		paths:           make(map[string]json.RawMessage, len(doc.Paths)),
		definitions:     make(map[string]json.RawMessage, len(doc.Components.Schemas)),
		parameters:      map[string]parameterV2{},
		securitySchemes: doc.Components.SecuritySchemes,
	}
	for name, schema := range doc.Components.Schemas {
		definition, ok := v2.Definitions[name]
		if !ok {
			definition = convertSchema(schema)
		}
		b, err := json.Marshal(definition)
		if err != nil {
			return nil, err
		}
		f.definitions[name] = b
	}
	for path, item := range doc.Paths {
		converted := make(map[string]any, len(item))
		for key, raw := range item {
			var err error
			switch key {
			case "get", "put", "post", "delete", "options", "head", "patch":
				converted[key], err = f.operation(path, key, raw, v2.Consumes)
			case "parameters":
				converted[key], err = f.pathParameters(path, raw)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		b, err := json.Marshal(converted)
		if err != nil {
			return nil, err
		}
		f.paths[path] = b
	}
	return f, nil
}

func (f *fragment) pathParameters(path string, raw json.RawMessage) ([]any, error) {
	var params []parameterV3
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	return f.shared(path, "", convertParameters(params)), nil
}

func (f *fragment) operation(path, method string, raw json.RawMessage, bodyless []string) (operationV2, error) {
	var op operationV3
	if err := json.Unmarshal(raw, &op); err != nil {
		return operationV2{}, err
	}
	out := operationV2{
		Description: op.Description,
		Schemes:     []string{"https"},
		Tags:        op.Tags,
		OperationID: op.OperationID,
		Responses:   make(map[string]responseV2, len(op.Responses)),
		Deprecated:  op.Deprecated,
		Action:      op.Action,
		Kind:        op.Kind,
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
	out.Parameters = f.shared(path, method, params)

	ofKind := false // set for nearly all operations; some return a plain string
	for code, response := range op.Responses {
		r := responseV2{Description: response.Description}
		if r.Description == "" {
			n, _ := strconv.Atoi(code)
			r.Description = http.StatusText(n)
		}
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
func (f *fragment) shared(path, method string, params []parameterV2) []any {
	slices.SortStableFunc(params, func(a, b parameterV2) int { return strings.Compare(a.Name, b.Name) })
	var out []any
	for _, p := range params {
		name := sharedName(path, method, p)
		if name == "" {
			out = append(out, p)
			continue
		}
		f.parameters[name] = p
		out = append(out, reference{"#/parameters/" + name})
	}
	return out
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
