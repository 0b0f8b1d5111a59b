package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateStorageClasses(t *testing.T) {
	kindtest.TestValidation(t, "storageclasses.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"provisioner":"A"}`, ""},
		{"empty", "", `{"reclaimPolicy":"Recycle","volumeBindingMode":"Odd","parameters":{"":"a"}}`, `[provisioner: Required value, parameters: Invalid value: "": field can not be empty., reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain", volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"]`},
		{"topologies", "", `{"provisioner":"a","allowedTopologies":[{"matchLabelExpressions":[{"key":"k","values":["v","v"]},{"key":"k","values":["v"]}]},{"matchLabelExpressions":[{"key":"k","values":["v"]}]}]}`,
			`[allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "v", allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "k", allowedTopologies[1].matchLabelExpressions: Duplicate value: ""]`},
		{"empty topology terms", "", `{"provisioner":"a","allowedTopologies":[{},{"matchLabelExpressions":[]}]}`,
			kindtest.Errors(`allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`,
				`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`)},
		{"another", `{"metadata":{"name":"a"},"provisioner":"a"}`, `{"metadata":{"name":"a"},"provisioner":"b","reclaimPolicy":"Retain"}`, `[provisioner: Invalid value: "b": field is immutable, reclaimPolicy: Invalid value: "Retain": field is immutable]`},
	})
}

func TestValidateStorage(t *testing.T) {
	kindtest.TestValidation(t, "volumeattributesclasses.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"driverName":"a","parameters":{"a":"b"}}`, ""},
		{"empty", "", `{"driverName":""}`, "[driverName: Required value, parameters: Required value: must contain at least one key/value pair]"},
		{"another", `{"metadata":{"name":"a"},"driverName":"a","parameters":{"a":"b"}}`, `{"metadata":{"name":"a"},"driverName":"b","parameters":{"a":"c"}}`, "[driverName: Forbidden: updates to driverName are forbidden., parameters: Forbidden: updates to parameters are forbidden.]"},
	})
}

func TestValidateVolumeAttachments(t *testing.T) {
	kindtest.TestValidation(t, "volumeattachments.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, ""},
		{"no source", "", `{"spec":{"attacher":"a","nodeName":"n","source":{}}}`, "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"},
		{"inline", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/"}}}}}`, "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes, spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes]"},
		{"another node", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, `{"spec":{"attacher":"a","nodeName":"m","source":{"persistentVolumeName":"v"}}}`, `spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable`},
	})
}

func TestValidateCSINodes(t *testing.T) {
	kindtest.TestValidation(t, "csinodes.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"drivers":[{"name":"a","nodeID":"n","topologyKeys":["k"]}]}}`, ""},
		{"drivers", "", `{"spec":{"drivers":[{"name":"a","nodeID":"","allocatable":{"count":-1}},{"name":"a","nodeID":"n","topologyKeys":["k","k"]}]}}`, `[spec.drivers[0].nodeID: Required value, spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0, spec.drivers[1].name: Duplicate value: "a", spec.drivers[1]: Duplicate value: "k"]`},
		{"another count", `{"spec":{"drivers":[{"name":"a","nodeID":"n"}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"n","allocatable":{"count":1}}]}}`, ""},
		{"another ID", `{"spec":{"drivers":[{"name":"a","nodeID":"n"}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"m"}]}}`, `spec.drivers: Invalid value: {"Name":"a","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable`},
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

func TestValidateCSIStorageCapacities(t *testing.T) {
	kindtest.TestValidation(t, "csistoragecapacities.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"storageClassName":"a","capacity":"1Gi","nodeTopology":{}}`, ""},
		{"negative", "", `{"storageClassName":"a","capacity":"-1"}`, `capacity: Invalid value: "-1": must be greater than or equal to 0`},
		{"another", `{"metadata":{"name":"a","namespace":"n"},"storageClassName":"a"}`, `{"metadata":{"name":"a","namespace":"n"},"storageClassName":"b","nodeTopology":{}}`, `[nodeTopology: Invalid value: {}: field is immutable, storageClassName: Invalid value: "b": field is immutable]`},
	})
}
