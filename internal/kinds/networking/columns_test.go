package networking_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "ingresses.networking.k8s.io", []kindtest.CellsRow{
		{"ingress", `{spec: {tls: [{}], rules: [{host: a}, {}, {host: b}, {host: c}, {host: d}]}}`, []any{"a", "<none>", "a,b,c + 2 more...", "", "80, 443", "60m"}},
	})
	kindtest.TestCells(t, "ipaddresses.networking.k8s.io", []kindtest.CellsRow{
		{"address", `{spec: {parentRef: {group: g, resource: rs, name: e}}}`, []any{"a", "rs.g/e", "60m"}},
	})
}
