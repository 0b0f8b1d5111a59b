package podnodeselector_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
		{Name: "invalid label", Resource: "pods", Objects: namespace("a b=1"), Object: pod(""), Error: `<nil>: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{Name: "invalid value", Resource: "pods", Objects: namespace("a=1 2"), Object: pod(""), Error: `[a]: Invalid value: "1 2": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`},
		{Name: "update", Resource: "pods", Objects: namespace("a=1"), Object: pod(`"a":"2"`), Old: pod(""), Path: "spec.nodeSelector", Want: `{"a":"2"}`},
	})
}

func TestConfiguration(t *testing.T) {
	p := podnodeselector.Configure([]byte("podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: d=1\n  limited: a=1,d=1\n  wrong: a==1\n"))
	namespace := func(name, annotations string) []string {
		return []string{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"` + name + `","annotations":{` + annotations + `}}}`}
	}
	const empty = `"scheduler.alpha.kubernetes.io/node-selector":""`
	pod := func(namespace, selector string) string {
		return `{"metadata":{"namespace":"` + namespace + `"},"spec":{"nodeSelector":{` + selector + `}}}`
	}
	admissiontest.Run(t, p, []admissiontest.Request{
		{Name: "default", Resource: "pods", Objects: namespace("other", ""), Object: pod("other", `"c":"3"`), Path: "spec.nodeSelector", Want: `{"c":"3","d":"1"}`},
		{Name: "conflict with the default", Resource: "pods", Objects: namespace("other", ""), Object: pod("other", `"d":"3"`), Error: "pod node label selector conflicts with its namespace node label selector"},
		{Name: "annotation", Resource: "pods", Objects: namespace("other", empty), Object: pod("other", `"d":"3"`), Path: "spec.nodeSelector", Want: `{"d":"3"}`},
		{Name: "permitted", Resource: "pods", Objects: namespace("limited", ""), Object: pod("limited", `"a":"1"`), Path: "spec.nodeSelector", Want: `{"a":"1","d":"1"}`},
		{Name: "label that is not permitted", Resource: "pods", Objects: namespace("limited", ""), Object: pod("limited", `"b":"1"`), Error: "pod node label selector labels conflict with its namespace whitelist"},
		{Name: "value that is not permitted", Resource: "pods", Objects: namespace("limited", ""), Object: pod("limited", `"a":"2"`), Error: "pod node label selector labels conflict with its namespace whitelist"},
		{Name: "wrong list", Resource: "pods", Objects: namespace("wrong", ""), Object: pod("wrong", ``), Error: "invalid selector: [a  1]"},
	})
	assert.Equal(t, podnodeselector.Plugin{}, podnodeselector.Configure([]byte("text")))
}
