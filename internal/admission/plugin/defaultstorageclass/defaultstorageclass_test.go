package defaultstorageclass_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultstorageclass"
)

func TestClaims(t *testing.T) {
	class := func(name, created string) string {
		return `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"` + name + `","creationTimestamp":"` + created + `","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}}`
	}
	classes := []string{class("a", "2024-01-01T00:00:00Z"), class("b", "2024-01-02T00:00:00Z"), class("c", "2024-01-02T00:00:00Z")}
	admissiontest.Run(t, defaultstorageclass.Plugin{}, []admissiontest.Request{
		{Name: "newest default class", Resource: "persistentvolumeclaims", Objects: classes, Object: `{}`, Path: "spec.storageClassName", Want: `"b"`},
		{Name: "empty class", Resource: "persistentvolumeclaims", Objects: classes, Object: `{"spec":{"storageClassName":""}}`, Path: "spec.storageClassName", Want: `""`},
		{Name: "class in the annotation", Resource: "persistentvolumeclaims", Objects: classes, Object: `{"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"x"}}}`, Path: "spec.storageClassName"},
		{Name: "no default class", Resource: "persistentvolumeclaims", Object: `{}`, Path: "spec.storageClassName"},
		{Name: "update", Resource: "persistentvolumeclaims", Objects: classes, Object: `{}`, Old: `{}`, Path: "spec.storageClassName"},
	})
}
