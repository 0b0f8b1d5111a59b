package core_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "configmaps", []kindtest.CellsRow{
		{"binary data counts", `{data: {a: x}, binaryData: {b: eA==}}`, []any{"a", int64(2), "60m"}},
	})
	kindtest.TestCells(t, "resourcequotas", []kindtest.CellsRow{
		{"quota", `{status: {hard: {pods: "4", limits.cpu: "2", cpu: "1"}, used: {cpu: 500m}}}`, []any{"a", "cpu: 500m/1, pods: 0/4", "limits.cpu: 0/2", "60m"}},
	})
}
