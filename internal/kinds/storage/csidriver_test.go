package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestPrepareCSIDrivers(t *testing.T) {
	kindtest.TestCreates(t, "csidrivers.storage.k8s.io", []kindtest.Row{
		{"no generation", `{}`, "metadata.generation", ``},
		{"a field of a gate that was off before", `{"spec":{"preventPodSchedulingIfMissing":true}}`, "spec.preventPodSchedulingIfMissing", `true`},
	})
	kindtest.TestUpdates(t, "csidrivers.storage.k8s.io", []kindtest.Change{
		{"generation of an unchanged object", `{}`, `{}`, "metadata.generation", ``},
		{"generation of a changed object", `{}`, `{"spec":{"podInfoOnMount":true}}`, "metadata.generation", `1`},
	})
}

func TestValidateCSIDrivers(t *testing.T) {
	kindtest.TestValidation(t, "csidrivers.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{}}`, ""},
		{"members", "", `{"spec":{"fsGroupPolicy":"Odd","volumeLifecycleModes":["Odd"],"nodeAllocatableUpdatePeriodSeconds":9,"serviceAccountTokenInSecrets":true}}`,
			`[spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType", spec.volumeLifecycleModes: Unsupported value: "Odd": supported values: "Persistent", "Ephemeral", spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds, spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified]`},
		{"tokens", "", `{"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":599},{"audience":"a"},{"audience":"b","expirationSeconds":4294967297}]}}`,
			`[spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes, spec.tokenRequests[1].audience: Duplicate value: "a", spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds]`},
		{"another", `{"spec":{}}`, `{"spec":{"attachRequired":false,"volumeLifecycleModes":["Ephemeral"]}}`, `[spec.attachedRequired: Invalid value: false: field is immutable, spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable]`},
	})
}
