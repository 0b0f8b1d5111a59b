package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/resource"
)

func TestDefaultStorage(t *testing.T) {
	testDefaults(t, "persistentvolumes", []row{
		{"reclaimed", `{"spec":{"capacity":{"storage":"1024Mi"},"rbd":{"image":"i"}}}`, "spec", `{"capacity":{"storage":"1Gi"},"persistentVolumeReclaimPolicy":"Retain","volumeMode":"Filesystem","rbd":{"image":"i","keyring":"/etc/ceph/keyring","monitors":null,"pool":"rbd","user":"admin"}}`},
	})
	testDefaults(t, "persistentvolumeclaims", []row{{"mode", `{}`, "spec.volumeMode", `"Filesystem"`}, {"block", `{"spec":{"volumeMode":"Block"}}`, "spec.volumeMode", `"Block"`}})
	testDefaults(t, "storageclasses.storage.k8s.io", []row{{"reclaims", `{}`, "reclaimPolicy", `"Delete"`}, {"binds", `{}`, "volumeBindingMode", `"Immediate"`}})
	testDefaults(t, "csidrivers.storage.k8s.io", []row{
		{"everything", `{"spec":{"attachRequired":false}}`, "spec", `{"attachRequired":false,"fsGroupPolicy":"ReadWriteOnceWithFSType","podInfoOnMount":false,"requiresRepublish":false,"seLinuxMount":false,"storageCapacity":false,"volumeLifecycleModes":["Persistent"]}`},
	})
	testDefaults(t, "volumeattachments.storage.k8s.io", []row{
		{"inline", `{"spec":{"source":{"inlineVolumeSpec":{"hostPath":{"path":"/"}}}}}`, "spec.source.inlineVolumeSpec.hostPath.type", `""`},
	})
}

func TestPrepareStorage(t *testing.T) {
	testCreates(t, "persistentvolumes", []row{
		{"status", `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending","lastPhaseTransitionTime":"2024-01-02T03:04:05Z"}`},
	})
	const source, claim = `{"apiGroup":"a.b","kind":"K","name":"n"}`, `{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"n"}`
	testCreates(t, "persistentvolumeclaims", []row{
		{"status", `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending"}`},
		{"a source", `{"spec":{"dataSource":` + claim + `}}`, "spec.dataSourceRef", claim},
		{"a source that claims never had", `{"spec":{"dataSource":` + source + `}}`, "spec.dataSource", ``},
		{"a reference", `{"spec":{"dataSourceRef":` + source + `}}`, "spec.dataSource", source},
		{"a reference to another namespace", `{"spec":{"dataSourceRef":{"kind":"K","name":"n","namespace":"x"}}}`, "spec.dataSourceRef", ``},
	})
	testUpdates(t, "persistentvolumeclaims", []change{
		{"no new protection", `{}`, `{}`, "metadata.finalizers", ``},
		{"status", `{}`, `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending"}`},
	})
	testCreates(t, "csidrivers.storage.k8s.io", []row{
		{"generation", `{}`, "metadata.generation", ``},
		{"a disabled member", `{"spec":{"preventPodSchedulingIfMissing":true}}`, "spec.preventPodSchedulingIfMissing", ``},
	})
	testUpdates(t, "csidrivers.storage.k8s.io", []change{
		{"no change", `{}`, `{}`, "metadata.generation", ``},
		{"change", `{}`, `{"spec":{"podInfoOnMount":true}}`, "metadata.generation", `1`},
	})
}

func TestPhaseOfVolumeIsDated(t *testing.T) {
	typ := typeOf(t, "persistentvolumes")
	old := created(t, typ, `{}`)
	for _, row := range []struct{ name, status, want string }{
		{"same phase", `{"phase":"Pending"}`, "2024-01-02T03:04:05Z"},
		{"new phase", `{"phase":"Bound"}`, "2024-01-02T03:04:06Z"},
		{"new phase with the old date", `{"phase":"Bound","lastPhaseTransitionTime":"2024-01-02T03:04:05Z"}`, "2024-01-02T03:04:06Z"},
		{"new phase and date", `{"phase":"Bound","lastPhaseTransitionTime":"2024-01-02T03:04:09Z"}`, "2024-01-02T03:04:09Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := decoded(t, typ, `{"status":`+row.status+`}`)
			typ.PrepareStatus(obj, old)
			typ.Stamp(obj, old, resource.Author{Now: "2024-01-02T03:04:06Z"})
			assert.Equal(t, row.want, at(obj, "status.lastPhaseTransitionTime"))
		})
	}
}
