package fakeapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
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
	const accounts, widgets = "/api/v1/namespaces/default/serviceaccounts", "/apis/a.io/v1/widgets"
	widget := func(bytes int) string {
		return `{"kind":"Widget","apiVersion":"a.io/v1","metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", bytes) + `"}}`
	}
	for _, row := range []struct {
		name, path, body string
		want             int
	}{
		{"built-in, longer in protobuf", accounts, secrets(75_000), 500},
		{"built-in, less", accounts, secrets(30_000), 201},
		{"custom, dry run", widgets + "?dryRun=All", widget(1600 << 10), 201},
		{"custom", widgets, widget(1600 << 10), 500},
		{"custom, less", widgets, widget(1500 << 10), 201},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := do(t, srv, "POST", row.path, row.body)
			assert.Equal(t, row.want, code)
			if row.want == 500 {
				assert.Equal(t, fakeapi.Object{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": "etcdserver: request is too large", "code": float64(500)}, answer)
			}
		})
	}
}
