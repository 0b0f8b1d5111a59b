package definitions

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// TestDefinitions checks that each definition is established, and that discovery, OpenAPI
// and the custom resources are served.
func TestDefinitions(t *testing.T) {
	all, err := definitions()
	require.NoError(t, err)
	require.Greater(t, len(all), 60)
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	rejected := map[string]bool{}
	for _, d := range all {
		t.Run(d.Metadata.Name, func(t *testing.T) {
			code, answer := request(t, srv, "POST", path, d.text)
			require.Equal(t, 201, code, "%s", answer)
			assert.Equal(t, expectedConditions(d), conditions(t, srv, d))
			for _, v := range d.Spec.Versions {
				if v.Served && checkVersion(t, srv, d, v) {
					rejected[d.Metadata.Name] = true
				}
			}
		})
	}
	assert.Len(t, rejected, len(rejections))
	t.Run("OpenAPI v2", func(t *testing.T) {
		var doc struct {
			Definitions map[string]struct {
				Kinds []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
			}
		}
		get(t, srv, "/openapi/v2", &doc)
		kinds := map[string]bool{}
		for _, d := range doc.Definitions {
			for _, k := range d.Kinds {
				kinds[k.Group+"/"+k.Version+" "+k.Kind] = true
			}
		}
		for _, d := range all {
			for _, v := range d.Spec.Versions {
				kind := d.Spec.Group + "/" + v.Name + " " + d.Spec.Names.Kind
				assert.Equal(t, v.Served, kinds[kind], kind)
			}
		}
	})
}

// expectedConditions returns the conditions of an established definition.
func expectedConditions(d definition) []string {
	all := []string{"NamesAccepted=True", "Established=True"}
	if strings.HasSuffix(d.Spec.Group, ".k8s.io") {
		all = append([]string{"KubernetesAPIApprovalPolicyConformant=True"}, all...)
	}
	return all
}

func conditions(t *testing.T, srv *fakeapi.Server, d definition) []string {
	var stored struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	get(t, srv, path+"/"+d.Metadata.Name, &stored)
	var all []string
	for _, c := range stored.Status.Conditions {
		all = append(all, c.Type+"="+c.Status)
	}
	return all
}

// checkVersion checks that a version is served. It reports whether the server rejects a
// minimal custom resource.
func checkVersion(t *testing.T, srv *fakeapi.Server, d definition, v version) (rejected bool) {
	group := "/apis/" + d.Spec.Group + "/" + v.Name
	var resources struct{ Resources []struct{ Name, Kind string } }
	get(t, srv, group, &resources)
	assert.Contains(t, resources.Resources, struct{ Name, Kind string }{d.Spec.Names.Plural, d.Spec.Names.Kind})

	var list struct{ Kind string }
	get(t, srv, group+"/"+d.Spec.Names.Plural, &list)
	assert.Equal(t, d.Spec.Names.Kind+"List", list.Kind)

	var doc struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]map[string]any }
	}
	get(t, srv, "/openapi/v3"+group, &doc)
	assert.Contains(t, doc.Paths, group+"/"+d.Spec.Names.Plural)
	for name, schema := range doc.Components.Schemas {
		if strings.HasSuffix(name, "."+v.Name+"."+d.Spec.Names.Kind) {
			assert.Equal(t, v.Schema.OpenAPIV3Schema["required"], schema["required"])
		}
	}

	if d.Spec.Scope == "Namespaced" {
		group += "/namespaces/default"
	}
	obj := object(v.Schema.OpenAPIV3Schema)
	obj["apiVersion"], obj["kind"] = d.Spec.Group+"/"+v.Name, d.Spec.Names.Kind
	obj["metadata"] = map[string]any{"name": v.Name}
	create := func() (int, []byte) {
		body, err := json.Marshal(obj)
		require.NoError(t, err)
		return request(t, srv, "POST", group+"/"+d.Spec.Names.Plural, body)
	}
	code, answer := create()
	if rejection, ok := rejections[d.Metadata.Name]; ok && code != 201 {
		rejected = true
		var status struct{ Message string }
		require.NoError(t, json.Unmarshal(answer, &status))
		assert.Equal(t, 422, code)
		assert.Contains(t, status.Message, rejection.message)
		var spec map[string]any
		require.NoError(t, json.Unmarshal([]byte(rejection.spec), &spec))
		merge(obj["spec"].(map[string]any), spec)
		code, answer = create()
	}
	assert.Equal(t, 201, code, "%s", answer)
	return rejected
}

// get decodes the response of a GET, which must succeed.
func get(t testing.TB, srv *fakeapi.Server, path string, into any) {
	t.Helper()
	code, answer := request(t, srv, "GET", path, nil)
	require.Equal(t, 200, code, "%s: %s", path, answer)
	require.NoError(t, json.Unmarshal(answer, into))
}

func request(t testing.TB, srv *fakeapi.Server, method, path string, body []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := srv.Transport().RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, b
}
