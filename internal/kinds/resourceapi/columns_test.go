package resourceapi_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "resourceclaims.resource.k8s.io", []kindtest.CellsRow{
		{"claim in use", `{status: {allocation: {}, reservedFor: [{}]}}`, []any{"a", "allocated,reserved", "60m"}},
	})
	kindtest.TestCells(t, "resourcepoolstatusrequests.resource.k8s.io", []kindtest.CellsRow{
		{"pools", `{spec: {driver: d}, status: {poolCount: 2, pools: [{totalDevices: 4, validationError: x}], conditions: [{type: Complete, status: "True", lastTransitionTime: "2026-01-02T04:04:00Z"}]}}`,
			[]any{"a", "d", "4", "0", "0", "0", "1", int64(2), "Complete (1/2 pools)", "5s"}},
	})
}
