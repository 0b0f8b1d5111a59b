package kinds

import "testing"

func TestDefaultAutoscaler(t *testing.T) {
	const percent, pods = `{"type":"Percent","value":100,"periodSeconds":15}`, `{"type":"Pods","value":4,"periodSeconds":15}`
	testDefaults(t, "horizontalpodautoscalers.autoscaling", []row{
		{"replicas", `{}`, "spec.minReplicas", `1`},
		{"metrics", `{}`, "spec.metrics", `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{"no behavior", `{}`, "spec.behavior", ``},
		{"behavior", `{"spec":{"behavior":{}}}`, "spec.behavior", `{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[` + pods + `,` + percent + `]},"scaleDown":{"selectPolicy":"Max","policies":[` + percent + `]}}`},
		{"behavior in part", `{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":5,"policies":[` + pods + `]}}}}`, "spec.behavior.scaleUp", `{"stabilizationWindowSeconds":5,"selectPolicy":"Max","policies":[` + pods + `]}`},
		{"annotations of version 1", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[]","k":"v"}}}`, "metadata.annotations", `{"k":"v"}`},
	})
}
