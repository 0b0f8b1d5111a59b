package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "storageclasses.storage.k8s.io", []kindtest.CellsRow{
		{"default class alone", `{metadata: {annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: p}`, []any{"a", "p", "Delete", "Immediate", false, "60m"}},
	})
	kindtest.TestCells(t, "csidrivers.storage.k8s.io", []kindtest.CellsRow{
		{"driver", `{spec: {attachRequired: false, tokenRequests: [{audience: x}, {audience: w}]}}`, []any{"a", false, false, false, "x,w", false, "<none>", "60m"}},
	})
}
