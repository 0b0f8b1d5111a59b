package kinds

import "testing"

func TestDefaultPriorityClass(t *testing.T) {
	testDefaults(t, "priorityclasses.scheduling.k8s.io", []row{
		{"preempts", `{}`, "preemptionPolicy", `"PreemptLowerPriority"`},
		{"does not", `{"preemptionPolicy":"Never"}`, "preemptionPolicy", `"Never"`},
	})
}
