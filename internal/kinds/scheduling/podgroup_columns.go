package scheduling

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// podGroupCells returns the cells of a PodGroup.
func podGroupCells(r table.Row) []any {
	return []any{r.Name(), policyOf(r), workloadOf(r), groupStatus(r, "PodGroupInitiallyScheduled"), r.Age()}
}

// compositePodGroupCells returns the cells of a CompositePodGroup.
func compositePodGroupCells(r table.Row) []any {
	return []any{r.Name(), policyOf(r), workloadOf(r), r.Age()}
}

// alpha2PodGroupCells returns the cells of a PodGroup of v1alpha2.
func alpha2PodGroupCells(r table.Row) []any {
	workload := table.None
	if r.Has("spec", "podGroupTemplateRef") {
		workload = r.String("spec", "podGroupTemplateRef", "workload", "workloadName")
	}
	return []any{r.Name(), policyOf(r), workload, groupStatus(r, "PodGroupScheduled"), r.Age()}
}

func policyOf(r table.Row) string {
	if r.Has("spec", "schedulingPolicy", "gang") {
		return "Gang"
	}
	return "Basic"
}

func workloadOf(r table.Row) string {
	if r.Has("spec", "workloadRef") {
		return r.String("spec", "workloadRef", "workloadName")
	}
	return table.None
}

// groupStatus returns the status that the conditions of a PodGroup stand for. scheduled is
// the type of the condition of the scheduler.
func groupStatus(r table.Row, scheduled string) string {
	status := "Pending"
	if c := r.Condition(scheduled); c != nil {
		status = "Unschedulable"
		if object.String(c, "status") == "True" {
			status = "Scheduled"
		}
	}
	if c := r.Condition("DisruptionTarget"); c != nil {
		status = object.String(c, "reason")
	}
	return status
}
