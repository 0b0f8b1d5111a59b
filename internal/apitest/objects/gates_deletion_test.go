package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestUnsafeDeletion checks what AllowUnsafeMalformedObjectDeletion, which is on in v1.37,
// changes: the options of deletions, and errors about objects that do not convert.
func TestUnsafeDeletion(t *testing.T) {
	const (
		option  = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
		widgets = "/apis/example.com/v1/widgets"
		failed  = "conversion webhook for example.com/v1beta1, Kind=Widget failed: "
	)
	definition := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"widgets","kind":"Widget"},"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/convert"}}},"versions":[
		{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	for _, tt := range []struct {
		release, method, path string
		code                  int
		message               string
	}{
		{"1.36", "DELETE", apitest.ConfigMapsPath + option, 200, ""},
		{"1.37", "DELETE", apitest.ConfigMapsPath + option, 422, "is not allowed with DELETECOLLECTION"},
		{"1.37", "DELETE", apitest.ConfigMapsPath + "/a" + option + "&gracePeriodSeconds=0", 422, "cannot be set together with .gracePeriodSeconds"},
		{"1.36", "GET", widgets + "/a", 500, failed},
		{"1.37", "GET", widgets + "/a", 500, "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /example.com/widgets/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="},
		{"1.37", "PATCH", widgets + "/a", 500, "object not decodable revision="},
		{"1.37", "DELETE", widgets + "/a", 500, "StorageError: corrupt object"},
	} {
		t.Run(tt.release+" "+tt.method+" "+tt.path, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release),
				fakeapi.WithObjects(definition, `{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"a"}}`))
			code, body := apitest.Do(t, srv, tt.method, tt.path, map[string]string{"PATCH": "{}"}[tt.method])
			assert.Equal(t, tt.code, code, body)
			if tt.message != "" {
				assert.Contains(t, body["message"], tt.message)
			}
		})
	}
}
