package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
)

// TestCheckBody checks the errors of bodies whose kind is not that of the request: its versions
// that kube-apiserver no longer serves still decode.
func TestCheckBody(t *testing.T) {
	deployment := Kind{GroupVersion{"apps", "v1"}, "Deployment"}
	event := Kind{GroupVersion{"", "v1"}, "Event"}
	definition := Kind{GroupVersion{"apiextensions.k8s.io", "v1"}, "CustomResourceDefinition"}
	for _, tt := range []struct {
		name string
		want Kind
		body string
		err  string
	}{
		{"another version", deployment, `{"apiVersion":"apps/v1beta2","kind":"Deployment"}`, "the API version in the data (apps/v1beta2) does not match the expected API version (apps/v1)"},
		{"the group it came from", deployment, `{"apiVersion":"extensions/v1beta1","kind":"Deployment"}`, "the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)"},
		{"a group that shares it", event, `{"apiVersion":"events.k8s.io/v1beta1","kind":"Event"}`, "the API version in the data (events.k8s.io/v1beta1) does not match the expected API version (v1)"},
		{"a definition", definition, `{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition","spec":{"validation":{"openAPIV3Schema":{"items":[{"type":"string"}]}}}}`, "the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)"},
		{"another kind of that group", deployment, `{"apiVersion":"extensions/v1beta1","kind":"Ingress"}`, `Ingress in version "v1beta1" cannot be handled as a Deployment: converting (v1beta1.Ingress) to (apps.Deployment): unknown conversion`},
		{"a wrong field of another version", deployment, `{"apiVersion":"apps/v1beta1","kind":"Deployment","spec":{"replicas":"x"}}`, `Deployment in version "v1beta1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`},
		{"a version that never was", deployment, `{"apiVersion":"apps/v2","kind":"Deployment"}`, `Deployment in version "v2" cannot be handled as a Deployment: no kind "Deployment" is registered for version "apps/v2" in scheme "pkg/runtime/scheme.go:111"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := BuiltinCodec(tt.want)
			doc, err := codec.JSON.Parse([]byte(tt.body))
			require.NoError(t, err)
			_, _, err = c.CheckBody(doc, false)
			assert.EqualError(t, err, tt.err)
		})
	}
}
