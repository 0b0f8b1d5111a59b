package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/core"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultNamespaces(t *testing.T) {
	kindtest.TestDefaults(t, "namespaces", []kindtest.Row{
		{"name label", `{"metadata":{"name":"a"}}`, "metadata.labels", `{"kubernetes.io/metadata.name":"a"}`},
		{"generateName", `{"metadata":{"generateName":"a-"}}`, "metadata.labels", ``},
	})
}

func TestPrepareNamespace(t *testing.T) {
	ns := map[string]any{"metadata": map[string]any{"name": "a"}}
	typ := kindtest.TypeOf(t, "namespaces")
	typ.Prepare(ns, object.View{})
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"kubernetes.io/metadata.name": "a"}},
		"spec":     map[string]any{"finalizers": []any{"kubernetes"}},
		"status":   map[string]any{"phase": "Active"},
	}, ns)

	update := map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{}}
	typ.Prepare(update, object.ViewOf(ns))
	assert.Equal(t, ns["spec"], update["spec"], "only the finalize subresource changes finalizers")
}

func TestValidateNamespaces(t *testing.T) {
	const form = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	kindtest.TestValidation(t, "namespaces", []kindtest.ValidationRow{
		{"valid", "", `{}`, ""},
		{"unqualified finalizer", "", `{"spec":{"finalizers":["a"]}}`, `spec.finalizers: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified`},
		{"malformed finalizer", "", `{"spec":{"finalizers":["a/b/c"]}}`, `spec.finalizers: Invalid value: "a/b/c": ` + form},
	})
	assert.Equal(t, `spec.finalizers[1]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified`,
		core.ValidateFinalize(map[string]any{"spec": map[string]any{"finalizers": []any{"kubernetes", "a"}}}).Message())
	kindtest.TestStatusValidation(t, "namespaces", []kindtest.ValidationRow{
		{"not being deleted", `{}`, `{"status":{"phase":"Terminating"}}`, "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"},
		{"being deleted", `{}`, `{"metadata":{"deletionTimestamp":"2024-01-02T03:04:05Z"},"status":{"phase":"Active"}}`, "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"},
	})
}
