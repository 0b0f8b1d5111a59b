package podgroupworkloadexists_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podgroupworkloadexists"
)

func TestValidate(t *testing.T) {
	workload := func(meta string) []string {
		return []string{`{"kind":"Workload","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"name":"w","namespace":"n"` + meta + `},"spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}}`}
	}
	group := func(workload, template string) string {
		return `{"metadata":{"name":"g","namespace":"n"},"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"` + workload + `","podGroupTemplateName":"` + template + `"}}}}`
	}
	const groups = "podgroups.scheduling.k8s.io"
	admissiontest.Run(t, podgroupworkloadexists.Plugin{}, []admissiontest.Request{
		{Name: "no template", Resource: groups, Object: `{"metadata":{"name":"g"}}`},
		{Name: "template", Resource: groups, Objects: workload(""), Object: group("w", "t")},
		{Name: "no such Workload", Resource: groups, Objects: workload(""), Object: group("x", "t"), Error: `PodGroup rejected: Workload "x" not found`},
		{Name: "no such template", Resource: groups, Objects: workload(""), Object: group("w", "x"), Error: `PodGroup rejected: PodGroupTemplate "x" not found in Workload "w"`},
		{Name: "deleted Workload", Resource: groups, Objects: workload(`,"deletionTimestamp":"2024-01-02T03:04:05Z"`), Object: group("w", "t"), Error: `PodGroup rejected: Workload "w" is being deleted`},
		{Name: "update", Resource: groups, Object: group("x", "t"), Old: group("x", "t")},
	})
}
