package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// An api is what a server says of itself in /openapi/v2.
type api struct {
	kinds       []*servedKind
	definitions map[string]*definitionField
}

// A servedKind is a resource in one version.
type servedKind struct {
	collection   string // its path, of objects in namespaces with {id}
	group        string
	version      string
	kind         string
	schema       *definitionField
	subresources []string // those that can be written with an object of the kind
	created      bool     // there are no other verbs than create
}

// A definitionField is the schema of a field, or a definition.
type definitionField struct {
	Ref                  string                      `json:"$ref"`
	Type                 string                      `json:"type"`
	Format               string                      `json:"format"`
	Enum                 []any                       `json:"enum"`
	Items                *definitionField            `json:"items"`
	AdditionalProperties *definitionField            `json:"additionalProperties"`
	Properties           map[string]*definitionField `json:"properties"`
	Required             []string                    `json:"required"`
}

var collectionPath = regexp.MustCompile(`^/(api/v1|apis/[^/]+/[^/]+)/(namespaces/\{namespace\}/)?[a-z]+$`)

// readAPI reads the API of a server.
func readAPI(e *server) (*api, error) {
	type operation struct {
		Kind       *struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
		Parameters []struct {
			In     string
			Schema *definitionField
		}
	}
	var document struct {
		Paths       map[string]map[string]json.RawMessage
		Definitions map[string]*definitionField
	}
	req, err := http.NewRequest(http.MethodGet, e.url+"/openapi/v2", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+e.token)
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&document); err != nil {
		return nil, fmt.Errorf("/openapi/v2: %w", err)
	}
	out := &api{definitions: document.Definitions}
	for path, methods := range document.Paths {
		if methods["post"] == nil || !collectionPath.MatchString(path) || strings.HasPrefix(path, "/apis/") && strings.Contains(path, ".example.com/") {
			continue
		}
		var create operation
		if err := json.Unmarshal(methods["post"], &create); err != nil {
			return nil, fmt.Errorf("/openapi/v2: %s: %w", path, err)
		}
		k := &servedKind{
			collection: strings.Replace(path, "{namespace}", "{id}", 1), created: methods["get"] == nil,
			group: create.Kind.Group, version: create.Kind.Version, kind: create.Kind.Kind,
		}
		for _, p := range create.Parameters {
			if p.In == "body" {
				k.schema = p.Schema
			}
		}
		for _, sub := range []string{"approval", "ephemeralcontainers", "finalize", "resize", "status"} {
			if document.Paths[path+"/{name}/"+sub] != nil {
				k.subresources = append(k.subresources, "/"+sub)
			}
		}
		out.kinds = append(out.kinds, k)
	}
	slices.SortFunc(out.kinds, func(a, b *servedKind) int { return cmp.Compare(a.collection, b.collection) })
	return out, nil
}

// resolve returns the definition that a field refers to, with its name, or the field.
func (a *api) resolve(f *definitionField) (*definitionField, string) {
	if f.Ref == "" {
		return f, ""
	}
	name := strings.TrimPrefix(f.Ref, "#/definitions/")
	return a.definitions[name], name
}

func (k *servedKind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}
