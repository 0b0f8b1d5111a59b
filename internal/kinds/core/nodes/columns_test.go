package nodes_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "nodes", []kindtest.CellsRow{
		{"node", `{metadata: {labels: {node-role.kubernetes.io/worker: "", kubernetes.io/role: db}}, spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: "False"}], nodeInfo: {kubeletVersion: v1, kernelVersion: "6", architecture: arm64}, addresses: [{type: InternalIP, address: 10.0.0.1}]}}`,
			[]any{"a", "NotReady,SchedulingDisabled", "db,worker", "60m", "v1", "10.0.0.1", "<none>", "<unknown>", "6 (arm64)", "<unknown>"}},
	})
}
