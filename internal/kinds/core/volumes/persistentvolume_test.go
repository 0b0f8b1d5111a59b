package volumes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestDefaultPersistentVolumes(t *testing.T) {
	kindtest.TestDefaults(t, "persistentvolumes", []kindtest.Row{
		{"reclaim policy", `{"spec":{"capacity":{"storage":"1024Mi"},"rbd":{"image":"i"}}}`, "spec", `{"capacity":{"storage":"1Gi"},"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem","rbd":{"image":"i","keyring":"/etc/ceph/keyring","monitors":null,"pool":"rbd","user":"admin"}}`},
	})
}

func TestPreparePersistentVolumes(t *testing.T) {
	kindtest.TestCreates(t, "persistentvolumes", []kindtest.Row{
		{"status is reset", `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending","lastPhaseTransitionTime":"2024-01-02T03:04:05Z"}`},
	})
}

func TestLastPhaseTransitionTime(t *testing.T) {
	typ := kindtest.TypeOf(t, "persistentvolumes")
	old := kindtest.Create(t, typ, `{}`)
	for _, row := range []struct{ name, status, want string }{
		{"same phase", `{"phase":"Pending"}`, "2024-01-02T03:04:05Z"},
		{"new phase", `{"phase":"Bound"}`, "2024-01-02T03:04:06Z"},
		{"new phase with the old time", `{"phase":"Bound","lastPhaseTransitionTime":"2024-01-02T03:04:05Z"}`, "2024-01-02T03:04:06Z"},
		{"new phase and time", `{"phase":"Bound","lastPhaseTransitionTime":"2024-01-02T03:04:09Z"}`, "2024-01-02T03:04:09Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := kindtest.Decode(t, typ, `{"status":`+row.status+`}`)
			typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
			typ.PrepareWithAuthor(obj, object.ViewOf(old), resource.Author{Now: "2024-01-02T03:04:06Z"})
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
		{"negative capacity", "", `{"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"-1"},` + nfs + `}}`, `[spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity, spec.capacity[storage]: Invalid value: "-1": must be greater than zero]`},
		{"invalid modes", "", `{"spec":{"accessModes":["ReadWriteOncePod","ReadWriteMany"],"capacity":{"storage":"1"},"volumeMode":"Odd","persistentVolumeReclaimPolicy":"Odd",` + nfs + `}}`,
			`[spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes, spec.persistentVolumeReclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Recycle", "Retain", spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"]`},
		{"local without node affinity", "", volume(`"local":{"path":"../a"}`), "[spec.local.path: Invalid value: \"../a\": must not contain '..', spec.nodeAffinity: Required value: Local volume requires node affinity]"},
		{"hostPath / with policy Recycle", "", volume(`"hostPath":{"path":"/"},"persistentVolumeReclaimPolicy":"Recycle"`), "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"},
		{"iscsi", "", volume(`"iscsi":{"targetPortal":"` + strings.Repeat("p", 64) + `","iqn":"x","lun":256,"initiatorName":"y","chapAuthSession":true}`),
			`[spec.iscsi.targetportal: Invalid value: "` + strings.Repeat("p", 64) + `": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified., spec.iscsi.iqn: Invalid value: "x": must be valid format, spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive, spec.iscsi.secretRef: Required value, spec.iscsi.initiatorname: Invalid value: "y": must be valid format]`},
		{"csi", "", volume(`"csi":{"driver":"","volumeHandle":"","nodePublishSecretRef":{"name":"a"}},"volumeAttributesClassName":""`), "[spec.csi.driver: Required value, spec.csi.volumeHandle: Required value, spec.csi.nodePublishSecretRef.namespace: Required value, spec.volumeAttributesClassName: Required value: an empty string is disallowed]"},
		{"glusterfs", "", volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":""}`), `spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name`},
		{"cinder", "", volume(`"cinder":{"volumeID":"v","secretRef":{"name":"a"}}`), "spec.cinder.secretRef.namespace: Required value"},
		{"mount options", "", `{"metadata":{"name":"a","annotations":{"volume.beta.kubernetes.io/mount-options":"x"}},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/a"}}}`, "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type"},
		{"empty node affinity", "", volume(nfs + `,"nodeAffinity":{}`), "spec.nodeAffinity.required: Required value: must specify required node constraints"},
		{"changed volumeMode", volume(nfs), volume(nfs + `,"volumeMode":"Block"`), `volumeMode: Invalid value: "Block": field is immutable`},
		{"added controllerExpandSecretRef", volume(`"csi":{"driver":"d","volumeHandle":"h"}`), volume(`"csi":{"driver":"d","volumeHandle":"h","controllerExpandSecretRef":{"name":"a","namespace":"b"}}`), ""},
		{"GA name of a beta node label", volume(nfs + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"beta.kubernetes.io/os","operator":"Exists"}]}]}}`), volume(nfs + `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/os","operator":"Exists"}]}]}}`), ""},
		{"removed volumeAttributesClassName", volume(`"csi":{"driver":"d","volumeHandle":"h"},"volumeAttributesClassName":"a"`), volume(`"csi":{"driver":"d","volumeHandle":"h"}`), "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"},
	})
	typ := kindtest.TypeOf(t, "persistentvolumes")
	old := kindtest.Create(t, typ, volume(nfs))
	assert.Contains(t, typ.Validate(kindtest.Create(t, typ, volume(`"nfs":{"server":"t","path":"/"}`)), object.ViewOf(old)).Message(), "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@")
	assert.Equal(t, []string{"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.", "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"},
		typ.WarningsOnWrite(kindtest.Decode(t, typ, volume(`"storageos":{},"persistentVolumeReclaimPolicy":"Recycle"`)), object.View{}))
}
