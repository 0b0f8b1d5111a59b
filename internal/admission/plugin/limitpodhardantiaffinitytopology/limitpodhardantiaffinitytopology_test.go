package limitpodhardantiaffinitytopology_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/limitpodhardantiaffinitytopology"
)

func TestPlugin(t *testing.T) {
	pod := func(key string) string {
		return `{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"` + key + `"}]}}}}`
	}
	admissiontest.Run(t, limitpodhardantiaffinitytopology.Plugin{}, []admissiontest.Request{
		{Name: "hostname", Resource: "pods", Object: pod("kubernetes.io/hostname")},
		{Name: "zone", Resource: "pods", Object: pod("zone"), Error: "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed"},
		{Name: "no affinity", Resource: "pods", Object: `{}`},
		{Name: "status", Resource: "pods", Subresource: "status", Object: pod("zone"), Old: pod("zone")},
	})
}
