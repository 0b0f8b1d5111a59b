package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestPrepareCSIDrivers(t *testing.T) {
	kindtest.TestCreates(t, "csidrivers.storage.k8s.io", []kindtest.Row{
		{"no generation", `{}`, "metadata.generation", ``},
		{"disabled field", `{"spec":{"preventPodSchedulingIfMissing":true}}`, "spec.preventPodSchedulingIfMissing", ``},
	})
	kindtest.TestUpdates(t, "csidrivers.storage.k8s.io", []kindtest.Change{
		{"generation of an unchanged object", `{}`, `{}`, "metadata.generation", ``},
		{"generation of a changed object", `{}`, `{"spec":{"podInfoOnMount":true}}`, "metadata.generation", `1`},
	})
}
