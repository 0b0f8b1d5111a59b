package discovery_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "endpointslices.discovery.k8s.io", []kindtest.CellsRow{
		{"slice", `{addressType: IPv4, ports: [{port: 1}, {name: e}, {}], endpoints: []}`, []any{"a", "IPv4", "1,e,*", "<unset>", "60m"}},
	})
}
