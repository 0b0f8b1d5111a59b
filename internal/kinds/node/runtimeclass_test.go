package node_test

import (
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateRuntimeClasses(t *testing.T) {
	kindtest.TestValidation(t, "runtimeclasses.node.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"handler":"a"}`, ""},
		{"no handler", "", `{"handler":""}`, "handler: Required value"},
		{"overhead", "", `{"handler":"a","overhead":{"podFixed":{"a":"1"}}}`, `[overhead.limits[a]: Invalid value: "a": must be a standard resource type or fully qualified, overhead.limits[a]: Invalid value: "a": must be a standard resource for containers]`},
		{"tolerations", "", `{"handler":"a","scheduling":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Exists"}]}}`, `scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}`},
		{"none after one", `{"metadata":{"name":"a"},"handler":"a"}`, `{"metadata":{"name":"a"},"handler":""}`, `[handler: Invalid value: null: field is immutable, handler: Required value]`},
		{"long one after another", `{"metadata":{"name":"a"},"handler":"a"}`, `{"metadata":{"name":"a"},"handler":"` + strings.Repeat("a", 64) + `"}`,
			`[handler: Invalid value: "` + strings.Repeat("a", 64) + `": must be no more than 63 characters, handler: Invalid value: null: field is immutable]`},
		{"another", `{"metadata":{"name":"a"},"handler":"a"}`, `{"metadata":{"name":"a"},"handler":"b"}`, `handler: Invalid value: null: field is immutable`},
	})
}
