package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateStorageClasses(t *testing.T) {
	kindtest.TestValidation(t, "storageclasses.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"provisioner":"A"}`, ""},
		{"empty", "", `{"reclaimPolicy":"Recycle","volumeBindingMode":"Odd","parameters":{"":"a"}}`, `[parameters: Invalid value: "": field can not be empty., reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain", volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer", provisioner: Required value]`},
		{"topologies", "", `{"provisioner":"a","allowedTopologies":[{"matchLabelExpressions":[{"key":"k","values":["v","v"]},{"key":"k","values":["v"]}]},{"matchLabelExpressions":[{"key":"k","values":["v"]}]}]}`,
			`[allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "v", allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "k", allowedTopologies[1].matchLabelExpressions: Duplicate value: ""]`},
		{"empty topology terms", "", `{"provisioner":"a","allowedTopologies":[{},{"matchLabelExpressions":[]}]}`,
			kindtest.Errors(`allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`)},
		{"another", `{"metadata":{"name":"a"},"provisioner":"a"}`, `{"metadata":{"name":"a"},"provisioner":"b","reclaimPolicy":"Retain"}`, `[provisioner: Invalid value: null: field is immutable, reclaimPolicy: Invalid value: null: field is immutable]`},
	})
}
