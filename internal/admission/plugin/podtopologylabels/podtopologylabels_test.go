package podtopologylabels_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtopologylabels"
)

func TestPods(t *testing.T) {
	node := []string{`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z","other":"o"}}}`}
	const pod = `{"metadata":{"name":"p","labels":{"a":"1"}},"spec":{"nodeName":"n1"}}`
	admissiontest.Run(t, podtopologylabels.Plugin{}, []admissiontest.Request{
		{Name: "labels of the node", Resource: "pods", Objects: node, Object: pod, Path: "metadata.labels", Want: `{"a":"1","topology.kubernetes.io/zone":"z"}`},
		{Name: "unknown node", Resource: "pods", Object: pod, Path: "metadata.labels", Want: `{"a":"1"}`},
		{Name: "no node", Resource: "pods", Objects: node, Object: `{}`, Path: "metadata.labels"},
	})
}
