package node_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateRuntimeClasses(t *testing.T) {
	kindtest.TestValidation(t, "runtimeclasses.node.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"handler":"a"}`, ""},
		{"no handler", "", `{"handler":""}`, "handler: Required value"},
		{"overhead", "", `{"handler":"a","overhead":{"podFixed":{"a":"1"}}}`, `[overhead.limits[a]: Invalid value: "a": must be a standard resource type or fully qualified, overhead.limits[a]: Invalid value: "a": must be a standard resource for containers]`},
		{"tolerations", "", `{"handler":"a","scheduling":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Exists"}]}}`, `scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}`},
		{"another", `{"metadata":{"name":"a"},"handler":"a"}`, `{"metadata":{"name":"a"},"handler":"b"}`, `handler: Invalid value: null: field is immutable`},
	})
}
