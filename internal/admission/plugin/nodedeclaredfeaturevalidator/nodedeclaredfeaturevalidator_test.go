package nodedeclaredfeaturevalidator_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/nodedeclaredfeaturevalidator"
)

func TestUpdate(t *testing.T) {
	const (
		podLevel = "InPlacePodLevelResourcesVerticalScaling"
		inits    = "InPlacePodVerticalScalingInitContainers"
		volumes  = "InPlacePodVerticalScalingMemoryBackedVolumes"
	)
	pod := func(generation, podCPU, initCPU, policy string) string {
		return `{"metadata":{"name":"p","namespace":"n","generation":` + generation + `},"spec":{"nodeName":"node",` +
			`"resources":{"requests":{"cpu":"` + podCPU + `"}},"initContainers":[{"name":"i","image":"i"` + policy + `,"resources":{"requests":{"cpu":"` + initCPU + `"}}}],` +
			`"containers":[{"name":"c","image":"i"}]}}`
	}
	volume := func(generation, emptyDir string) string {
		return `{"metadata":{"name":"p","namespace":"n","generation":` + generation + `},"spec":{"nodeName":"node","containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","emptyDir":{` + emptyDir + `}}]}}`
	}
	limited := volume("1", `"medium":"Memory","sizeLimit":"1Mi"`)
	node := func(features string) []string {
		return []string{`{"kind":"Node","apiVersion":"v1","metadata":{"name":"node"},"status":{"declaredFeatures":[` + features + `]}}`}
	}
	missing := func(features string) string {
		return "pod update requires features " + features + ` which are not available on node "node"`
	}
	was := pod("1", "1", "1", "")
	admissiontest.Run(t, nodedeclaredfeaturevalidator.Plugin{}, []admissiontest.Request{
		{Name: "pod-level resources", Resource: "pods", Subresource: "resize", Objects: node(""), Old: was, Object: pod("2", "2", "1", ""), Error: missing(podLevel)},
		{Name: "init container", Resource: "pods", Subresource: "resize", Objects: node(`"` + podLevel + `"`), Old: was, Object: pod("2", "2", "2", ""), Error: missing(inits)},
		{Name: "both", Resource: "pods", Subresource: "resize", Objects: node(`"Other"`), Old: was, Object: pod("2", "2", "2", ""), Error: missing(podLevel + ", " + inits)},
		{Name: "declared", Resource: "pods", Subresource: "resize", Objects: node(`"` + inits + `","` + podLevel + `"`), Old: was, Object: pod("2", "2", "2", "")},
		{Name: "sidecar", Resource: "pods", Subresource: "resize", Objects: node(""), Old: pod("1", "1", "1", `,"restartPolicy":"Always"`), Object: pod("2", "1", "2", `,"restartPolicy":"Always"`)},
		{Name: "volume in memory", Resource: "pods", Subresource: "resize", Objects: node(""), Old: limited, Object: volume("2", `"medium":"Memory","sizeLimit":"2Mi"`), Error: missing(volumes)},
		{Name: "volume in memory of a node that can", Resource: "pods", Subresource: "resize", Objects: node(`"` + volumes + `"`), Old: limited, Object: volume("2", `"medium":"Memory","sizeLimit":"2Mi"`)},
		{Name: "volume on disk", Resource: "pods", Subresource: "resize", Objects: node(""), Old: volume("1", `"sizeLimit":"1Mi"`), Object: volume("2", `"sizeLimit":"2Mi"`)},
		{Name: "limit removed", Resource: "pods", Subresource: "resize", Objects: node(""), Old: limited, Object: volume("2", `"medium":"Memory"`)},
		{Name: "volume removed", Resource: "pods", Subresource: "resize", Objects: node(""), Old: limited, Object: pod("2", "1", "1", ""), Error: missing(podLevel)},
		{Name: "no node", Resource: "pods", Old: was, Object: pod("2", "2", "1", ""), Error: `node "node" not found`},
		{Name: "same generation", Resource: "pods", Old: was, Object: pod("1", "2", "1", "")},
		{Name: "status", Resource: "pods", Subresource: "status", Old: was, Object: pod("2", "2", "1", "")},
		{Name: "gate is off", Resource: "pods", Minor: 35, Gates: map[string]bool{"NodeDeclaredFeatures": false}, Old: was, Object: pod("2", "2", "1", "")},
	})
}
