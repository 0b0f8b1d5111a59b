package scheduling_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultPriorityClass(t *testing.T) {
	kindtest.TestDefaults(t, "priorityclasses.scheduling.k8s.io", []kindtest.Row{
		{"default policy", `{}`, "preemptionPolicy", `"PreemptLowerPriority"`},
		{"explicit policy", `{"preemptionPolicy":"Never"}`, "preemptionPolicy", `"Never"`},
	})
}

func TestValidatePriorityClass(t *testing.T) {
	const name = "priorityclasses.scheduling.k8s.io"
	const reserved = `metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: `
	kindtest.TestPatched(t, name, `{"metadata":{"name":"a"},"value":1}`, []kindtest.PatchRow{
		{"value", `{"value":1000000001}`, `value: Forbidden: maximum allowed value of a user defined priority is 1000000000`},
		{"policy", `{"preemptionPolicy":"X"}`, `preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"`},
		{"reserved name", `{"metadata":{"name":"system-x"}}`, reserved + `system-x is not a known system priority class`},
		{"system's value", `{"metadata":{"name":"system-node-critical"}}`, reserved + `value of system-node-critical PriorityClass must be 2000001000`},
		{"system's default", `{"metadata":{"name":"system-node-critical"},"value":2000001000,"globalDefault":true}`,
			reserved + `globalDefault of system-node-critical PriorityClass must be false`},
		{"valid reserved class", `{"metadata":{"name":"system-node-critical"},"value":2000001000}`, ""},
	})
	kindtest.TestPatchedUpdates(t, name, `{"metadata":{"name":"a"},"value":1}`, []kindtest.PatchRow{
		{"value and policy", `{"value":2,"preemptionPolicy":"Never"}`, kindtest.Errors(
			`value: Forbidden: may not be changed in an update.`, `preemptionPolicy: Invalid value: "Never": field is immutable`)},
	})
}
