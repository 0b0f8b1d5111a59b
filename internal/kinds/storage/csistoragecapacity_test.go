package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateCSIStorageCapacities(t *testing.T) {
	kindtest.TestValidation(t, "csistoragecapacities.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"storageClassName":"a","capacity":"1Gi","nodeTopology":{}}`, ""},
		{"negative", "", `{"storageClassName":"a","capacity":"-1"}`, `capacity: Invalid value: "-1": must be greater than or equal to 0`},
		{"another", `{"metadata":{"name":"a","namespace":"n"},"storageClassName":"a"}`, `{"metadata":{"name":"a","namespace":"n"},"storageClassName":"b","nodeTopology":{}}`, `[nodeTopology: Invalid value: {}: field is immutable, storageClassName: Invalid value: "b": field is immutable]`},
	})
}
