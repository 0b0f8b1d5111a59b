package objects_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// etcd stores built-in objects in protobuf, and others as JSON. In protobuf a reference has
// its empty fields too.
func TestLargestObject(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.a.io}, spec: {group: a.io, scope: Cluster, names: {plural: widgets, kind: Widget},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {data: {type: object, additionalProperties: {type: string}}}}}}]}}`))
	secrets := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf(`{"name":"n%d"}`, i)
		}
		return `{"metadata":{"name":"a"},"secrets":[` + strings.Join(names, ",") + `]}`
	}
	const refused = "etcdserver: request is too large"
	const accounts, widgets = "/api/v1/namespaces/default/serviceaccounts", "/apis/a.io/v1/widgets"
	widget := func(bytes int) string {
		return `{"kind":"Widget","apiVersion":"a.io/v1","metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", bytes) + `"}}`
	}
	for _, row := range []struct {
		name, path, body string
		want             int
		message          string
	}{
		{"built-in, longer in protobuf", accounts, secrets(75_000), 500, refused},
		{"built-in, less", accounts, secrets(30_000), 201, ""},
		{"custom, dry run", widgets + "?dryRun=All", widget(1600 << 10), 201, ""},
		{"custom", widgets, widget(1600 << 10), 500, refused},
		{"custom, larger than a message", widgets, widget(2048 << 10), 500, "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("},
		{"custom, less", widgets, widget(1500 << 10), 201, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "POST", row.path, row.body)
			assert.Equal(t, row.want, code)
			if row.want == 500 {
				assert.Contains(t, answer["message"], row.message)
				delete(answer, "message")
				assert.Equal(t, fakeapi.Object{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "code": float64(500)}, answer)
			}
		})
	}
}

// An object that fits only without its managed fields loses them, unless it is applied.
func TestLargeManagedFields(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	data := make([]string, 9999)
	for i := range data {
		data[i] = fmt.Sprintf(`"a-key-that-is-long-so-that-a-set-of-fields-with-it-is-large-%d":"A"`, i+1_000_000_000_000)
	}
	config := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` + strings.Join(data, ",") + `}}`
	managers := func(o fakeapi.Object) int {
		fields, _ := o["metadata"].(map[string]any)["managedFields"].([]any)
		return len(fields)
	}
	const path = "/api/v1/namespaces/default/configmaps"
	code, created := apitest.Do(t, srv, "POST", path, config)
	assert.Equal(t, 201, code)
	assert.Zero(t, managers(created))
	code, patched := apitest.Do(t, srv, "PATCH", path+"/a", `{"data":{"more":"B"}}`)
	assert.Equal(t, 200, code)
	assert.Zero(t, managers(patched))
	req, err := http.NewRequest("PATCH", srv.URL+path+"/a?fieldManager=m", strings.NewReader(config))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	assert.Equal(t, 500, resp.StatusCode)
	assert.Contains(t, apitest.Answer(t, resp)["message"], "trying to send message larger than max (")
}
