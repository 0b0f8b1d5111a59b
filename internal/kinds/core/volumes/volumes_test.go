package volumes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestDefaultPersistentVolumeClaims(t *testing.T) {
	kindtest.TestDefaults(t, "persistentvolumeclaims", []kindtest.Row{{"mode", `{}`, "spec.volumeMode", `"Filesystem"`}, {"block", `{"spec":{"volumeMode":"Block"}}`, "spec.volumeMode", `"Block"`}})
}

func TestDefaultPersistentVolumes(t *testing.T) {
	kindtest.TestDefaults(t, "persistentvolumes", []kindtest.Row{
		{"reclaimed", `{"spec":{"capacity":{"storage":"1024Mi"},"rbd":{"image":"i"}}}`, "spec", `{"capacity":{"storage":"1Gi"},"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem","rbd":{"image":"i","keyring":"/etc/ceph/keyring","monitors":null,"pool":"rbd","user":"admin"}}`},
	})
}

func TestPrepareStorage(t *testing.T) {
	kindtest.TestCreates(t, "persistentvolumes", []kindtest.Row{
		{"status", `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending","lastPhaseTransitionTime":"2024-01-02T03:04:05Z"}`},
	})
	const source, claim = `{"apiGroup":"a.b","kind":"K","name":"n"}`, `{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"n"}`
	kindtest.TestCreates(t, "persistentvolumeclaims", []kindtest.Row{
		{"status", `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending"}`},
		{"a source", `{"spec":{"dataSource":` + claim + `}}`, "spec.dataSourceRef", claim},
		{"a source that claims never had", `{"spec":{"dataSource":` + source + `}}`, "spec.dataSource", ``},
		{"a reference", `{"spec":{"dataSourceRef":` + source + `}}`, "spec.dataSource", source},
		{"a reference to another namespace", `{"spec":{"dataSourceRef":{"kind":"K","name":"n","namespace":"x"}}}`, "spec.dataSourceRef", ``},
	})
	kindtest.TestUpdates(t, "persistentvolumeclaims", []kindtest.Change{
		{"no new protection", `{}`, `{}`, "metadata.finalizers", ``},
		{"status", `{}`, `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending"}`},
	})
	kindtest.TestCreates(t, "csidrivers.storage.k8s.io", []kindtest.Row{
		{"generation", `{}`, "metadata.generation", ``},
		{"a disabled member", `{"spec":{"preventPodSchedulingIfMissing":true}}`, "spec.preventPodSchedulingIfMissing", ``},
	})
	kindtest.TestUpdates(t, "csidrivers.storage.k8s.io", []kindtest.Change{
		{"no change", `{}`, `{}`, "metadata.generation", ``},
		{"change", `{}`, `{"spec":{"podInfoOnMount":true}}`, "metadata.generation", `1`},
	})
}

func TestPhaseOfVolumeIsDated(t *testing.T) {
	typ := kindtest.TypeOf(t, "persistentvolumes")
	old := kindtest.Create(t, typ, `{}`)
	for _, row := range []struct{ name, status, want string }{
		{"same phase", `{"phase":"Pending"}`, "2024-01-02T03:04:05Z"},
		{"new phase", `{"phase":"Bound"}`, "2024-01-02T03:04:06Z"},
		{"new phase with the old date", `{"phase":"Bound","lastPhaseTransitionTime":"2024-01-02T03:04:05Z"}`, "2024-01-02T03:04:06Z"},
		{"new phase and date", `{"phase":"Bound","lastPhaseTransitionTime":"2024-01-02T03:04:09Z"}`, "2024-01-02T03:04:09Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"status":`+row.status+`}`)
			typ.SubresourceStrategies["status"].Prepare(obj, old)
			typ.PrepareWithAuthor(obj, old, resource.Author{Now: "2024-01-02T03:04:06Z"})
			assert.Equal(t, row.want, kindtest.At(obj, "status.lastPhaseTransitionTime"))
		})
	}
}

func TestValidatePersistentVolumes(t *testing.T) {
	volume := func(rest string) string {
		return `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},` + rest + `}}`
	}
	const nfs = `"nfs":{"server":"s","path":"/"}`
	kindtest.TestValidation(t, "persistentvolumes", []kindtest.ValidationRow{
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
	typ := kindtest.TypeOf(t, "persistentvolumes")
	old := kindtest.Create(t, typ, volume(nfs))
	assert.Contains(t, typ.Validate(kindtest.Create(t, typ, volume(`"nfs":{"server":"t","path":"/"}`)), old).Message(), "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@")
	assert.Equal(t, []string{"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.", "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"},
		typ.WarningsOnWrite(kindtest.Decode(t, typ, volume(`"storageos":{},"persistentVolumeReclaimPolicy":"Recycle"`)), nil))
}

func TestValidateClaims(t *testing.T) {
	claim := func(size, rest string) string {
		return `{"metadata":{"name":"a","namespace":"n"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}` + rest + `}}`
	}
	kindtest.TestValidation(t, "persistentvolumeclaims", []kindtest.ValidationRow{
		{"valid", "", claim("1Gi", ""), ""},
		{"bound once", claim("1Gi", ""), claim("1Gi", `,"volumeName":"v"`), ""},
		{"given a class", claim("1Gi", ""), claim("1Gi", `,"storageClassName":"v"`), ""},
		{"a source of a group", "", claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), kindtest.Errors(
			`spec.dataSource.apiGroup: Invalid value: "A b": `+kindtest.NotSubdomain, `spec.dataSourceRef.apiGroup: Invalid value: "A b": `+kindtest.NotSubdomain)},
		{"a source of any group", claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), ""},
		{"another mode", claim("1Gi", ""), claim("1Gi", `,"volumeMode":"Block"`), "[spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -11,7 +11,7 @@\n  },\n  \"VolumeName\": \"\",\n  \"StorageClassName\": null,\n- \"VolumeMode\": \"Filesystem\",\n+ \"VolumeMode\": \"Block\",\n  \"DataSource\": null,\n  \"DataSourceRef\": null,\n  \"VolumeAttributesClassName\": null\n, volumeMode: Invalid value: \"Block\": field is immutable]"},
	})
	typ := kindtest.TypeOf(t, "persistentvolumeclaims")
	bound := func(body string) map[string]any {
		obj := kindtest.Create(t, typ, body)
		obj["status"] = map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": "1Gi"}, "currentVolumeAttributesClassName": "c"}
		return obj
	}
	assert.Empty(t, typ.Validate(bound(claim("2Gi", "")), bound(claim("1Gi", ""))))
	assert.Equal(t, "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity", typ.Validate(bound(claim("1Gi", "")), bound(claim("2Gi", ""))).Message())
	assert.Equal(t, "spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
		typ.Validate(bound(claim("1Gi", "")), bound(claim("1Gi", `,"volumeAttributesClassName":"c"`))).Message())
	kindtest.TestStatusValidation(t, "persistentvolumeclaims", []kindtest.ValidationRow{
		{"statuses", claim("1Gi", ""), `{"status":{"capacity":{"storage":"-1"},"allocatedResourceStatuses":{"storage":"Odd"},"allocatedResources":{"cpu":"1"}}}`,
			`[status.capacity[storage]: Invalid value: -1: must be a valid resource quantity, status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending", status.allocatedResources: Unsupported value: "cpu": supported values: "storage"]`},
	})
	assert.Equal(t, []string{`spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer`}, typ.WarningsOnWrite(kindtest.Decode(t, typ, claim("500m", "")), nil))
}
