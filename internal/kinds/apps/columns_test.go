package apps_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	const template = `template: {spec: {containers: [{name: c, image: i}, {name: d, image: j}]}}`
	kindtest.TestCells(t, "deployments.apps", []kindtest.CellsRow{
		{"deployment", `{spec: {replicas: 3, selector: {matchLabels: {a: b}, matchExpressions: [{key: x, operator: In, values: [z, v]}]}, ` + template + `}, status: {readyReplicas: 1, updatedReplicas: 2}}`,
			[]any{"a", "1/3", int64(2), int64(0), "60m", "c,d", "i,j", "a=b,x in (v,z)"}},
		{"deployment of an invalid selector", `{spec: {selector: {matchExpressions: [{key: x, operator: Gt}]}}}`, []any{"a", "0/0", int64(0), int64(0), "60m", "", "", "<invalid>"}},
	})
	kindtest.TestCells(t, "replicasets.apps", []kindtest.CellsRow{
		{"replicas of an invalid selector", `{spec: {selector: {matchExpressions: [{key: x, operator: Gt}]}}}`, []any{"a", int64(0), int64(0), int64(0), "60m", "", "", "<error>"}},
	})
	kindtest.TestCells(t, "controllerrevisions.apps", []kindtest.CellsRow{
		{"revision", `{metadata: {ownerReferences: [{kind: X, name: x}, {apiVersion: apps/v1, kind: DaemonSet, name: d, controller: true}]}, revision: 4}`, []any{"a", "daemonset.apps/d", int64(4), "60m"}},
	})
}
