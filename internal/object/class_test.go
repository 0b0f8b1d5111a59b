package object_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultClass(t *testing.T) {
	class := func(name, created, annotation, value string) object.View {
		return object.ViewOf(map[string]any{"metadata": map[string]any{"name": name, "creationTimestamp": created, "annotations": map[string]any{annotation: value}}})
	}
	const old, late = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
	for _, tt := range []struct {
		name    string
		classes []object.View
		want    int
	}{
		{"none", nil, -1},
		{"not marked", []object.View{class("a", old, "x", "false"), class("b", old, "z", "true")}, -1},
		{"the newest", []object.View{class("a", old, "x", "true"), class("b", late, "y", "true"), class("c", late, "x", "")}, 1},
		{"the first by name", []object.View{class("b", late, "x", "true"), class("a", late, "x", "true")}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, object.DefaultClass(tt.classes, "x", "y")) })
	}
}
