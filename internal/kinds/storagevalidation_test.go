package kinds

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidatePersistentVolumes(t *testing.T) {
	volume := func(rest string) string {
		return `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},` + rest + `}}`
	}
	const nfs = `"nfs":{"server":"s","path":"/"}`
	testVerdicts(t, "persistentvolumes", []verdict{
		{"valid", "", volume(nfs), ""},
		{"empty", "", `{"spec":{}}`, "[spec.accessModes: Required value, spec.capacity: Required value, spec.capacity: Unsupported value: null: supported values: \"storage\", spec: Required value: must specify a volume type]"},
		{"two sources", "", volume(nfs + `,"csi":{"driver":"d","volumeHandle":"h"}`), "spec.csi: Forbidden: may not specify more than 1 volume type"},
		{"capacity", "", `{"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"-1"},` + nfs + `}}`, `[spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity, spec.capacity[storage]: Invalid value: "-1": must be greater than zero]`},
		{"modes", "", `{"spec":{"accessModes":["ReadWriteOncePod","ReadWriteMany"],"capacity":{"storage":"1"},"volumeMode":"Odd","persistentVolumeReclaimPolicy":"Odd",` + nfs + `}}`,
			`[spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes, spec.persistentVolumeReclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Recycle", "Retain", spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"]`},
		{"local", "", volume(`"local":{"path":"../a"}`), "[spec.local.path: Invalid value: \"../a\": must not contain '..', spec.nodeAffinity: Required value: Local volume requires node affinity]"},
		{"recycled root", "", volume(`"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Recycle"`), "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"},
		{"iscsi", "", volume(`"iscsi":{"targetPortal":"` + strings.Repeat("p", 64) + `","iqn":"x","lun":256,"initiatorName":"y","chapAuthSession":true}`),
			`[spec.iscsi.targetportal: Invalid value: "` + strings.Repeat("p", 64) + `": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified., spec.iscsi.iqn: Invalid value: "x": must be valid format, spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive, spec.iscsi.secretRef: Required value, spec.iscsi.initiatorname: Invalid value: "y": must be valid format]`},
		{"csi", "", volume(`"csi":{"driver":"","volumeHandle":"","nodePublishSecretRef":{"name":"a"}},"volumeAttributesClassName":""`), "[spec.csi.driver: Required value, spec.csi.volumeHandle: Required value, spec.csi.nodePublishSecretRef.namespace: Required value, spec.volumeAttributesClassName: Required value: an empty string is disallowed]"},
		{"glusterfs", "", volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":""}`), `spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name`},
		{"cinder", "", volume(`"cinder":{"volumeID":"v","secretRef":{"name":"a"}}`), "spec.cinder.secretRef.namespace: Required value"},
		{"mount options", "", `{"metadata":{"name":"a","annotations":{"volume.beta.kubernetes.io/mount-options":"x"}},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/a"}}}`, "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type"},
		{"affinity", "", volume(nfs + `,"nodeAffinity":{}`), "spec.nodeAffinity.required: Required value: must specify required node constraints"},
		{"another mode", volume(nfs), volume(nfs + `,"volumeMode":"Block"`), `volumeMode: Invalid value: "Block": field is immutable`},
		{"a secret for expansion", volume(`"csi":{"driver":"d","volumeHandle":"h"}`), volume(`"csi":{"driver":"d","volumeHandle":"h","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), ""},
		{"a label's final name", volume(nfs + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"beta.kubernetes.io/os","operator":"Exists"}]}]}}`), volume(nfs + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/os","operator":"Exists"}]}]}}`), ""},
		{"no class of attributes any more", volume(`"csi":{"driver":"d","volumeHandle":"h"},"volumeAttributesClassName":"a"`), volume(`"csi":{"driver":"d","volumeHandle":"h"}`), "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"},
	})
	typ := typeOf(t, "persistentvolumes")
	old := created(t, typ, volume(nfs))
	assert.Contains(t, typ.Validate(created(t, typ, volume(`"nfs":{"server":"t","path":"/"}`)), old).Message(), "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@")
	assert.Equal(t, []string{"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.", "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"},
		typ.Warn(decoded(t, typ, volume(`"storageos":{},"persistentVolumeReclaimPolicy":"Recycle"`)), nil))
}

const noSubdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`

func TestValidateClaims(t *testing.T) {
	claim := func(size, rest string) string {
		return `{"metadata":{"name":"a","namespace":"n"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}` + rest + `}}`
	}
	testVerdicts(t, "persistentvolumeclaims", []verdict{
		{"valid", "", claim("1Gi", ""), ""},
		{"bound once", claim("1Gi", ""), claim("1Gi", `,"volumeName":"v"`), ""},
		{"given a class", claim("1Gi", ""), claim("1Gi", `,"storageClassName":"v"`), ""},
		{"a source of a group", "", claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), all(
			`spec.dataSource.apiGroup: Invalid value: "A b": `+noSubdomain, `spec.dataSourceRef.apiGroup: Invalid value: "A b": `+noSubdomain)},
		{"a source of any group", claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), ""},
		{"another mode", claim("1Gi", ""), claim("1Gi", `,"volumeMode":"Block"`), "[spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -11,7 +11,7 @@\n  },\n  \"VolumeName\": \"\",\n  \"StorageClassName\": null,\n- \"VolumeMode\": \"Filesystem\",\n+ \"VolumeMode\": \"Block\",\n  \"DataSource\": null,\n  \"DataSourceRef\": null,\n  \"VolumeAttributesClassName\": null\n, volumeMode: Invalid value: \"Block\": field is immutable]"},
	})
	typ := typeOf(t, "persistentvolumeclaims")
	bound := func(body string) map[string]any {
		obj := created(t, typ, body)
		obj["status"] = map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": "1Gi"}, "currentVolumeAttributesClassName": "c"}
		return obj
	}
	assert.Empty(t, typ.Validate(bound(claim("2Gi", "")), bound(claim("1Gi", ""))))
	assert.Equal(t, "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity", typ.Validate(bound(claim("1Gi", "")), bound(claim("2Gi", ""))).Message())
	assert.Equal(t, "spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
		typ.Validate(bound(claim("1Gi", "")), bound(claim("1Gi", `,"volumeAttributesClassName":"c"`))).Message())
	testStatusVerdicts(t, "persistentvolumeclaims", []verdict{
		{"statuses", claim("1Gi", ""), `{"status":{"capacity":{"storage":"-1"},"allocatedResourceStatuses":{"storage":"Odd"},"allocatedResources":{"cpu":"1"}}}`,
			`[status.capacity[storage]: Invalid value: -1: must be a valid resource quantity, status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending", status.allocatedResources: Unsupported value: "cpu": supported values: "storage"]`},
	})
	assert.Equal(t, []string{`spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer`}, typ.Warn(decoded(t, typ, claim("500m", "")), nil))
}

func TestValidateStorageClasses(t *testing.T) {
	testVerdicts(t, "storageclasses.storage.k8s.io", []verdict{
		{"valid", "", `{"provisioner":"A"}`, ""},
		{"empty", "", `{"reclaimPolicy":"Recycle","volumeBindingMode":"Odd","parameters":{"":"a"}}`, `[provisioner: Required value, parameters: Invalid value: "": field can not be empty., reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain", volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"]`},
		{"topologies", "", `{"provisioner":"a","allowedTopologies":[{"matchLabelExpressions":[{"key":"k","values":["v","v"]},{"key":"k","values":["v"]}]},{"matchLabelExpressions":[{"key":"k","values":["v"]}]}]}`,
			`[allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "v", allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "k", allowedTopologies[1].matchLabelExpressions: Duplicate value: ""]`},
		{"topologies of nothing", "", `{"provisioner":"a","allowedTopologies":[{},{"matchLabelExpressions":[]}]}`,
			all(`allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[0].matchLabelExpressions: Duplicate value: ""`,
				`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`, `allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`)},
		{"another", `{"metadata":{"name":"a"},"provisioner":"a"}`, `{"metadata":{"name":"a"},"provisioner":"b","reclaimPolicy":"Retain"}`, `[provisioner: Invalid value: "b": field is immutable, reclaimPolicy: Invalid value: "Retain": field is immutable]`},
	})
}

func TestValidateStorage(t *testing.T) {
	testVerdicts(t, "volumeattributesclasses.storage.k8s.io", []verdict{
		{"valid", "", `{"driverName":"a","parameters":{"a":"b"}}`, ""},
		{"empty", "", `{"driverName":""}`, "[driverName: Required value, parameters: Required value: must contain at least one key/value pair]"},
		{"another", `{"metadata":{"name":"a"},"driverName":"a","parameters":{"a":"b"}}`, `{"metadata":{"name":"a"},"driverName":"b","parameters":{"a":"c"}}`, "[driverName: Forbidden: updates to driverName are forbidden., parameters: Forbidden: updates to parameters are forbidden.]"},
	})
	testVerdicts(t, "volumeattachments.storage.k8s.io", []verdict{
		{"valid", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, ""},
		{"no source", "", `{"spec":{"attacher":"a","nodeName":"n","source":{}}}`, "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"},
		{"inline", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/"}}}}}`, "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes, spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes]"},
		{"another node", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, `{"spec":{"attacher":"a","nodeName":"m","source":{"persistentVolumeName":"v"}}}`, `spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable`},
	})
	testVerdicts(t, "csinodes.storage.k8s.io", []verdict{
		{"valid", "", `{"spec":{"drivers":[{"name":"a","nodeID":"n","topologyKeys":["k"]}]}}`, ""},
		{"drivers", "", `{"spec":{"drivers":[{"name":"a","nodeID":"","allocatable":{"count":-1}},{"name":"a","nodeID":"n","topologyKeys":["k","k"]}]}}`, `[spec.drivers[0].nodeID: Required value, spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0, spec.drivers[1].name: Duplicate value: "a", spec.drivers[1]: Duplicate value: "k"]`},
		{"another count", `{"spec":{"drivers":[{"name":"a","nodeID":"n"}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"n","allocatable":{"count":1}}]}}`, ""},
		{"another ID", `{"spec":{"drivers":[{"name":"a","nodeID":"n"}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"m"}]}}`, `spec.drivers: Invalid value: {"Name":"a","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable`},
	})
	testVerdicts(t, "csidrivers.storage.k8s.io", []verdict{
		{"valid", "", `{"spec":{}}`, ""},
		{"members", "", `{"spec":{"fsGroupPolicy":"Odd","volumeLifecycleModes":["Odd"],"nodeAllocatableUpdatePeriodSeconds":9,"serviceAccountTokenInSecrets":true}}`,
			`[spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType", spec.volumeLifecycleModes: Unsupported value: "Odd": supported values: "Persistent", "Ephemeral", spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds, spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified]`},
		{"tokens", "", `{"spec":{"tokenRequests":[{"audience":"a","expirationSeconds":599},{"audience":"a"},{"audience":"b","expirationSeconds":4294967297}]}}`,
			`[spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes, spec.tokenRequests[1].audience: Duplicate value: "a", spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds]`},
		{"another", `{"spec":{}}`, `{"spec":{"attachRequired":false,"volumeLifecycleModes":["Ephemeral"]}}`, `[spec.attachedRequired: Invalid value: false: field is immutable, spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable]`},
	})
	testVerdicts(t, "csistoragecapacities.storage.k8s.io", []verdict{
		{"valid", "", `{"storageClassName":"a","capacity":"1Gi","nodeTopology":{}}`, ""},
		{"negative", "", `{"storageClassName":"a","capacity":"-1"}`, `capacity: Invalid value: "-1": must be greater than or equal to 0`},
		{"another", `{"metadata":{"name":"a","namespace":"n"},"storageClassName":"a"}`, `{"metadata":{"name":"a","namespace":"n"},"storageClassName":"b","nodeTopology":{}}`, `[nodeTopology: Invalid value: {}: field is immutable, storageClassName: Invalid value: "b": field is immutable]`},
	})
	testVerdicts(t, "runtimeclasses.node.k8s.io", []verdict{
		{"valid", "", `{"handler":"a"}`, ""},
		{"no handler", "", `{"handler":""}`, "handler: Required value"},
		{"overhead", "", `{"handler":"a","overhead":{"podFixed":{"a":"1"}}}`, `[overhead.limits[a]: Invalid value: "a": must be a standard resource type or fully qualified, overhead.limits[a]: Invalid value: "a": must be a standard resource for containers]`},
		{"tolerations", "", `{"handler":"a","scheduling":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Exists"}]}}`, `scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}`},
		{"another", `{"metadata":{"name":"a"},"handler":"a"}`, `{"metadata":{"name":"a"},"handler":"b"}`, `handler: Invalid value: "b": field is immutable`},
	})
}
