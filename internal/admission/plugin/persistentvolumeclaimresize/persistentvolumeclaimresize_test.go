package persistentvolumeclaimresize_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/persistentvolumeclaimresize"
)

func TestClaims(t *testing.T) {
	classes := []string{
		`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"yes"},"allowVolumeExpansion":true}`,
		`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"no"}}`,
	}
	claim := func(class, storage, phase string) string {
		return `{"metadata":{"name":"c","namespace":"n"},"spec":{"resources":{"requests":{"storage":"` + storage + `"}},"storageClassName":"` + class + `"},"status":{"phase":"` + phase + `"}}`
	}
	const notSupported = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
	for _, r := range []struct{ name, class, phase, storage, err string }{
		{"resize", "yes", "Bound", "2Gi", ""},
		{"same storage", "no", "Pending", "1Gi", ""},
		{"not bound", "yes", "Pending", "2Gi", "Only bound persistent volume claims can be expanded"},
		{"class without expansion", "no", "Bound", "2Gi", notSupported},
		{"no class", "", "Bound", "2Gi", notSupported},
	} {
		admissiontest.Run(t, persistentvolumeclaimresize.Plugin{}, []admissiontest.Request{
			{Name: r.name, Resource: "persistentvolumeclaims", Objects: classes, Object: claim(r.class, r.storage, r.phase), Old: claim(r.class, "1Gi", r.phase), Error: r.err},
		})
	}
}
