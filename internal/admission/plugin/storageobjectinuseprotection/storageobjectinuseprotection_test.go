package storageobjectinuseprotection_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/storageobjectinuseprotection"
)

func TestFinalizers(t *testing.T) {
	admissiontest.Run(t, storageobjectinuseprotection.Plugin{}, []admissiontest.Request{
		{Name: "volume with a finalizer", Resource: "persistentvolumes", Object: `{"metadata":{"finalizers":["a.b/c"]}}`, Path: "metadata.finalizers", Want: `["a.b/c","kubernetes.io/pv-protection"]`},
		{Name: "claim with the finalizer", Resource: "persistentvolumeclaims", Object: `{"metadata":{"finalizers":["kubernetes.io/pvc-protection"]}}`, Path: "metadata.finalizers", Want: `["kubernetes.io/pvc-protection"]`},
		{Name: "claim", Resource: "persistentvolumeclaims", Object: `{}`, Path: "metadata.finalizers", Want: `["kubernetes.io/pvc-protection"]`},
		{Name: "class", Resource: "volumeattributesclasses.storage.k8s.io", Object: `{}`, Path: "metadata.finalizers", Want: `["kubernetes.io/vac-protection"]`},
		{Name: "class without its gate", Resource: "volumeattributesclasses.storage.k8s.io", Gates: map[string]bool{"VolumeAttributesClass": false}, Minor: 33, Object: `{}`, Path: "metadata.finalizers"},
		{Name: "class in v1.32", Resource: "volumeattributesclasses.storage.k8s.io", Gates: map[string]bool{"VolumeAttributesClass": true}, Minor: 32, Object: `{}`, Path: "metadata.finalizers"},
		{Name: "update", Resource: "persistentvolumeclaims", Object: `{}`, Old: `{}`, Path: "metadata.finalizers"},
	})
}
