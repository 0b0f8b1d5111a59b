package volumes_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "persistentvolumes", []kindtest.CellsRow{
		{"volume", `{spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteMany, ReadWriteOnce], persistentVolumeReclaimPolicy: Retain, claimRef: {namespace: e, name: c}}, status: {phase: Bound}}`,
			[]any{"a", "5Gi", "RWO,RWX", "Retain", "Bound", "e/c", "", "<unset>", "", "60m", "<unset>"}},
	})
	kindtest.TestCells(t, "persistentvolumeclaims", []kindtest.CellsRow{
		{"claim that is deleted", `{metadata: {deletionTimestamp: "2026-01-02T04:04:05Z", annotations: {volume.beta.kubernetes.io/storage-class: old}}, spec: {storageClassName: new}, status: {phase: Pending}}`,
			[]any{"a", "Terminating", "", "", "", "old", "<unset>", "60m", "<unset>"}},
	})
}
