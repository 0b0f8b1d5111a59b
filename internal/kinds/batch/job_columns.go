package batch

import (
	"strconv"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/table"
)

// jobCells returns the cells of a Job.
func jobCells(r table.Row) []any {
	containers, images := r.Containers("spec", "template", "spec")
	return []any{r.Name(), statusText(r), completions(r), jobDuration(r), r.Age(), containers, images, r.SelectorCell("spec", "selector")}
}

// statusText returns the first status that applies to a job.
func statusText(r table.Row) string {
	for _, s := range []struct{ condition, word string }{
		{"Complete", "Complete"}, {"Failed", "Failed"}, {"", "Terminating"},
		{"Suspended", "Suspended"}, {"FailureTarget", "FailureTarget"}, {"SuccessCriteriaMet", "SuccessCriteriaMet"},
	} {
		if s.condition == "SuccessCriteriaMet" && r.Before(behavior.JobSuccessStatus) {
			continue
		}
		if s.condition == "" && r.Deleted() || s.condition != "" && r.HasCondition(s.condition) {
			return s.word
		}
	}
	return "Running"
}

// completions returns how many pods have succeeded, of how many.
func completions(r table.Row) string {
	done := r.Int("status", "succeeded")
	if r.Has("spec", "completions") {
		return table.Fraction(done, r.Int("spec", "completions"))
	}
	text := table.Fraction(done, 1)
	if p := r.Int("spec", "parallelism"); p > 1 {
		text += " of " + strconv.FormatInt(p, 10)
	}
	return text
}

// jobDuration returns how long the job has run, or "" if it has not started.
func jobDuration(r table.Row) string {
	if !r.Has("status", "startTime") {
		return ""
	}
	end := r.Now
	if r.Has("status", "completionTime") {
		end = table.ParseTime(r.String("status", "completionTime"))
	}
	return table.Duration(end.Sub(table.ParseTime(r.String("status", "startTime"))))
}
