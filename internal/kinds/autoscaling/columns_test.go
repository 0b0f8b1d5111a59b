package autoscaling_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "horizontalpodautoscalers.autoscaling", []kindtest.CellsRow{
		{"autoscaler", `{spec: {scaleTargetRef: {kind: D, name: d}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {averageUtilization: 80}}}, {type: External, external: {target: {averageValue: "5"}}}, {type: Pods}]}, status: {currentMetrics: [{type: Resource, resource: {name: cpu, current: {averageUtilization: 42}}}]}}`,
			[]any{"a", "D/d", "cpu: 42%/80%, <unknown>/5 (avg) + 1 more...", "<unset>", int64(3), int64(0), "60m"}},
	})
}
