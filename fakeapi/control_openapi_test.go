//go:build go1.24

package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/story"
	_ "github.com/kubefake/kubefake/scenarios" // plays scenarios
)

// openAPI returns the OpenAPI document of the control endpoint.
func openAPI(t *testing.T, srv *fakeapi.Server) map[string]any {
	t.Helper()
	code, document := apitest.Do(t, srv, "GET", "/debug/fakeapi/openapi", "")
	require.Equal(t, http.StatusOK, code)
	return document
}

// at returns the value at a path of names in a document.
func at(v any, path ...string) any {
	for _, name := range path {
		v, _ = v.(map[string]any)[name]
	}
	return v
}

// conforms returns how a JSON value differs from a schema. A field that the schema does
// not have differs too.
func conforms(document map[string]any, schema map[string]any, v any, path string) []string {
	if ref, ok := schema["$ref"].(string); ok {
		return conforms(document, at(document, "components", "schemas", strings.TrimPrefix(ref, "#/components/schemas/")).(map[string]any), v, path)
	}
	if all, ok := schema["allOf"].([]any); ok {
		return conforms(document, all[0].(map[string]any), v, path)
	}
	kinds := map[string]bool{"": true}
	var errs []string
	switch v := v.(type) {
	case string:
		kinds["string"] = true
		if enum, ok := schema["enum"].([]any); ok && !slices.Contains(enum, any(v)) {
			errs = append(errs, fmt.Sprintf("%s: %q is not in %v", path, v, enum))
		}
	case bool:
		kinds["boolean"] = true
	case float64:
		kinds["number"], kinds["integer"] = true, v == float64(int64(v))
	case []any:
		kinds["array"] = true
		if items, ok := schema["items"].(map[string]any); ok {
			for i, item := range v {
				errs = append(errs, conforms(document, items, item, fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
	case map[string]any:
		kinds["object"] = true
		properties, described := schema["properties"].(map[string]any)
		if required, ok := schema["required"].([]any); ok {
			for _, name := range required {
				if _, ok := v[name.(string)]; !ok {
					errs = append(errs, fmt.Sprintf("%s has no %s", path, name))
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			property, ok := properties[name].(map[string]any)
			switch {
			case ok:
				errs = append(errs, conforms(document, property, v[name], path+"."+name)...)
			case described:
				errs = append(errs, fmt.Sprintf("%s.%s is not described", path, name))
			}
		}
	}
	kind, _ := schema["type"].(string)
	if !kinds[kind] {
		errs = append(errs, fmt.Sprintf("%s is %T, not %s", path, v, kind))
	}
	return errs
}

// oneSearch has one of everything that a search leaves.
type oneSearch struct{}

func (oneSearch) Explored() (control.Explored, error) {
	found := []control.ExploredFinding{{Oracle: "end-state", Subject: "pods", Plan: []json.RawMessage{json.RawMessage("{}")}, Decisions: []string{"crash"}}}
	return control.Explored{Directory: "plans", Systems: []control.ExploredSystem{{
		Running: []control.RunningSearch{{Summary: "1 of 2"}}, Findings: found, Unrepeated: found, Coverage: []control.ExploredCoverage{{Sort: "write", Action: "crash"}},
		Permissions: []control.ExploredPermission{{Verb: "get", Resource: "pods"}},
	}}}, nil
}

func (oneSearch) Story(string) (*story.Story, error) {
	return &story.Story{Format: story.Format, Revisions: []story.Revision{}, Readers: []story.Reader{}, Requests: []story.Request{}, Notes: []story.Note{}}, nil
}

// Every request of the OpenAPI document works, and its answer is as described.
func TestControlOpenAPI(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithObjects(apitest.ConfigMap("a", "1")),
		fakeapi.WithProcess("manager", func(os.Signal) error { return nil }))
	backdoor.Of(srv).ShowSearches(oneSearch{})
	document := openAPI(t, srv)
	call := func(method, path, query, body string) (int, any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), strings.ToUpper(method), srv.URL+path+query, strings.NewReader(body))
		require.NoError(t, err)
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		var answer any
		require.NoError(t, json.NewDecoder(bytes.NewReader(b)).Decode(&answer), "%s", b)
		return resp.StatusCode, answer
	}
	// Something for every list.
	call("POST", "/debug/fakeapi/usage", "", "")
	code, _ := call("POST", "/debug/fakeapi/faults", "", `[{"resource": "pods", "code": 500, "retryAfter": "1s", "lifetime": "1h", "times": 1}, {"resource": "pods", "watch": "pause", "watches": "new"}]`)
	require.Equal(t, http.StatusOK, code)
	for _, path := range []string{"/api/v1/pods", "/api/v1/configmaps", "/api/v1/namespaces/default/configmaps/none"} {
		call("GET", path, "", "")
	}
	call("POST", "/api/v1/namespaces/default/configmaps", "", `{"metadata":{"name":"b"}}`)
	call("POST", "/api/v1/namespaces/default/configmaps", "", `{"metadata":{"name":"b"}}`)

	requests := 0
	paths := document["paths"].(map[string]any)
	const reset = "/debug/fakeapi/reset"
	for _, phase := range []struct {
		method string
		resets bool
	}{{"post", false}, {"get", false}, {"delete", false}, {"post", true}} { // what is made is there to be read and ended
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			method := phase.method
			operation, ok := at(paths, path, method).(map[string]any)
			if !ok || phase.resets != (path == reset) {
				continue
			}
			requests++
			query, body := "", ""
			if parameters, ok := operation["parameters"].([]any); ok {
				query = fmt.Sprintf("?%v=%v", at(parameters[0], "name"), at(parameters[0], "example"))
			}
			if operation["requestBody"] != nil {
				example, err := json.Marshal(at(operation, "requestBody", "content", "application/json", "example"))
				require.NoError(t, err)
				body = string(example)
			}
			if path == "/debug/fakeapi/restore" {
				call("POST", "/debug/fakeapi/snapshot", "", body)
			}
			code, answer := call(method, path, query, body)
			name := method + " " + path + query
			require.Equal(t, http.StatusOK, code, "%s: %v", name, answer)
			schema := at(operation, "responses", "200", "content", "application/json", "schema").(map[string]any)
			assert.Empty(t, conforms(document, schema, answer, ""), name)
			failure := at(operation, "responses", "default", "content", "application/json", "schema")
			assert.Equal(t, map[string]any{"$ref": "#/components/schemas/Status"}, failure, name)
		}
	}
	assert.Greater(t, requests, 20)
}

// A request with a field that the document does not describe fails.
func TestControlUnknownField(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for path, body := range map[string]string{"lag": `{"resorce": "pods", "by": "3s"}`, "compact": `{"watch": true}`, "faults": `{"verbs": "get", "code": 500}`} {
		code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/"+path, body)
		assert.Equal(t, http.StatusBadRequest, code, path)
		assert.Contains(t, answer["message"], "unknown field", path)
	}
	code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/compact", "{} {}")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Equal(t, "the body has more than one JSON value", answer["message"])
}
