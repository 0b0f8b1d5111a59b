package podnodeselector_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podnodeselector"
)

func TestPlugin(t *testing.T) {
	namespace := func(selector string) []string {
		return []string{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","annotations":{"scheduler.alpha.kubernetes.io/node-selector":"` + selector + `"}}}`}
	}
	pod := func(selector string) string {
		return `{"metadata":{"namespace":"n"},"spec":{"nodeSelector":{` + selector + `}}}`
	}
	admissiontest.Run(t, podnodeselector.Plugin{}, []admissiontest.Request{
		{Name: "added", Resource: "pods", Objects: namespace("a=1, b=2"), Object: pod(`"c":"3"`), Path: "spec.nodeSelector", Want: `{"a":"1","b":"2","c":"3"}`},
		{Name: "same", Resource: "pods", Objects: namespace("a=1"), Object: pod(`"a":"1"`), Path: "spec.nodeSelector", Want: `{"a":"1"}`},
		{Name: "conflict", Resource: "pods", Objects: namespace("a=1"), Object: pod(`"a":"2"`), Error: "pod node label selector conflicts with its namespace node label selector"},
		{Name: "invalid selector", Resource: "pods", Objects: namespace("a==1"), Object: pod(""), Error: "invalid selector: [a  1]"},
		{Name: "update", Resource: "pods", Objects: namespace("a=1"), Object: pod(`"a":"2"`), Old: pod(""), Path: "spec.nodeSelector", Want: `{"a":"2"}`},
	})
}
