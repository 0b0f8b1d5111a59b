package fakeapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

func TestRepresentations(t *testing.T) {
	const (
		table    = "application/json;as=Table;v=v1;g=meta.k8s.io"
		metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

		metadataList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: foos.x.io}, spec: {group: x.io, scope: Cluster, names: {plural: foos, singular: foo, kind: Foo, listKind: FooList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`))
	for _, row := range []struct {
		name, method, path, accept, body string
		code                             int
		has                              string
	}{
		{"list as the metadata of one object", "GET", "/api/v1/configmaps", metadata, "", 406, "the requested object is a list (*core.ConfigMapList)"},
		{"list of custom resources as the metadata of one", "GET", "/apis/x.io/v1/foos", metadata, "", 406, "the requested object is a list (*unstructured.UnstructuredList)"},
		{"object as the metadata of a list", "POST", configMapsPath + "?dryRun=All", metadataList, `{"metadata":{"name":"a"}}`, 406, "the requested object is not a list (*core.ConfigMap)"},
		{"custom resource as the metadata of a list", "POST", "/apis/x.io/v1/foos?dryRun=All", metadataList, `{"apiVersion":"x.io/v1","kind":"Foo","metadata":{"name":"a"}}`, 500, `"message": "content is not a list",` + "\n" + `  "code": 500`},
		{"object that is not stored, as a Table", "POST", configMapsPath + "?dryRun=All", table, `{"metadata":{"name":"a"}}`, 201, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},`},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := http.NewRequest(row.method, srv.URL+row.path, strings.NewReader(row.body))
			require.NoError(t, err)
			req.Header.Set("Accept", row.accept)
			req.Header.Set("Content-Type", "application/json")
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, row.code, resp.StatusCode)
			assert.Contains(t, string(body), row.has)
		})
	}
}
