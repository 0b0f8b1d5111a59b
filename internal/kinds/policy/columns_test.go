package policy_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "poddisruptionbudgets.policy", []kindtest.CellsRow{
		{"budget", `{spec: {minAvailable: 50%}}`, []any{"a", "50%", "N/A", int64(0), "60m"}},
	})
}
