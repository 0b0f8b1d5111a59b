package batch_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateJobStatus(t *testing.T) {
	condition := func(types ...string) string {
		list := `{"status":{"startTime":"2024-01-02T03:04:05Z","conditions":[`
		for i, typ := range types {
			if i > 0 {
				list += ","
			}
			list += `{"type":"` + typ + `","status":"True"}`
		}
		return list + `]}}`
	}
	const base = `{"spec":{"completions":4,"completionMode":"Indexed"},"status":{}}`
	kindtest.TestPatchedStatus(t, "jobs.batch", base, []kindtest.PatchRow{
		{"counters", `{"status":{"active":-1,"ready":1}}`, kindtest.Errors(
			`status.active: Invalid value: -1: must be greater than or equal to 0`, `status.ready: Invalid value: 1: cannot set more ready pods than active`)},
		{"no ready pods", `{"status":{"active":-1}}`, `status.active: Invalid value: -1: must be greater than or equal to 0`},
		{"uncounted", `{"status":{"uncountedTerminatedPods":{"succeeded":["a",""],"failed":["a"]}}}`, kindtest.Errors(
			`status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty`, `status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"`)},
		{"complete alone", condition("Complete"), kindtest.Errors(
			`status.completionTime: Required value: completionTime is required for Complete jobs`,
			`status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition`)},
		{"failed alone", condition("Failed"),
			`status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition`},
		{"failed and successful", condition("Failed", "FailureTarget", "SuccessCriteriaMet"), kindtest.Errors(
			`status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions`,
			`status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions`)},
		{"finished with pods", `{"status":{"active":1,"terminating":1,"uncountedTerminatedPods":{"failed":["a"]},"conditions":[{"type":"Failed","status":"True"},{"type":"FailureTarget","status":"True"}]}}`, kindtest.Errors(
			`status.active: Invalid value: 1: active>0 is invalid for finished job`,
			`status.startTime: Required value: startTime is required for finished job`,
			`status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job`,
			`status.terminating: Invalid value: 1: terminating>0 is invalid for finished job`)},
		{"times", `{"status":{"startTime":"2024-01-02T03:04:05Z","completionTime":"2024-01-01T00:00:00Z"}}`, kindtest.Errors(
			`status.completionTime: Invalid value: "2024-01-01T00:00:00Z": cannot set completionTime when there is no Complete=True condition`,
			"status.completionTime: Invalid value: \"2024-01-01T00:00:00Z\": must be equal to or after `startTime`")},
		{"indexes", `{"status":{"completedIndexes":"0,x","failedIndexes":"0"}}`, kindtest.Errors(
			`status.completedIndexes: Invalid value: "0,x": error parsing completedIndexes: cannot convert string to integer for index: "x"`,
			`status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null`,
			`status.failedIndexes: Invalid value: "0": failedIndexes and completedIndexes overlap at index: 0`)},
	})
	kindtest.TestPatchedStatus(t, "jobs.batch", `{"spec":{"completions":4},"status":{"failed":2,"succeeded":2,"startTime":"2024-01-02T03:04:05Z","completedIndexes":"bad",
		"conditions":[{"type":"FailureTarget","status":"True"}]}}`, []kindtest.PatchRow{
		{"decreased counters and removed conditions", `{"status":{"failed":1,"succeeded":1,"startTime":null,"conditions":[]}}`, kindtest.Errors(
			`status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition`,
			`status.failed: Invalid value: 1: cannot decrease the failed counter`,
			`status.succeeded: Invalid value: 1: cannot decrease the succeeded counter`,
			`status.startTime: Invalid value: null: field is immutable for unsuspended job once set`)},
		{"unchanged invalid indexes", `{"status":{"failed":3}}`, ""},
	})
}
