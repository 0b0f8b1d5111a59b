package custom_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestCRDValidationRatcheting checks what the gate does in v1.32, where it can be turned
// off: unchanged values that became invalid stay valid, and rules have optionalOldSelf.
func TestCRDValidationRatcheting(t *testing.T) {
	const (
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		widgets     = "/apis/example.com/v1/namespaces/default/widgets"
		definition  = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"size":{"type":"integer"},"shape":{"type":"string"},"color":{"type":"string"}}}}}]}}`
	)
	for _, tt := range []struct {
		name   string
		on     bool
		rule   string // whose oldSelf is optional only with the gate
		errors []string
	}{
		{"on", true, "oldSelf.hasValue()", nil},
		{"off", false, "self == oldSelf", []string{"size: Invalid value: 2", "shape: Invalid value: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("1.32"), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"CRDValidationRatcheting": tt.on}}),
				fakeapi.WithObjects(definition, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"default"},"size":2,"shape":"odd"}`))
			stricter := strings.NewReplacer(`"size":{`, `"size":{"maximum":1,`, `"shape":{`, `"shape":{"x-kubernetes-validations":[{"rule":"self != 'odd'"}],`).Replace(definition)
			code, body := apitest.Do(t, srv, "PATCH", definitions+"/widgets.example.com", stricter)
			require.Equal(t, 200, code, body)
			for _, want := range tt.errors {
				_, body := apitest.Do(t, srv, "PATCH", widgets+"/a", `{"color":"red"}`)
				assert.Contains(t, body["message"], want)
			}
			if tt.errors == nil {
				code, body := apitest.Do(t, srv, "PATCH", widgets+"/a", `{"color":"red"}`)
				assert.Equal(t, 200, code, body)
			}
			ruled := strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget", `"shape":{`, `"shape":{"x-kubernetes-validations":[{"rule":"`+tt.rule+`","optionalOldSelf":true}],`).Replace(definition)
			code, body = apitest.Do(t, srv, "POST", definitions, ruled)
			assert.Equal(t, 201, code, body)
			spec := body["spec"].(map[string]any)
			props := spec["versions"].([]any)[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)
			rule := props["shape"].(map[string]any)["x-kubernetes-validations"].([]any)[0].(map[string]any)
			assert.Equal(t, tt.on, rule["optionalOldSelf"] == true)
		})
	}
}
