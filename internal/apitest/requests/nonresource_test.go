package requests_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestMetrics(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for range 2 {
		apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/configmaps", "")
	}
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"a"}}`)
	apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/configmaps/zz", "")
	apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/endpoints", "")
	resp, body := apitest.GetText(t, srv, "/metrics")
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", resp.Header.Get("Content-Type"))
	for _, line := range []string{
		`# HELP apiserver_request_total [STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.`,
		`# TYPE apiserver_request_total counter`,
		`apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 2`,
		`apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1",le="+Inf"} 2`,
		`apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1`,
		`apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 2`,
		`apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1`,
		`apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 1`,
		`apiserver_resource_objects{group="",resource="namespaces"} 4`,
		`apiserver_storage_objects{resource="namespaces"} 4`,
		`# TYPE kubernetes_feature_enabled gauge`,
		`kubernetes_feature_enabled{name="CBORServingAndStorage",stage="ALPHA"} 0`,
		`kubernetes_feature_enabled{name="WatchList",stage="BETA"} 1`,
		`kubernetes_feature_enabled{name="AllowServiceExternalIPs",stage=""} 1`,
	} {
		assert.Contains(t, strings.Split(body, "\n"), line)
	}
	assert.Greater(t, apitest.Metric(t, body, `apiserver_storage_size_bytes{storage_cluster_id="etcd-0"}`), 1000.0)
	assert.Positive(t, apitest.Metric(t, body, "go_goroutines"))
	assert.Positive(t, apitest.Metric(t, body, "process_start_time_seconds"))
	_, body = apitest.GetText(t, srv, "/metrics/slis")
	assert.Contains(t, body, `kubernetes_healthcheck{name="etcd",type="readyz"} 1`)
	resp, _ = apitest.GetText(t, srv, "/metrics/nope")
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
}

// The labels of requests have no words of the client.
func TestMetricLabels(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, r := range [][]string{{"FOO", "/version"}, {"BAR", "/version"}, {"OPTIONS", "/version"}, {"HEAD", "/version"}, {"FOO", apitest.ConfigMapsPath}, {"GET", apitest.ConfigMapsPath + "/a/nope"}} {
		req, err := http.NewRequest(r[0], srv.URL+r[1], nil)
		require.NoError(t, err)
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	_, body := apitest.GetText(t, srv, "/metrics")
	assert.Contains(t, body, `verb="other"`)
	for _, label := range []string{`verb="FOO"`, `verb="BAR"`, `verb="OPTIONS"`, `verb="HEAD"`, `subresource="nope"`} {
		assert.NotContains(t, body, label)
	}
}

// MetricLabels limits the values of labels.
func TestAllowedMetricLabels(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{MetricLabels: map[string][]string{
		"apiserver_request_total,code": {"404"}, "apiserver_current_inflight_requests,request_kind": {"mutating"},
	}}))
	apitest.Code(t, srv, "GET", "/api/v1/namespaces/default", "")
	apitest.Code(t, srv, "GET", "/api/v1/namespaces/none", "")
	_, body := apitest.GetText(t, srv, "/metrics")
	for _, line := range []string{
		`apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="namespaces",scope="resource",subresource="",verb="GET",version="v1"} 1`,
		`apiserver_request_total{code="unexpected",component="apiserver",dry_run="",group="",resource="namespaces",scope="resource",subresource="",verb="GET",version="v1"} 1`,
		`apiserver_current_inflight_requests{request_kind="mutating"} 0`,
		`apiserver_current_inflight_requests{request_kind="unexpected"} 1`,
		`cardinality_enforcement_unexpected_categorizations_total 2`,
	} {
		assert.Contains(t, body, line+"\n")
	}
	_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{MetricLabels: map[string][]string{"code": nil}}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
}

// The metrics of PodSecurity count decisions, exemptions and errors.
func TestPodSecurityMetrics(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const evaluations, labels = "pod_security_evaluations_total", `policy_level="%s",policy_version="%s",request_operation="create",resource="%s",subresource=""}`
	pod := func(spec string) string {
		return `{"metadata":{"generateName":"p"},"spec":{` + spec + `"containers":[{"name":"c","image":"i"}]}}`
	}
	const path = "/api/v1/namespaces/default/pods"
	apitest.Do(t, srv, "POST", path, pod(""))
	_, body := apitest.GetText(t, srv, "/metrics")
	assert.Equal(t, 1.0, apitest.Metric(t, body, evaluations+`{decision="allow",mode="enforce",`+fmt.Sprintf(labels, "privileged", "latest", "pod")))
	assert.Zero(t, apitest.Metric(t, body, `pod_security_exemptions_total{request_operation="update",resource="controller",subresource=""}`))

	set := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline","pod-security.kubernetes.io/enforce-version":"v1.30","pod-security.kubernetes.io/warn":"baseline","pod-security.kubernetes.io/warn-version":"v1.99"}}}`
	code, _ := apitest.DoWithHeaders(t, srv, "PATCH", "/api/v1/namespaces/default", set, "Content-Type", "application/merge-patch+json")
	require.Equal(t, http.StatusOK, code)
	apitest.Do(t, srv, "POST", path, pod(""))
	apitest.Do(t, srv, "POST", path, pod(`"hostNetwork":true,`))
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/podtemplates", `{"metadata":{"name":"t"},"template":`+pod(`"hostNetwork":true,`)+`}`)
	_, body = apitest.GetText(t, srv, "/metrics")
	for _, line := range []string{
		`{decision="allow",mode="enforce",` + fmt.Sprintf(labels, "baseline", "v1.30", "pod"),
		`{decision="deny",mode="enforce",` + fmt.Sprintf(labels, "baseline", "v1.30", "pod"),
		`{decision="deny",mode="warn",` + fmt.Sprintf(labels, "baseline", "future", "controller"),
	} {
		assert.Equal(t, 1.0, apitest.Metric(t, body, evaluations+line))
	}
}

func TestIssuerDocuments(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, doc := apitest.Do(t, srv, "GET", "/.well-known/openid-configuration", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "https://kubernetes.default.svc.cluster.local", doc["issuer"])
	code, keys := apitest.DoWithHeaders(t, srv, "GET", "/openid/v1/jwks", "", "Accept", "application/jwk-set+json")
	assert.Equal(t, http.StatusOK, code)
	assert.Len(t, keys["keys"], 1)
	code, _ = apitest.DoWithHeaders(t, srv, "GET", "/openid/v1/jwks", "", "Accept", "application/json")
	assert.Equal(t, http.StatusNotAcceptable, code)
}

func TestComponentStatuses(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	code, list := apitest.Do(t, srv, "GET", "/api/v1/componentstatuses?fieldSelector=metadata.name%3Detcd-0", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, map[string]any{}, list["metadata"])
	assert.Len(t, list["items"], 1)
	code, one := apitest.Do(t, srv, "GET", "/api/v1/componentstatuses/etcd-0", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "etcd-0", one.Name())
	code, none := apitest.Do(t, srv, "GET", "/api/v1/componentstatuses/zz", "")
	assert.Equal(t, http.StatusNotFound, code)
	assert.Equal(t, `componentstatus "zz" not found`, none["message"])
	code, rows := apitest.DoWithHeaders(t, srv, "GET", "/api/v1/componentstatuses", "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	assert.Equal(t, http.StatusOK, code)
	assert.Len(t, rows["rows"], 3)
}

// Other representations of a scale subresource are those of the Scale, but the
// columns of a custom resource's Table are those of the resource.
func TestScaleRepresentations(t *testing.T) {
	const (
		tables   = "application/json;as=Table;v=v1;g=meta.k8s.io"
		metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sets.example.com}
spec:
  group: example.com
  names: {plural: sets, kind: Set}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns: [{name: Replicas, type: integer, jsonPath: .spec.replicas}]
---
apiVersion: example.com/v1
kind: Set
metadata: {name: one, namespace: default}
spec: {size: 2}
`))
	columns := func(table fakeapi.Object) (names []any) {
		for _, c := range table["columnDefinitions"].([]any) {
			names = append(names, c.(map[string]any)["name"])
		}
		return names
	}
	row := func(table fakeapi.Object) map[string]any { return table["rows"].([]any)[0].(map[string]any) }

	deployment := "/apis/apps/v1/namespaces/default/deployments/web/scale"
	code, table := apitest.DoWithHeaders(t, srv, "GET", deployment, "", "Accept", tables)
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "Table", table["kind"])
	assert.Equal(t, []any{"Name", "Desired", "Available", "Age"}, columns(table))
	cells := row(table)["cells"].([]any)
	require.Len(t, cells, 4)
	assert.Equal(t, []any{"web", 3.0, 0.0}, cells[:3])
	embedded := fakeapi.Object(row(table)["object"].(map[string]any))
	assert.Equal(t, "PartialObjectMetadata", embedded["kind"])
	assert.Equal(t, "web", embedded.Name())
	assert.NotContains(t, embedded["metadata"], "labels")
	assert.Equal(t, fakeapi.Object(table).ResourceVersion(), embedded.ResourceVersion())

	code, table = apitest.DoWithHeaders(t, srv, "GET", deployment+"?includeObject=Object", "", "Accept", tables)
	assert.Equal(t, http.StatusOK, code)
	code, scale := apitest.Do(t, srv, "GET", deployment, "")
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, map[string]any(scale), row(table)["object"])

	code, partial := apitest.DoWithHeaders(t, srv, "GET", deployment, "", "Accept", metadata)
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "PartialObjectMetadata", partial["kind"])
	assert.Equal(t, scale["metadata"], partial["metadata"])

	code, table = apitest.DoWithHeaders(t, srv, "GET", "/apis/example.com/v1/namespaces/default/sets/one/scale", "", "Accept", tables)
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, []any{"Name", "Desired", "Available", "Age"}, columns(table))
	assert.Equal(t, []any{"one", 2.0, 0.0}, row(table)["cells"].([]any)[:3])
}

func TestDeprecationWarnings(t *testing.T) {
	endpoints := "/api/v1/namespaces/default/endpoints"
	for release, want := range map[string][]string{
		"v1.36": {`299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"`},
		"v1.32": nil,
	} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
		for _, path := range []string{endpoints, endpoints + "/zz"} {
			resp, _ := apitest.GetText(t, srv, path)
			assert.Equal(t, want, resp.Header["Warning"], "%s in %s", path, release)
		}
		resp, _ := apitest.GetText(t, srv, "/api/v1/namespaces/default/pods")
		assert.Empty(t, resp.Header["Warning"])
	}
}
