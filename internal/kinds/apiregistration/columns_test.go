package apiregistration_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "apiservices.apiregistration.k8s.io", []kindtest.CellsRow{
		{"service not found", `{spec: {service: {namespace: e, name: s}}, status: {conditions: [{type: Available, status: "False", reason: ServiceNotFound}]}}`, []any{"a", "e/s", "False (ServiceNotFound)", "60m"}},
	})
}
