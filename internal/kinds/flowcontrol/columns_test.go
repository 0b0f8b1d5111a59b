package flowcontrol_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", []kindtest.CellsRow{
		{"priority level", `{spec: {type: Limited, limited: {nominalConcurrencyShares: 0}}}`, []any{"a", "Limited", int64(0), "<none>", "<none>", "<none>", "60m"}},
	})
}
