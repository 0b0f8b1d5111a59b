package podresizevalidator_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podresizevalidator"
	"github.com/kubefake/kubefake/internal/status"
)

func nodes() []string {
	return []string{
		`{"kind":"Node","apiVersion":"v1","metadata":{"name":"small","labels":{"kubernetes.io/os":"linux"}},"status":{"allocatable":{"cpu":"2","memory":"1Gi"}}}`,
		`{"kind":"Node","apiVersion":"v1","metadata":{"name":"win","labels":{"kubernetes.io/os":"windows"}},"status":{"allocatable":{"cpu":"64","memory":"1Ti"}}}`,
		`{"kind":"Node","apiVersion":"v1","metadata":{"name":"empty"}}`,
	}
}

// pod returns a pod of a generation with a container that has the requests.
func pod(generation, node, requests, more string) string {
	return `{"metadata":{"name":"p","namespace":"n","generation":` + generation + `},"spec":{"nodeName":"` + node + `"` + more +
		`,"containers":[{"name":"c","image":"i","resources":{"requests":` + requests + `}}]}}`
}

func TestResize(t *testing.T) {
	resize := func(name, object, err string) admissiontest.Request {
		return admissiontest.Request{Name: name, Resource: "pods", Subresource: "resize", Objects: nodes(), Old: pod("1", "small", `{"cpu":"1"}`, ""), Object: object, Error: err}
	}
	const forbidden = `pods "p" is forbidden: `
	admissiontest.Run(t, podresizevalidator.Plugin{}, []admissiontest.Request{
		resize("as much as the node has", pod("2", "small", `{"cpu":"2","memory":"1Gi"}`, ""), ""),
		resize("same generation", pod("1", "small", `{"cpu":"3"}`, ""), ""),
		resize("not bound", pod("2", "", `{"cpu":"3"}`, ""), ""),
		resize("too much of both", pod("2", "small", `{"cpu":"2001m","memory":"2Gi"}`, ""),
			forbidden+"node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824"),
		resize("overhead", pod("2", "small", `{"cpu":"2"}`, `,"overhead":{"cpu":"1m"}`),
			forbidden+"node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000"),
		resize("resources of the pod", pod("2", "small", `{"cpu":"1"}`, `,"resources":{"requests":{"cpu":"3"}}`),
			forbidden+"node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000"),
		resize("nothing allocatable", pod("2", "empty", `{"cpu":"1"}`, ""),
			forbidden+"node didn't have enough allocatable resources: cpu, requested: 1000, allocatable: 0"),
		resize("Windows", pod("2", "win", `{"cpu":"1"}`, ""), forbidden+`pod resize is only supported on linux nodes, node "win" is "windows"`),
		resize("no node", pod("2", "gone", `{"cpu":"1"}`, ""), `node "gone" not found`),
		{Name: "other subresource", Resource: "pods", Subresource: "status", Objects: nodes(), Old: pod("1", "small", `{"cpu":"1"}`, ""), Object: pod("2", "small", `{"cpu":"3"}`, "")},
	})
}

func TestCause(t *testing.T) {
	for node, want := range map[string]string{"small": "NodeCapacity", "win": "UnsupportedPlatform"} {
		r := admissiontest.Request{Resource: "pods", Subresource: "resize", Objects: nodes(), Old: pod("1", node, `{"cpu":"1"}`, ""), Object: pod("2", node, `{"cpu":"3"}`, "")}
		var st *status.Status
		require.True(t, errors.As(podresizevalidator.Plugin{}.Validate(r.Attributes(t)), &st))
		assert.Equal(t, []status.Cause{{Reason: want}}, st.Details.Causes)
	}
}
