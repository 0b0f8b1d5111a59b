package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
)

// schemaFiles is the template of kubeconform for the names of the files that writeSchemas writes.
const schemaFiles = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"

// A schema is a JSON schema.
type schema = map[string]any

// writeSchemas writes the schemas of the kinds of a server with the definitions of a file, each one
// to a file, without references, as kubernetes-json-schema has them in its folders
// *-standalone-strict.
func writeSchemas(dir, definitions string) error {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithCRDs(os.DirFS(filepath.Dir(definitions)), filepath.Base(definitions)))
	if err != nil {
		return err
	}
	defer srv.Close()
	text, err := get(srv, "/openapi/v2")
	if err != nil {
		return err
	}
	var document struct{ Definitions map[string]schema }
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	for name, definition := range document.Definitions {
		var kinds []struct{ Group, Version, Kind string }
		text, err := json.Marshal(definition["x-kubernetes-group-version-kind"])
		if err == nil {
			err = json.Unmarshal(text, &kinds)
		}
		if err != nil {
			return err
		}
		if len(kinds) != 1 { // those of all groups, such as DeleteOptions
			continue
		}
		s := standalone{document.Definitions, []string{name}}.schema(definition)
		if text, err = json.Marshal(s); err != nil {
			return err
		}
		k := kinds[0]
		// In a template of kubeconform, the group of the core kinds is their version.
		file := filepath.Join(dir, cmp.Or(k.Group, k.Version), fmt.Sprintf("%s_%s.json", strings.ToLower(k.Kind), k.Version))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// get returns the body of an answer of a server.
func get(srv *fakeapi.Server, path string) ([]byte, error) {
	resp, err := (&http.Client{Transport: srv.Transport()}).Get(srv.URL + path)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, resp.Status, bytes.TrimSpace(text))
	}
	return text, err
}

// A standalone makes schemas without references of those of an OpenAPI document.
type standalone struct {
	definitions map[string]schema
	open        []string // the definitions around, of which one may be recursive
}

// schema returns a schema that allows null, and of objects no other members than those it has.
func (s standalone) schema(of schema) schema {
	if ref, ok := of["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		if slices.Contains(s.open, name) {
			return schema{}
		}
		return standalone{s.definitions, append(slices.Clip(s.open), name)}.schema(s.definitions[name])
	}
	if of["format"] == "int-or-string" || of["x-kubernetes-int-or-string"] == true {
		return schema{"type": []string{"string", "integer", "null"}}
	}
	out := schema{}
	for key, value := range of {
		switch child, _ := value.(schema); key {
		case "properties":
			properties := schema{}
			for name, property := range child {
				properties[name] = s.schema(property.(schema))
			}
			out[key] = properties
		case "items", "additionalProperties":
			out[key] = s.schema(child)
		case "type":
			out[key] = []any{value, "null"}
		default:
			out[key] = value
		}
	}
	if out["properties"] != nil && out["additionalProperties"] == nil && of["x-kubernetes-preserve-unknown-fields"] != true {
		out["additionalProperties"] = false
	}
	return out
}
