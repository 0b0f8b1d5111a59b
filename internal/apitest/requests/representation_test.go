package requests_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestRepresentations(t *testing.T) {
	const (
		table    = "application/json;as=Table;v=v1;g=meta.k8s.io"
		metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

		metadataList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

		selfReview = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
		tokens     = "/api/v1/namespaces/default/serviceaccounts/a/token"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: foos.x.io}, spec: {group: x.io, scope: Cluster, names: {plural: foos, singular: foo, kind: Foo, listKind: FooList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`,
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: default}}`))
	for _, row := range []struct {
		name, method, path, accept, body string
		code                             int
		has                              string
	}{
		{"list as the metadata of one object", "GET", "/api/v1/configmaps", metadata, "", 406, "the requested object is a list (*core.ConfigMapList)"},
		{"list of custom resources as the metadata of one", "GET", "/apis/x.io/v1/foos", metadata, "", 406, "the requested object is a list (*unstructured.UnstructuredList)"},
		{"object as the metadata of a list", "POST", apitest.ConfigMapsPath + "?dryRun=All", metadataList, `{"metadata":{"name":"a"}}`, 406, "the requested object is not a list (*core.ConfigMap)"},
		{"custom resource as the metadata of a list", "POST", "/apis/x.io/v1/foos?dryRun=All", metadataList, `{"apiVersion":"x.io/v1","kind":"Foo","metadata":{"name":"a"}}`, 500, `"message": "content is not a list",` + "\n" + `  "code": 500`},
		{"review as the metadata of one object", "POST", selfReview, metadata, `{}`, 201, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"creationTimestamp":"`},
		{"review as the metadata of a list", "POST", selfReview, metadataList, `{}`, 406, "the requested object is not a list (*authentication.SelfSubjectReview)"},
		{"review as a Table", "POST", selfReview, table, `{}`, 406, "only the following media types are accepted"},
		{"token as the metadata of a list", "POST", tokens, metadataList, `{}`, 406, "the requested object is not a list (*authentication.TokenRequest)"},
		{"token as the metadata of one object", "POST", tokens, metadata, `{}`, 201, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"`},
		{"object that is not stored, as a Table", "POST", apitest.ConfigMapsPath + "?dryRun=All", table, `{"metadata":{"name":"a"}}`, 201, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},`},
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

// A representation that the client cannot have fails a write after it is done, and a list after
// its other errors.
func TestRefusedRepresentations(t *testing.T) {
	const (
		table    = "application/json;as=Table;v=v1;g=meta.k8s.io"
		metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
		include  = "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty"
	)
	for _, row := range []struct {
		name, method, path, accept string
		code                       int
		want                       string
		gone                       bool // the ConfigMap a
	}{
		{"deletion of a collection", "DELETE", apitest.ConfigMapsPath, metadata, 406, "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)", true},
		{"deletion of a collection as a Table", "DELETE", apitest.ConfigMapsPath + "?includeObject=x", table, 400, include, true},
		{"deletion of an object as a Table", "DELETE", apitest.ConfigMapsPath + "/a?includeObject=x", table, 400, include, true},
		{"list with another error", "GET", apitest.ConfigMapsPath + "?continue=x", metadata, 400, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0", false},
		{"watch with another error", "GET", apitest.ConfigMapsPath + "?watch=1&includeObject=x&resourceVersion=x", table, 500, `resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`, false},
		{"watch", "GET", apitest.ConfigMapsPath + "?watch=1&includeObject=x", table, 400, include, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}`))
			code, body := apitest.DoWithHeaders(t, srv, row.method, row.path, "", "Accept", row.accept)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.want, body["message"])
			code, _ = apitest.Do(t, srv, "GET", apitest.ConfigMapsPath+"/a", "")
			assert.Equal(t, row.gone, code == http.StatusNotFound)
		})
	}
}

// Tables show objects as they are stored, whatever version the client asks for, and
// FlowSchemas by precedence.
func TestTablesOfStoredObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","namespace":"default"},"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":3,"metrics":[
			{"type":"Pods","pods":{"metric":{"name":"rps"},"target":{"type":"AverageValue","averageValue":"10"}}},
			{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]},
			"status":{"currentMetrics":[{"type":"Pods","pods":{"metric":{"name":"rps"},"current":{"averageValue":"7"}}},{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":20,"averageValue":"1"}}}]}}`,
		`{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"FlowSchema","metadata":{"name":"a"},"spec":{"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":2}}`,
	))
	const autoscalers = "/namespaces/default/horizontalpodautoscalers"
	for _, row := range []struct {
		name, path string
		column     int
		want       []any // the first cells of the column
	}{
		{"storage version", "/apis/autoscaling/v2" + autoscalers, 2, []any{"7/10, cpu: 20%/50%"}},
		{"another version", "/apis/autoscaling/v1" + autoscalers, 2, []any{"7/10, cpu: 20%/50%"}},
		{"one object in another version", "/apis/autoscaling/v1" + autoscalers + "/a", 2, []any{"7/10, cpu: 20%/50%"}},
		{"FlowSchemas", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", 0, []any{"exempt", "a", "probes", "system-leader-election"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, body := apitest.DoWithHeaders(t, srv, "GET", row.path, "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
			rows, _ := body["rows"].([]any)
			require.GreaterOrEqual(t, len(rows), len(row.want))
			for i, want := range row.want {
				assert.Equal(t, want, rows[i].(map[string]any)["cells"].([]any)[row.column])
			}
		})
	}
}

// Since v1.37 discovery documents are in CBOR too, behind its gate.
func TestDiscoveryInCBOR(t *testing.T) {
	gate := fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"CBORServingAndStorage": true}})
	for _, tt := range []struct {
		name    string
		options []fakeapi.Option
		want    string
	}{
		{"v1.37", []fakeapi.Option{gate}, "application/cbor"},
		{"v1.36", []fakeapi.Option{gate, fakeapi.WithRelease("v1.36")}, "application/json"},
		{"gate off", nil, "application/json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(tt.options, fakeapi.WithInMemory())...)
			for _, path := range []string{"/api", "/apis", "/apis/apps", "/apis/apps/v1"} {
				header, _ := apitest.GetAs(t, srv, path, "application/cbor, application/json;q=0.5")
				assert.Equal(t, tt.want, header.Get("Content-Type"), path)
			}
			const aggregated = "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
			header, _ := apitest.GetAs(t, srv, "/apis", aggregated+", application/json")
			assert.Equal(t, tt.want == "application/cbor", header.Get("Content-Type") == aggregated, header.Get("Content-Type"))
		})
	}
}
