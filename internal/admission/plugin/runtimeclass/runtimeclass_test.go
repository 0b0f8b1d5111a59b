package runtimeclass_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/runtimeclass"
)

func TestPods(t *testing.T) {
	class := []string{`{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"r"},"handler":"h",` +
		`"overhead":{"podFixed":{"cpu":"100m"}},"scheduling":{"nodeSelector":{"os":"x"},"tolerations":[{"key":"a","operator":"Exists"}]}}`}
	pod := func(spec string) string {
		return `{"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
	}
	admissiontest.Run(t, runtimeclass.Plugin{}, []admissiontest.Request{
		{Name: "overhead", Resource: "pods", Objects: class, Object: pod(`"runtimeClassName":"r"`), Path: "spec.overhead", Want: `{"cpu":"100m"}`},
		{Name: "node selector", Resource: "pods", Objects: class, Object: pod(`"runtimeClassName":"r","nodeSelector":{"a":"b"}`), Path: "spec.nodeSelector", Want: `{"a":"b","os":"x"}`},
		{Name: "tolerations", Resource: "pods", Objects: class, Object: pod(`"runtimeClassName":"r","tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule"},{"operator":"Exists","effect":"NoExecute"}]`), Path: "spec.tolerations", Want: `[{"operator":"Exists","effect":"NoExecute"},{"key":"a","operator":"Exists"}]`},
		{Name: "conflicting node selector", Resource: "pods", Objects: class, Object: pod(`"runtimeClassName":"r","nodeSelector":{"os":"y"}`), Error: "conflict: runtimeClass.scheduling.nodeSelector[os] = x; pod.spec.nodeSelector[os] = y"},
		{Name: "other overhead", Resource: "pods", Objects: class, Object: pod(`"runtimeClassName":"r","overhead":{"cpu":"1"}`), Error: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
		{Name: "overhead without a class", Resource: "pods", Object: pod(`"overhead":{"cpu":"1"}`), Error: "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
		{Name: "unknown class", Resource: "pods", Object: pod(`"runtimeClassName":"r"`), Error: `pod rejected: RuntimeClass "r" not found`},
		{Name: "update", Resource: "pods", Objects: class, Object: pod(`"runtimeClassName":"r"`), Old: pod(`"runtimeClassName":"r"`), Path: "spec.overhead"},
	})
}
