package rbac_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "rolebindings.rbac.authorization.k8s.io", []kindtest.CellsRow{
		{"binding", `{roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: u}, {kind: ServiceAccount, name: s, namespace: e}, {kind: User, name: v}]}`,
			[]any{"a", "Role/r", "60m", "u, v", "", "e/s"}},
	})
}
