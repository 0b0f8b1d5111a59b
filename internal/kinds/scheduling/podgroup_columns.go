package scheduling

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// podGroupCells returns the cells of a PodGroup.
func podGroupCells(r table.Row) []any {
	policy, status := "Basic", "Pending"
	if r.Has("spec", "schedulingPolicy", "gang") {
		policy = "Gang"
	}
	if c := r.Condition("PodGroupScheduled"); c != nil {
		status = "Unschedulable"
		if object.String(c, "status") == "True" {
			status = "Scheduled"
		}
	}
	if c := r.Condition("DisruptionTarget"); c != nil {
		status = object.String(c, "reason")
	}
	workload := table.None
	if r.Has("spec", "podGroupTemplateRef") {
		workload = r.String("spec", "podGroupTemplateRef", "workload", "workloadName")
	}
	return []any{r.Name(), policy, workload, status, r.Age()}
}
