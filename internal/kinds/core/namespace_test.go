package core_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestPrepareNamespace(t *testing.T) {
	ns := map[string]any{"metadata": map[string]any{"name": "a"}}
	typ := kindtest.TypeOf(t, "namespaces")
	typ.Prepare(ns, nil)
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"kubernetes.io/metadata.name": "a"}},
		"spec":     map[string]any{"finalizers": []any{"kubernetes"}},
		"status":   map[string]any{"phase": "Active"},
	}, ns)

	update := map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{}}
	typ.Prepare(update, ns)
	assert.Equal(t, ns["spec"], update["spec"], "finalizers change through finalize alone")
}
