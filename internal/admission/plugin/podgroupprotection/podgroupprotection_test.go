package podgroupprotection_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podgroupprotection"
)

func TestFinalizer(t *testing.T) {
	const finalizer = `["scheduling.k8s.io/podgroup-protection"]`
	admissiontest.Run(t, podgroupprotection.Plugin{}, []admissiontest.Request{
		{Name: "new", Resource: "podgroups.scheduling.k8s.io", Object: `{}`, Path: "metadata.finalizers", Want: finalizer},
		{Name: "with the finalizer", Resource: "podgroups.scheduling.k8s.io", Object: `{"metadata":{"finalizers":` + finalizer + `}}`, Path: "metadata.finalizers", Want: finalizer},
		{Name: "update", Resource: "podgroups.scheduling.k8s.io", Object: `{}`, Old: `{}`, Path: "metadata.finalizers"},
	})
}
