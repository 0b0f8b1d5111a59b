package nodedeclaredfeaturevalidator_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestDevices(t *testing.T) {
	node := func(name, feature string) string {
		return `{"kind":"Node","apiVersion":"v1","metadata":{"name":"` + name + `","labels":{"has":"` + feature + `"}},"status":{"declaredFeatures":["` + feature + `"]}}`
	}
	const (
		feature  = "DRANodeAllocatableResources"
		selector = `"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"has","operator":"In","values":["` + feature + `"]}]}]}`
		refused  = `node "old" does not support ` + feature + ` feature`
	)
	slice := func(spec, device string) string {
		return `{"metadata":{"name":"s"},"spec":{"driver":"d.example.com",` + spec + `,"devices":[{"name":"a"},{"name":"b"` + device + `,"nodeAllocatableResources":{"cpu":{}}}]}}`
	}
	for _, tt := range []struct{ name, object, want string }{
		{"node", slice(`"nodeName":"new"`, ""), ""},
		{"node without the feature", slice(`"nodeName":"old"`, ""), refused},
		{"unknown node", slice(`"nodeName":"none"`, ""), `node "none" not found for device "b"`},
		{"all nodes", slice(`"allNodes":true`, ""), refused},
		{"some nodes", slice(selector, ""), ""},
		{"no nodes", slice(`"allNodes":false`, ""), `device "b" in ResourceSlice has NodeAllocatableResources but does not map to any nodes`},
		{"of the device", slice(`"nodeName":"new","perDeviceNodeSelection":true`, `,"nodeName":"old"`), refused},
		{"another device", `{"metadata":{"name":"s"},"spec":{"nodeName":"old","devices":[{"name":"a"}]}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []struct {
				minor   int
				enabled bool
				want    string
			}{{37, true, tt.want}, {37, false, ""}, {36, true, ""}} {
				a := (&admissiontest.Request{
					Resource: "resourceslices.resource.k8s.io", Object: `{}`, Objects: []string{node("new", feature), node("old", "")},
					Minor: r.minor, Gates: map[string]bool{feature: r.enabled, "NodeDeclaredFeatures": true},
				}).Attributes(t)
				require.NoError(t, json.Unmarshal([]byte(tt.object), &a.Object))
				if err := (nodedeclaredfeaturevalidator.Plugin{}).Validate(a); r.want != "" {
					assert.EqualError(t, err, r.want)
				} else {
					assert.NoError(t, err)
				}
			}
		})
	}
}
