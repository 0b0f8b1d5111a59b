package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateCSINodes(t *testing.T) {
	kindtest.TestValidation(t, "csinodes.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"drivers":[{"name":"a","nodeID":"n","topologyKeys":["k"]}]}}`, ""},
		{"drivers", "", `{"spec":{"drivers":[{"name":"a","nodeID":"","allocatable":{"count":-1}},{"name":"a","nodeID":"n","topologyKeys":["k","k"]}]}}`, `[spec.drivers[0].nodeID: Required value, spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0, spec.drivers[1].name: Duplicate value: "a", spec.drivers[1]: Duplicate value: "k"]`},
		{"another count", `{"spec":{"drivers":[{"name":"a","nodeID":"n"}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"n","allocatable":{"count":1}}]}}`, ""},
		{"another ID", `{"spec":{"drivers":[{"name":"a","nodeID":"n"}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"m"}]}}`, `spec.drivers: Invalid value: {"Name":"a","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable`},
	})
}
